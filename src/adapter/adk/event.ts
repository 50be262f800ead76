/** One event of ADK as a message of the log, and back. */
import type { Message, NewMessage } from "../../message/message.ts";
import type { CallPairing } from "../../message/parts.ts";
import { asName, asObject, isObject, without, sameJson } from "../../message/json.ts";
import type { AdkEvent } from "./types.ts";
import { contentMessage, contentsOf } from "../../shape/gemini/gemini.ts";
import type { GeminiContent } from "../../shape/gemini/gemini.ts";
import { hostMessage, keptOf } from "../../shape/host-fields.ts";

const adk = "adk";

/** Calls by which ADK asks its user something; they never go to the model. */
const asking = ["adk_request_confirmation", "adk_request_credential", "adk_request_input"];

/** Ids that ADK makes itself, and takes off before a request. */
const madeId = /^adk-/;

/**
 * An event as a message. What ADK never shows the model (no content, an empty first text, questions to its user) has no
 * parts: it is in the log and in no window.
 */
export function eventMessage(event: AdkEvent, index: number, calls: CallPairing): NewMessage {
  const host = hostMessage(event, index, "an event of ADK");
  const timestamp = new Date(event.timestamp).toISOString();
  if (!isShown(event)) return { role: "tool", parts: [], timestamp, extra: { [adk]: host } };
  const message = contentMessage(event.content ?? {}, index, calls);
  return { ...message, timestamp, extra: { ...message.extra, [adk]: without(host, "content") } };
}

/** The event that a message of the log was; undefined for a message that was none. */
export function eventOf(message: Message): AdkEvent | undefined {
  const event = keptOf(adk, message.extra);
  if (!event) return undefined;
  if (message.parts.length === 0) return event as unknown as AdkEvent;
  const [content] = contentsOf([message]);
  return { ...event, content } as unknown as AdkEvent;
}

/** Whether ADK puts an event into its requests. */
export function isShown({ content }: AdkEvent): boolean {
  const parts = content?.parts ?? [];
  const [first] = parts;
  if (!content?.role || parts.length === 0 || asObject(first)?.["text"] === "") return false;
  return !parts.some((part) => {
    const fields = asObject(part) ?? {};
    const name = asObject(fields["functionCall"] ?? fields["functionResponse"])?.["name"];
    return typeof name === "string" && asking.includes(name);
  });
}

/** A content as ADK puts it into a request: without the ids that it made itself. */
export function asRequested(content: GeminiContent): GeminiContent {
  const parts = content.parts?.map((part) => {
    if (!isObject(part)) return part;
    for (const field of ["functionCall", "functionResponse"]) {
      const call = asObject(part[field]);
      if (call && madeId.test(asName(call["id"]) ?? "")) return { ...part, [field]: without(call, "id") };
    }
    return part;
  });
  return parts ? { ...content, parts } : content;
}

/** Whether a content of a request is an event's; a field that is undefined is as good as none. */
export function isSame(requested: GeminiContent, event: AdkEvent): boolean {
  const [left, right] = [requested, asRequested(event.content ?? {})].map((content) =>
    hostMessage(content, 0, "a content of Gemini"),
  );
  return sameJson(left, right);
}
