/** Checks settings against the schema, and reports each fault with file, line and nearest known key. */
import type { z } from "zod";
import { WindrowError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { withoutSecrets } from "../address.ts";
import { isObject } from "../message/json.ts";
import { configVersion, settings } from "./schema.ts";
import type { Settings } from "./schema.ts";

/** Names the place of a key for people, for example `windrow.config.yaml:3`. */
export type Locate = (path: Path) => string;

type Path = readonly PropertyKey[];

/**
 * The settings of a file that passed the check.
 *
 * @param locate - where a key stands, for messages
 * @throws WindrowError `bad-option` that lists everything that is wrong; for a newer version only that
 */
export function checkSettings(value: unknown, locate: Locate): Settings {
  const version = isObject(value) ? value["version"] : undefined;
  if (typeof version === "number" && version > configVersion) {
    const message =
      `${locate(["version"])}: this file has version ${version}, and this Windrow reads version ${configVersion}. ` +
      "Update Windrow, or write the file in the older form; nothing of it was used.";
    throw new WindrowError("bad-option", message, { version, known: configVersion });
  }
  const parsed = settings.safeParse(value);
  if (parsed.success) return parsed.data as Settings;
  const faults = parsed.error.issues.flatMap((issue) => faultsOf(issue, value, locate));
  throw new WindrowError("bad-option", faults.join("\n  "), { faults });
}

function faultsOf(issue: z.core.$ZodIssue, value: unknown, locate: Locate, above: Path = []): readonly string[] {
  const path = [...above, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    const known = keysAt(path);
    return issue.keys.map(
      (key) => `${locate([...path, key])}: there is no key "${[...path, key].join(".")}".${nearest(key, known)}`,
    );
  }
  if (issue.code === "invalid_union") {
    // A value may have several forms; the one whose top level fits is the one that was meant, so its faults are reported.
    const meant = issue.errors.find((issues) => issues.every((inner) => !isOtherType(inner)));
    if (meant) return meant.flatMap((inner) => faultsOf(inner, value, locate, path));
  }
  const form = formOf(issue);
  const wanted = form === undefined ? `should be ${expected(issue)}` : `is ${form}`;
  const shown = path.length === 0 ? "the file" : `"${path.join(".")}"`;
  return [`${locate(path)}: ${shown} ${wanted}, not ${withoutSecrets(JSON.stringify(valueAt(value, path)))}.`];
}

/** The form of a text as the schema's own message names it: an age. Undefined where the schema names none. */
function formOf({ message }: z.core.$ZodIssue): string | undefined {
  return /^an? /.test(message) ? message : undefined;
}

function isOtherType({ code, path }: z.core.$ZodIssue): boolean {
  return (code === "invalid_type" || code === "invalid_value") && path.length === 0;
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping of keys to values",
  record: "a mapping of keys to values",
};

/** The expected value, as the end of a sentence. */
function expected(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return typeNames[issue.expected] ?? issue.expected;
    case "invalid_union":
      return [...new Set(issue.errors.flat().map(expected))].join(" or ");
    case "invalid_value":
      return `${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "too_small":
      if (issue.origin === "string") return "text that is not empty";
      return `${issue.inclusive ? "at least" : "above"} ${issue.minimum}`;
    case "too_big":
      return `${issue.inclusive ? "at most" : "below"} ${issue.maximum}`;
    case "invalid_format":
      return issue.format === "url" ? "an http or https URL" : "text of another form";
    default:
      return `something else (${issue.message})`;
  }
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const key of path) at = typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : null;
  return at ?? null;
}

/** The known keys at a place of the schema. */
function keysAt(path: Path): readonly string[] {
  let schema: unknown = settings;
  for (const key of path) schema = shapesOf(schema)[String(key)];
  return Object.keys(shapesOf(schema));
}

/** The keys of an object schema, also behind `optional` and inside a union. */
function shapesOf(schema: unknown): Readonly<Record<string, unknown>> {
  const { shape, def } = (schema ?? {}) as {
    readonly shape?: Readonly<Record<string, unknown>>;
    readonly def?: { readonly innerType?: unknown; readonly options?: readonly unknown[] };
  };
  if (shape) return shape;
  if (def?.innerType) return shapesOf(def.innerType);
  return Object.assign({}, ...(def?.options ?? []).map(shapesOf)) as Readonly<Record<string, unknown>>;
}
