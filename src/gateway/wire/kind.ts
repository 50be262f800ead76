/** The purpose of a request, and why it may not be composed, by its body. */
import type { IncomingHttpHeaders } from "node:http";
import { asString, fieldsOf, objectsOf } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { RequestKind } from "../gateway.ts";

/** The first words of the texts by which clients have a history summarised. */
const summaryPrompts = [
  "CRITICAL: Respond with TEXT ONLY",
  "Here is the conversation so far:",
  "You are performing a CONTEXT CHECKPOINT COMPACTION",
];

/** Programs that ask on their own behalf, for titles and routes. Of any other every request is its user's. */
const askers: ReadonlySet<string> = new Set(["claude-code", "codex", "opencode", "gemini-cli"]);

/** A request without tools and with no more messages than this is such a program's own. */
const fewMessages = 3;

/** Facts of a request that tell its purpose. */
export interface KindFacts {
  /** The program, as {@link Claims} has it. */
  readonly client: string;
  readonly hasTools: boolean;
  /** Whether the answer is asked for in a shape of JSON. */
  readonly hasSchema: boolean;
  readonly messageCount: number;
  /** The last text of the last message, where that is the user's. */
  readonly lastUserText?: string | undefined;
}

/** The purpose of a request. */
export function kindOf({ client, hasTools, hasSchema, messageCount, lastUserText }: KindFacts): RequestKind {
  const text = lastUserText?.trimStart() ?? "";
  if (summaryPrompts.some((prompt) => text.startsWith(prompt))) return "compaction";
  const isOwn = askers.has(client) && !hasTools && (hasSchema || messageCount <= fewMessages);
  return isOwn ? "side" : "turn";
}

/** The last text of a message of the user's whose content is text or typed blocks; undefined for other messages. */
export function lastTextOf(message: JsonObject | undefined): string | undefined {
  if (message?.["role"] !== "user") return undefined;
  const { content } = message;
  if (typeof content === "string") return content;
  const texts = objectsOf(content).filter(({ type }) => type === "text" || type === "input_text");
  return asString(texts.at(-1)?.["text"]);
}

/**
 * The reason why a request is never composed: its answers are several, or the history stands elsewhere; undefined for
 * one that may be.
 */
export function fixedBy(headers: IncomingHttpHeaders, fields: JsonObject): string | undefined {
  const { n, background } = fields;
  if (headers["x-windrow"] === "off") return "x-windrow: off";
  if (typeof n === "number" && n > 1) return "n > 1";
  if (background === true) return "background";
  return ["previous_response_id", "conversation", "cachedContent"].find(
    (name) => (fields[name] ?? undefined) !== undefined,
  );
}

/** The type in a member such as `response_format`: `json_schema`, `json_object`, `text`. */
export function formatType(value: JsonValue | undefined): string | undefined {
  return asString(fieldsOf(value)["type"]);
}

/** Whether a member such as `response_format` asks for JSON. */
export function isJsonFormat(value: JsonValue | undefined): boolean {
  return /^json_(schema|object)$/.test(formatType(value) ?? "");
}
