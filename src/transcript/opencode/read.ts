/**
 * Sessions of opencode (0.6 to 1.14): the document that `opencode export` prints, `{ info, messages: [{ info, parts }] }`.
 * storage.ts makes the same documents of its database and of its folders.
 */
import type {
  JsonObject,
  JsonValue,
  MessageStatus,
  NewMessage,
  Part,
  ToolResultPart,
  Usage,
} from "../../message/message.ts";
import { asArray, asCount, asName, asObject, asString, defined, fieldsOf, isoTime } from "../../message/json.ts";
import { objectsOf, restOf } from "../../message/json.ts";
import {
  callArguments,
  dataOfUrl,
  opaquePart,
  opaqueRest,
  resultContent,
  textParts,
  UniqueIds,
} from "../../message/parts.ts";
import { usageBesideCache } from "../../message/parts.ts";
import { head, TranscriptBuilder, withStrays } from "../builder.ts";
import type { Transcript, TranscriptDecoder, TranscriptProblem, TranscriptSource } from "../transcript.ts";

const format = "opencode";

/** Fields of a message that are read; `summary` of a user's message holds whole files for display. */
const userFields: ReadonlySet<string> = new Set(["id", "sessionID", "role", "summary"]);
const answerFields: ReadonlySet<string> = new Set(["id", "sessionID", "role", "modelID", "tokens"]);
/** Fields of a part that are read, or place it. */
const partFields = ["id", "sessionID", "messageID", "type", "text", "time", "synthetic", "callID", "tool", "state"];

/** Parts of opencode's own bookkeeping, which no model is sent. */
const bookkeeping: ReadonlySet<unknown> = new Set("step-start step-finish snapshot patch retry agent".split(" "));

/** The fields that messages of both roles have. */
type Said = Omit<NewMessage, "role" | "parts">;

/**
 * Reads sessions of opencode. Each step of an answer becomes a message with its tokens, and the results of its tools a
 * message behind it. Messages that were reverted are counted in `meta.abandoned`.
 */
export const openCode: TranscriptDecoder = {
  format,
  recognise(source: TranscriptSource): number {
    const values = head(source.entries).map(({ value }) => fieldsOf(value));
    return values.some((value) => asObject(value["info"]) && objectsOf(value["messages"]).some(isMessage)) ? 0.95 : 0;
  },
  decode(source: TranscriptSource): readonly Transcript[] {
    const [ids, strays]: [UniqueIds, TranscriptProblem[]] = [new UniqueIds(), []];
    const transcripts = source.entries.flatMap(({ line, value }): readonly Transcript[] => {
      const info = asObject(asObject(value)?.["info"]);
      const messages = asArray(asObject(value)?.["messages"]);
      if (info && messages) return [session(ids.take(asName(info["id"]) ?? source.name), info, messages, line)];
      strays.push({ line, problem: "no session of opencode: it has no info or no messages" });
      return [];
    });
    return withStrays(transcripts, strays);
  },
};

function isMessage(item: JsonObject): boolean {
  return asName(asObject(item["info"])?.["role"]) !== undefined && asArray(item["parts"]) !== undefined;
}

function session(id: string, info: JsonObject, messages: readonly JsonValue[], line: number): Transcript {
  const [builder, aside] = [new TranscriptBuilder(), new TranscriptBuilder()];
  const { directory: cwd, version, title, parentID } = info;
  const { messageID, partID } = fieldsOf(info["revert"]);
  const reverted = messages.findIndex((item) => fieldsOf(fieldsOf(item)["info"])["id"] === (messageID ?? null));
  // A part's revert takes back the rest of its message alone, and what is behind it.
  const standing = reverted < 0 ? messages.length : reverted + Number(asName(partID) !== undefined);
  for (const [index, item] of messages.entries()) {
    const { info: about, parts } = fieldsOf(item);
    const message = fieldsOf(about);
    const into = index < standing ? builder : aside;
    if (message["role"] === "user") addUser(message, objectsOf(parts), into);
    else if (message["role"] === "assistant") addAnswer(message, objectsOf(parts), into);
    else into.problem(line, `message ${index + 1} has no known role`);
  }
  builder.leaveOut(aside.messages);
  const abandoned = messages.length - standing || undefined;
  return builder.build(id, format, { meta: defined({ cwd, version, title, parentID, abandoned }) as JsonObject });
}

function addUser(about: JsonObject, given: readonly JsonObject[], builder: TranscriptBuilder): void {
  const parts = given.flatMap(partsOf);
  const isOwn = given.some(({ type, synthetic }) => (type === "text" && synthetic !== true) || type === "file");
  if (parts.length > 0)
    builder.add({ ...said(about, userFields, isOwn ? undefined : "synthetic"), role: "user", parts });
}

function addAnswer(about: JsonObject, given: readonly JsonObject[], builder: TranscriptBuilder): void {
  const answer = said(about, answerFields, asObject(about["error"]) && "interrupted");
  const steps: JsonObject[][] = [[]];
  for (const part of given) {
    if (part["type"] === "step-start" && steps.at(-1)?.length !== 0) steps.push([]);
    steps.at(-1)?.push(part);
  }
  const isTold = given.some(({ type }) => type === "step-finish");
  for (const step of steps) {
    const parts = step.flatMap((part) => (part["type"] === "tool" ? callPart(part, builder) : partsOf(part)));
    const usage = tokensOf(isTold ? step.findLast(({ type }) => type === "step-finish")?.["tokens"] : about["tokens"]);
    if (parts.length > 0 || usage) {
      builder.add({ ...answer, role: "assistant", parts, ...defined({ model: asName(about["modelID"]), usage }) });
    }
    const results = step.flatMap((part) => resultPart(part, builder));
    const ended = isoTime(fieldsOf(fieldsOf(step.findLast(({ type }) => type === "tool")?.["state"])["time"])["end"]);
    const id = answer.id === undefined ? undefined : `${answer.id}/results`;
    if (results.length > 0) builder.add({ role: "tool", parts: results, ...defined({ id, timestamp: ended }) });
  }
}

function said(about: JsonObject, known: ReadonlySet<string>, status: MessageStatus | undefined): Said {
  const timestamp = isoTime(fieldsOf(about["time"])["created"]);
  return defined({ id: asName(about["id"]), timestamp, status, extra: restOf(about, known) });
}

function partsOf(part: JsonObject): readonly Part[] {
  const { type, metadata, mime, url, filename } = part;
  const text = asString(part["text"]) ?? "";
  if (bookkeeping.has(type) || part["ignored"] === true) return [];
  if (type === "text") return textParts(text).map((own) => ({ ...own, ...opaqueRest(part, partFields) }));
  if (type === "reasoning") {
    const signature = asName(fieldsOf(fieldsOf(metadata)["anthropic"])["signature"]);
    return [{ type, text, ...defined({ signature }), ...opaqueRest(part, partFields) }];
  }
  const [address, name] = [asName(url) ?? "", asName(filename)];
  const data = type === "file" ? dataOfUrl(address) : undefined;
  const media = data ?? { mediaType: asName(mime) ?? "", url: address };
  // The content of a file on the machine stands in a text of its own.
  if (media.mediaType === "" || !(data ?? /^https?:/.test(address))) return [opaquePart(part, format)];
  const isImage = media.mediaType.startsWith("image/");
  return [isImage ? { type: "image", ...media } : { type: "file", ...media, ...defined({ name }) }];
}

function callPart(part: JsonObject, builder: TranscriptBuilder): Part {
  const [name, state] = [asName(part["tool"]), fieldsOf(part["state"])];
  if (name === undefined) return opaquePart(part, format);
  const callId = builder.calls.call(asName(part["callID"]), name);
  const given = state["status"] === "pending" ? (state["raw"] ?? state["input"]) : state["input"];
  return { type: "tool-call", callId, name, ...callArguments(given), ...opaqueRest(part, partFields) };
}

/** The result of a call that ended. Its title and metadata are for display. */
function resultPart(part: JsonObject, builder: TranscriptBuilder): readonly ToolResultPart[] {
  const { status, output, error, metadata, attachments } = fieldsOf(part["state"]);
  const name = asName(part["tool"]);
  if (part["type"] !== "tool" || name === undefined || status === "pending" || status === "running") return [];
  const isError = status === "error";
  const text = asString(output ?? fieldsOf(metadata)["output"] ?? error) ?? "";
  const media = objectsOf(attachments).flatMap(partsOf);
  const content = media.length === 0 ? text : resultContent([{ type: "text", text }, ...media]);
  const pair = builder.calls.result(asName(part["callID"]), name);
  return [{ type: "tool-result", ...pair, content, ...(isError && { isError }) }];
}

/** Tokens of a call: opencode counts what the cache holds beside the input, and reasoning beside the output. */
function tokensOf(value: JsonValue | undefined): Usage | undefined {
  const { input, output, reasoning: thought, cache } = fieldsOf(value);
  const { read, write } = fieldsOf(cache);
  const reasoning = asCount(thought) ?? 0;
  const used = usageBesideCache(input, (asCount(output) ?? 0) + reasoning, read, write);
  return used && { ...used, ...(reasoning > 0 && { reasoning }) };
}
