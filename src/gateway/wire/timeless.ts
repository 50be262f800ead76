/** Hashes of messages: that of a system message leaves out what a clock wrote into it. */
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { hashJson } from "./hash.ts";

const systemRoles: ReadonlySet<JsonValue | undefined> = new Set(["system", "developer"]);

const month = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*";

/** Dates, days of the week and times of day, as programs write them into their prompts. */
const times = new RegExp(
  [
    String.raw`\b\d{4}-\d{2}-\d{2}(?:T(?=\d))?`,
    String.raw`\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b`,
    String.raw`(?<!\d)\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]\.?m\b\.?)?(?:Z\b|\s?[+-]\d{2}:?\d{2}\b)?`,
    String.raw`\b${month}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}\b`,
    String.raw`\b\d{1,2}\.? ${month}\.?,? \d{4}\b`,
    String.raw`\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b`,
    String.raw`\b1\d{9}(?:\d{3})?\b`,
  ].join("|"),
  "gi",
);

/**
 * The hash of a message, by which it is known again. Some clients write the time into their system prompt at each request:
 * without this each of those would begin a conversation of its own.
 */
export function hashMessage(value: JsonObject): string {
  return hashJson(systemRoles.has(value["role"]) ? (timeless(value) as JsonObject) : value);
}

function timeless(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.replaceAll(times, "#");
  if (Array.isArray(value)) return value.map(timeless);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, timeless(item)]));
}
