/** Loose reading of JSON for the fake upstream: whatever is missing reads as empty. */
import { createHash } from "node:crypto";

export type Json = Readonly<Record<string, unknown>>;

export const object = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};

export const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(object) : []);

export const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** A value in one form: keys sorted, marks of the cache left out. Two values with equal texts are the same to a provider. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value as Json)
    .filter(([name, member]) => name !== "cache_control" && member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

export const hash = (value: string): string => createHash("sha256").update(value).digest("hex");

/** The estimate of tokens that the fake uses throughout. */
export const tokensOf = (bytes: number): number => Math.ceil(bytes / 4);

/** A value that fits a JSON schema, for requests that ask for one. */
export function ofSchema(schema: unknown): unknown {
  const { enum: choices, type, properties, items } = object(schema);
  if (Array.isArray(choices)) return choices[0];
  const kind = text(Array.isArray(type) ? type[0] : type).toLowerCase();
  if (kind === "object" || properties !== undefined) {
    return Object.fromEntries(Object.entries(object(properties)).map(([name, member]) => [name, ofSchema(member)]));
  }
  if (kind === "array") return items === undefined ? [] : [ofSchema(items)];
  if (kind === "integer") return 5;
  // Gemini CLI asks how sure it is of a loop, from 0 to 1, and stops its own task where that is much.
  if (kind === "number") return 0;
  if (kind === "boolean") return false;
  return "Short name";
}
