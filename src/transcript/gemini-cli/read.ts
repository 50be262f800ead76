/** Sessions of Gemini CLI: JSON lines since version 0.40, one JSON document before, a bare history of contents earlier. */
import type { JsonObject, JsonValue, Part, ToolResultPart, Usage } from "../../message/message.ts";
import { callArguments, opaquePart, opaqueRest, resultContent, textParts, usage } from "../../message/parts.ts";
import type { CallPairing } from "../../message/parts.ts";
import { partOf } from "../../shape/gemini/parts.ts";
import { flatly } from "../../shape/keeper.ts";
import {
  asArray,
  asCount,
  asName,
  asObject,
  asString,
  defined,
  isoTime,
  objectsOf,
  restOf,
} from "../../message/json.ts";
import { head, TranscriptBuilder } from "../builder.ts";
import type { Entry, Transcript, TranscriptDecoder, TranscriptSource } from "../transcript.ts";

const format = "gemini-cli";

const recorded = flatly(format);

const spokenTypes: ReadonlySet<unknown> = new Set(["user", "gemini"]);

/** Types of records that the CLI shows its user and sends to no model. */
const notices: ReadonlySet<unknown> = new Set(["info", "error", "warning"]);

/** Fields that are read, or repeat what is read: `displayContent` is the content as typed. */
const knownFields: ReadonlySet<string> = new Set([
  "id",
  "timestamp",
  "type",
  "role",
  "content",
  "parts",
  "displayContent",
  "toolCalls",
  "thoughts",
  "tokens",
  "model",
  "ts",
]);

/**
 * Reads Gemini CLI sessions. A line that repeats an id replaces the earlier one, and a rewind removes the records
 * since. A result in the record of its call becomes a message behind it. Notices to the user are counted in
 * `meta.notices`.
 */
export const geminiCli: TranscriptDecoder = {
  format,
  recognise(source: TranscriptSource): number {
    const values = head(source.entries).map((entry) => asObject(entry.value) ?? {});
    const about = values.find((value) => asName(value["sessionId"]) !== undefined && "projectHash" in value);
    if (about) return 0.95;
    const history = objectsOf(values[0]?.["history"]);
    if (source.entries.length === 1 && history.length > 0 && history.every((item) => asArray(item["parts"])))
      return 0.8;
    return values.some((value) => value["type"] === "gemini" && "content" in value) ? 0.75 : 0;
  },
  decode(source: TranscriptSource): readonly Transcript[] {
    const builder = new TranscriptBuilder();
    const { about, records, left } = recordsOf(source, builder);
    let noticed = 0;
    for (const { line, value } of records) {
      const record = asObject(value) ?? {};
      if (notices.has(record["type"])) noticed += 1;
      else addRecord(record, line, builder);
    }
    const aside = new TranscriptBuilder();
    for (const { line, value } of left) addRecord(asObject(value) ?? {}, line, aside);
    builder.leaveOut(aside.messages);
    const meta = defined({
      projectHash: about["projectHash"],
      kind: about["kind"],
      summary: about["summary"],
      directories: about["directories"],
      notices: noticed === 0 ? undefined : noticed,
    }) as JsonObject;
    const model = asName(asObject(about["meta"])?.["model"]);
    return [builder.build(asName(about["sessionId"]) ?? source.name, format, { model, meta })];
  },
};

/** The session's facts in a file, and the records of its messages in order: those that stand, and those that were left. */
function recordsOf(
  source: TranscriptSource,
  builder: TranscriptBuilder,
): { readonly about: JsonObject; readonly records: readonly Entry[]; readonly left: readonly Entry[] } {
  let about: JsonObject = {};
  const records = new Map<string, Entry>();
  const all = new Map<string, Entry>();
  const set = (key: string, entry: Entry): void => {
    for (const map of [records, all]) map.set(key, entry);
  };
  for (const entry of source.entries) {
    const value = asObject(entry.value);
    const changes = asObject(value?.["$set"]);
    const rewind = asString(value?.["$rewindTo"]);
    const list = asArray(value?.["messages"] ?? changes?.["messages"] ?? value?.["history"]);
    if (value === undefined) builder.problem(entry.line, "no record of Gemini CLI: it is no object");
    else if (rewind !== undefined) takeBack(records, rewind);
    else if (changes || "sessionId" in value || list) {
      const { messages: _messages, history: _history, ...said } = changes ?? value;
      about = { ...about, ...said };
      if (list) records.clear();
      list?.forEach((item, index) => set(keyOf(item, index), { line: entry.line, value: item }));
    } else set(keyOf(value, records.size), entry);
  }
  const left = [...all].flatMap(([key, entry]) => (records.has(key) ? [] : [entry]));
  return { about, records: [...records.values()], left };
}

function keyOf(value: unknown, index: number): string {
  return asName(asObject(value)?.["id"]) ?? `#${index}`;
}

/** Removes a record and all behind it; with an unknown id it removes all, as the CLI does. */
function takeBack(records: Map<string, Entry>, id: string): void {
  const keys = [...records.keys()];
  for (const key of keys.slice(Math.max(0, keys.indexOf(id)))) records.delete(key);
}

function addRecord(record: JsonObject, line: number, builder: TranscriptBuilder): void {
  const type = record["type"] ?? (record["role"] === "model" ? "gemini" : record["role"]);
  if (!spokenTypes.has(type)) return builder.problem(line, "no message of Gemini CLI: it has no known type");
  const id = asName(record["id"]);
  const timestamp = isoTime(record["timestamp"] ?? record["ts"]);
  const extra = restOf(record, knownFields);
  const content = geminiContent(record["content"] ?? record["parts"], builder.calls);
  if (type === "user") return builder.addUser(defined({ id, timestamp, extra }), content);
  const made = objectsOf(record["toolCalls"]).map((call) => recordedCall(call, builder.calls));
  const parts = [...objectsOf(record["thoughts"]).map(thoughtPart), ...content, ...made.map(({ call }) => call)];
  builder.add(
    defined({
      id,
      role: "assistant" as const,
      parts,
      timestamp,
      model: asName(record["model"]),
      usage: recordedUsage(record["tokens"]),
      extra,
    }),
  );
  const results = made.flatMap(({ result }) => result ?? []);
  if (results.length === 0) return;
  const [last] = objectsOf(record["toolCalls"]).toReversed();
  const answered = isoTime(last?.["timestamp"]) ?? timestamp;
  const resultsId = id === undefined ? undefined : `${id}/results`;
  builder.add(defined({ id: resultsId, role: "tool" as const, parts: results, timestamp: answered }));
}

/** Reads the content of a message: text, a part of the API, or a list of either. */
function geminiContent(content: JsonValue | undefined, calls: CallPairing): readonly Part[] {
  if (typeof content === "string") return textParts(content);
  const blocks = asArray(content) ?? (content === undefined || content === null ? [] : [content]);
  return blocks.map((block) => partOf(block, calls, recorded));
}

/** Reads a thought: its subject as a line, then its description. */
function thoughtPart(thought: JsonObject): Part {
  const subject = asName(thought["subject"]);
  const description = asString(thought["description"]) ?? "";
  return {
    type: "reasoning",
    text: subject === undefined ? description : `${subject}\n${description}`,
    ...opaqueRest(thought, ["description"]),
  };
}

/** Reads a tool call and its result, if any. Fields for display only are left out. */
function recordedCall(
  record: JsonObject,
  calls: CallPairing,
): { readonly call: Part; readonly result?: ToolResultPart } {
  const name = asName(record["name"]);
  if (name === undefined) return { call: opaquePart(record, format) };
  const callId = calls.call(asName(record["id"]), name);
  const call: Part = { type: "tool-call", callId, name, ...callArguments(record["args"]) };
  const { result, status } = record;
  if (result === undefined || result === null) return { call };
  const parts = geminiContent(result, calls);
  const [first, ...others] = parts;
  const isAnswer = first?.type === "tool-result";
  const texts = isAnswer ? [first.content].flat() : parts;
  const items = [...texts, ...(isAnswer ? others : [])].map((item) =>
    typeof item === "string" ? { type: "text" as const, text: item } : item,
  );
  const [only] = items;
  const content = items.length === 1 && only?.type === "text" ? only.text : resultContent(items);
  const failed = status === "error" || status === "cancelled" || (isAnswer && first.isError === true);
  return {
    call,
    result: { type: "tool-result", ...calls.result(callId, name), content, ...(failed && { isError: true }) },
  };
}

/** Reads usage. The CLI counts thoughts beside the answer. */
function recordedUsage(value: JsonValue | undefined): Usage | undefined {
  const counts = asObject(value);
  const [output, thoughts] = [asCount(counts?.["output"]), asCount(counts?.["thoughts"])];
  return (
    counts &&
    usage({
      input: asCount(counts["input"]),
      output: output === undefined ? thoughts : output + (thoughts ?? 0),
      cacheRead: asCount(counts["cached"]),
      reasoning: thoughts,
    })
  );
}
