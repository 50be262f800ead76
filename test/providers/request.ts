/**
 * Helpers of the checkers in this folder. They read a request's JSON body alone and import nothing of src: each says,
 * from the provider's public pages, what that provider refuses. A fault reads `rule at path: what is wrong`.
 */

/** A JSON object of a request. */
export type Json = Readonly<Record<string, unknown>>;

/** Notes one fault of a request. */
export type Note = (rule: string, path: string, what: unknown) => void;

/** Runs a check over a request as it would be sent, after JSON.stringify, and returns its faults. */
export function faultsOf(request: unknown, check: (request: Json, note: Note) => void): string[] {
  const faults: string[] = [];
  const note: Note = (rule, path, what) => {
    faults.push(`${rule} at ${path}: ${typeof what === "string" ? what : JSON.stringify(what)}`.slice(0, 300));
  };
  const sent = JSON.parse(JSON.stringify(request)) as unknown;
  // A lone surrogate is no valid JSON text: "The request body is not valid JSON: no low surrogate in string"
  // (github.com/anthropics/claude-code/issues/60394); "We could not parse the JSON body of your request" at OpenAI.
  walk(sent, "", (text, path) => {
    if (!text.isWellFormed()) note("lone-surrogate", path, "half of a surrogate pair");
  });
  check(objectOf(sent), note);
  return faults;
}

/** The rule of a fault. */
export function ruleOf(fault: string): string {
  return fault.slice(0, fault.indexOf(" "));
}

function walk(value: unknown, path: string, visit: (text: string, path: string) => void): void {
  if (typeof value === "string") visit(value, path);
  else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      visit(key, path);
      walk(item, path === "" ? key : `${path}.${key}`, visit);
    }
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value itself, or an empty object for what is none. */
export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** The value itself, or an empty text for what is none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A list's items as objects, with their paths; nothing for what is no list. */
export function itemsOf(value: unknown, path: string): readonly (readonly [Json, string])[] {
  return Array.isArray(value) ? value.map((item: unknown, at) => [objectOf(item), `${path}.${at}`] as const) : [];
}

/** Notes the fields that are none of those a schema has. */
export function extraFields(object: Json, known: readonly string[], path: string, note: Note): void {
  for (const field of Object.keys(object)) {
    if (!known.includes(field)) note("unknown-field", `${path}.${field}`, "Extra inputs are not permitted");
  }
}

/** Whether a value is base64 with content. */
export function isBase64(value: unknown): boolean {
  return (
    typeof value === "string" && value.length > 0 && value.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(value)
  );
}

/** Notes what is wrong with a URL that is to be an http address, or a `data:` URL of one of some media types. */
export function mediaUrl(url: unknown, types: RegExp, path: string, note: Note): void {
  const text = typeof url === "string" ? url : "";
  const [, type = "", data = ""] = /^data:([^;,]*);base64,(.*)$/s.exec(text) ?? [];
  if (/^https?:\/\/[^/]/.test(text)) return;
  if (!text.startsWith("data:")) note("media-url", path, text || "no URL");
  else if (!types.test(type)) note("media-type", path, type);
  else if (!isBase64(data)) note("media-data", path, "no base64");
}
