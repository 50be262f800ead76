/** Warnings of the process, for faults that nothing else would show to a person. */

const given = new Set<string>();
const about = new WeakMap<object, Set<string>>();
const mostGiven = 10_000;

/** Emits a warning with a code, once for each key: a text, or the object that the warning is about, by its codes. */
export function warnOnce(key: string | object, code: string, message: string): void {
  if (typeof key === "string") {
    if (given.has(key)) return;
    if (given.size >= mostGiven) given.clear();
    given.add(key);
  } else {
    const codes = about.get(key) ?? new Set();
    if (codes.has(code)) return;
    about.set(key, codes.add(code));
  }
  process.emitWarning(message, { type: "WindrowWarning", code });
}
