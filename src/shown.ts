/** A value that does not fit, as an error shows it: short, and with its article. */

/** Characters of a text that are shown. */
const shownCharacters = 60;

/** `undefined`, `null`, `5`, `"text"`, `a list`, `an object`, `a function` … */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, shownCharacters));
  if (value === null || ["undefined", "number", "boolean"].includes(typeof value)) return String(value);
  if (Array.isArray(value)) return "a list";
  if (value instanceof Promise) return "a promise: await it first";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
