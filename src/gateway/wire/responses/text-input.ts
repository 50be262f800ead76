/** Requests to the Responses API whose input is one text in the place of a list of items. */
import { isObject, jsonFault } from "../../../message/json.ts";
import type { JsonObject, JsonValue } from "../../../message/message.ts";
import type { WireCall, WireRequest, Written } from "../../gateway.ts";
import type { ReadBody } from "../body.ts";
import { hashJson } from "../hash.ts";
import { bodyRanges } from "../json-ranges.ts";

/** Reads a body whose input is a text: it is the one message of the user's. Undefined for any other body. */
export function readText({ body }: WireCall): ReadBody | undefined {
  const range = bodyRanges(body, "input")?.members.get("input");
  if (!range || body[range.start] !== 0x22) return undefined;
  const whole = parsed(body);
  const content = whole?.["input"];
  if (!whole || typeof content !== "string") return undefined;
  const { input: _, ...fields } = whole;
  const value = { role: "user", content };
  return { fields, messages: [{ raw: body.subarray(range.start, range.end), value, hash: hashJson(value) }] };
}

function parsed(body: Buffer): JsonObject | undefined {
  try {
    const value = JSON.parse(body.toString()) as JsonValue;
    return isObject(value) && jsonFault(value) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The body with other messages; the very buffer where its text alone is written. Undefined for a body with a list. */
export function writeText({ call, messages }: WireRequest, written: readonly Written[]): Buffer | undefined {
  const { body } = call;
  const [own] = messages;
  const range = bodyRanges(body, "input")?.members.get("input");
  if (!own || !range || body[range.start] !== 0x22) return undefined;
  if (written.length === 1 && written[0] === own) return body;
  const items = written.flatMap((message, place) => {
    const item =
      "made" in message
        ? [Buffer.from(JSON.stringify(message.made))]
        : [Buffer.from('{"role":"user","content":'), message.raw, Buffer.from("}")];
    return place === 0 ? item : [Buffer.from(","), ...item];
  });
  const list = [Buffer.from("["), ...items, Buffer.from("]")];
  return Buffer.concat([body.subarray(0, range.start), ...list, body.subarray(range.end)]);
}
