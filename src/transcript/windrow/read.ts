/**
 * Windrow's own messages: an array or JSON lines of messages, the `messages.jsonl` of a session on disk, or a whole session
 * as `windrow export` writes it.
 */
import { isWindrowError } from "../../errors.ts";
import type { JsonObject, Message, NewMessage } from "../../message/message.ts";
import type { CallPairing } from "../../message/parts.ts";
import { checkMessage } from "../../message/schema.ts";
import { BadLine } from "../../store/format/fields.ts";
import { decodeMetadata } from "../../store/format/documents.ts";
import { decodeMessage } from "../../store/format/decode-message.ts";
import { chatMessage, isChatMessage } from "../../shape/openai-chat/loose.ts";
import { TranscriptBuilder } from "../builder.ts";
import { asArray, asCount, asName, asObject, fieldsOf, objectsOf, restOf } from "../../message/json.ts";
import type { Entry, Transcript, TranscriptDecoder, TranscriptSource } from "../transcript.ts";
import type { LogName } from "../../store/store.ts";
import { sentBlocks } from "./sent.ts";
import { LoggedUsage } from "./usage.ts";
import type { LoggedAnswer } from "./usage.ts";
import { sessionHead, sessionRecord } from "./session.ts";

const format = "windrow";

const messageFields: ReadonlySet<string> = new Set([
  "id",
  "role",
  "parts",
  "timestamp",
  "status",
  "model",
  "usage",
  "extra",
]);

/** Reads Windrow messages: with `parts`, with `content` and flat `tool_calls`, or as the file store writes them. */
export const windrow: TranscriptDecoder = {
  format,
  recognise(source: TranscriptSource): number {
    if (sessionHead(source.entries[0]?.value)) return 1;
    const messages = messageEntries(source)
      .slice(0, 50)
      .map((entry) => asObject(entry.value) ?? {});
    const own = messages.filter(isOwn);
    if (own.length * 2 < messages.length || own.length === 0) return 0;
    const certain = own.some((message) => asArray(message["parts"]) || isStoredLine(message));
    const calls = own.flatMap((message) => objectsOf(message["tool_calls"]));
    if (certain) return 0.95;
    return calls.some((call) => "args" in call) ? 0.85 : 0.6;
  },
  decode(source: TranscriptSource): readonly Transcript[] {
    const builder = new TranscriptBuilder();
    const answers: LoggedAnswer[] = [];
    eachEntry(messageEntries(source), builder, (value, line) => {
      const message = ownMessage(value, builder);
      if (!message) builder.problem(line, "no Windrow message: it has no known role, or neither parts nor content");
      else if (message.role !== "assistant") builder.add(message);
      else answers.push({ index: builder.add(message), pos: asCount(asObject(value)?.["pos"]) ?? 0 });
    });
    const head = sessionHead(source.entries[0]?.value);
    const config = decodeMetadata(head?.metadata, "")?.config ?? {};
    const used = new LoggedUsage(builder, config, answers);
    eachEntry(linesOf(source, "usage"), builder, (value) => used.take(fieldsOf(value)));
    const built = builder.build(head?.id ?? source.name, format);
    const sent = sentBlocks(linesOf(source, "edits").map(({ value }) => value));
    return [sent.length === 0 ? built : { ...built, sent }];
  },
};

/** Reads entries one by one; each that cannot be read is a problem of its own. */
function eachEntry(
  entries: readonly Entry[],
  builder: TranscriptBuilder,
  read: (value: unknown, line: number) => void,
): void {
  for (const { line, value } of entries) {
    try {
      read(value, line);
    } catch (error) {
      if (!isWindrowError(error, "bad-message") && !(error instanceof BadLine)) throw error;
      builder.problem(line, error.message);
    }
  }
}

function messageEntries(source: TranscriptSource): readonly Entry[] {
  if (sessionHead(source.entries[0]?.value)) return linesOf(source, "messages");
  const only = source.entries.length === 1 ? source.entries[0]?.value : undefined;
  const list = asArray(only) ?? asArray(asObject(only)?.["messages"]);
  return list === undefined ? source.entries : list.map((value) => ({ line: 1, value }));
}

/** The lines of one log in a whole session; none in any other source. */
function linesOf(source: TranscriptSource, wanted: LogName): readonly Entry[] {
  if (!sessionHead(source.entries[0]?.value)) return [];
  const records = source.entries.map(({ line, value }) => ({ line, ...sessionRecord(value) }));
  return records.flatMap(({ line, log, record }) => (log === wanted ? [{ line, value: record }] : []));
}

function isOwn(message: JsonObject): boolean {
  const parts = asArray(message["parts"]);
  if (parts === undefined) return isChatMessage(message);
  return typeof message["role"] === "string" && parts.every((part) => asName(asObject(part)?.["type"]) !== undefined);
}

function isStoredLine(line: JsonObject): boolean {
  return typeof line["seq"] === "number" && typeof line["token_count"] === "number";
}

/** A stored message whose calls and results have no ids of their own, paired by name and order. */
function paired(message: Message, calls: CallPairing): Message {
  const parts = message.parts.map((part) => {
    if (part.type === "tool-call" && part.callId === message.id) calls.call(part.callId, part.name);
    if (part.type !== "tool-result" || part.callId !== message.id) return part;
    return { ...part, ...calls.result(undefined, part.name) };
  });
  return { ...message, parts };
}

function ownMessage(value: unknown, builder: TranscriptBuilder): NewMessage | undefined {
  const object = asObject(value);
  if (!object) return undefined;
  if (isStoredLine(object)) return paired(decodeMessage(object, Number(object["seq"])).message, builder.calls);
  if (!asArray(object["parts"])) return chatMessage(object, format, builder.calls);
  const unknown = restOf(object, messageFields);
  const known = restOf(object, new Set(Object.keys(unknown ?? {}))) ?? {};
  const extra = { ...unknown, ...asObject(object["extra"]) };
  return checkMessage(Object.keys(extra).length === 0 ? known : { ...known, extra });
}
