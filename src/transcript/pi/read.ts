/** Sessions of the pi coding agent: JSONL with a header, version 1 (a list) to 3 (a tree by id and parentId). */
import type { JsonObject, JsonValue, NewMessage, Part } from "../../message/message.ts";
import { branchOfLastLeaf } from "../branch.ts";
import type { CallPairing } from "../../message/parts.ts";
import { head, TranscriptBuilder } from "../builder.ts";
import {
  callArguments,
  opaquePart,
  opaqueRest,
  resultContent,
  textParts,
  usageBesideCache,
} from "../../message/parts.ts";
import { asArray, asName, asObject, asString, defined, isoTime, restOf } from "../../message/json.ts";
import { commandLabel, summaryLabel } from "./labels.ts";
import type { Entry, Transcript, TranscriptDecoder, TranscriptSource } from "../transcript.ts";

const format = "pi";

const knownFields = new Set([
  "role",
  "content",
  "timestamp",
  "usage",
  "model",
  "stopReason",
  "toolCallId",
  "toolName",
  "isError",
]);

/** Reads pi sessions. The branch of the last entry is the session; `meta.abandoned` counts the other messages. */
export const pi: TranscriptDecoder = {
  format,
  recognise(source: TranscriptSource): number {
    const entries = head(source.entries).map((entry) => asObject(entry.value));
    const messages = entries
      .filter((entry) => entry?.["type"] === "message")
      .map((entry) => asObject(entry?.["message"]));
    const own = messages.some(
      (message) => piRoles.has(asString(message?.["role"]) ?? "") && "content" in (message ?? {}),
    );
    const header = entries.some((entry) => entry?.["type"] === "session" && "cwd" in entry);
    if (header) return own || messages.length === 0 ? 0.95 : 0.3;
    const foreign = entries.some((entry) => entry?.["type"] === "session_start");
    return own && !foreign ? 0.6 : 0;
  },
  decode(source: TranscriptSource): readonly Transcript[] {
    const builder = new TranscriptBuilder();
    const rows = source.entries.filter((entry) => isRow(entry, builder));
    const header = rows.map((row) => asObject(row.value)).find((value) => value?.["type"] === "session");
    const tree = rows.filter((row) => asObject(row.value)?.["type"] !== "session");
    const branch = branchOfLastLeaf(
      tree.map(({ value }) => {
        const row = asObject(value);
        return { id: asName(row?.["id"]), parent: row?.["parentId"] as string | null | undefined };
      }),
    );
    const compactions: JsonValue[] = [];
    const aside = new TranscriptBuilder();
    let abandoned = 0;
    tree.forEach(({ line, value }, index) => {
      const row = asObject(value) ?? {};
      const isKept = branch.has(index);
      if (isKept && row["type"] === "compaction") compactions.push(compaction(row, builder.messages.length));
      else addRow(row, line, isKept ? builder : aside);
      if (!isKept && row["type"] === "message") abandoned++;
    });
    builder.leaveOut(aside.messages);
    const meta = defined({
      cwd: header?.["cwd"],
      version: header?.["version"],
      compactions: compactions.length === 0 ? undefined : compactions,
      abandoned: abandoned === 0 ? undefined : abandoned,
    }) as JsonObject;
    return [builder.build(asName(header?.["id"]) ?? source.name, format, { model: asName(header?.["modelId"]), meta })];
  },
};

const piRoles: ReadonlySet<string> = new Set([
  "user",
  "assistant",
  "toolResult",
  "bashExecution",
  "custom",
  "hookMessage",
  "branchSummary",
  "compactionSummary",
]);

function isRow(entry: Entry, builder: TranscriptBuilder): boolean {
  if (asName(asObject(entry.value)?.["type"]) !== undefined) return true;
  builder.problem(entry.line, "no pi entry: it has no type");
  return false;
}

/** Entries besides `message` that pi shows the model, with the role of their content. */
const spokenEntries: ReadonlyMap<string, string> = new Map([
  ["custom_message", "custom"],
  ["branch_summary", "branchSummary"],
]);

function addRow(row: JsonObject, line: number, builder: TranscriptBuilder): void {
  const role = spokenEntries.get(asString(row["type"]) ?? "");
  if (row["type"] !== "message" && role === undefined) return;
  const message = role === undefined ? asObject(row["message"]) : { ...row, role };
  const decoded = message && piMessage(message, builder.calls);
  if (!decoded) return builder.problem(line, "a message without a known role");
  const time = isoTime(row["timestamp"]) ?? decoded.timestamp;
  builder.add(defined({ ...decoded, id: asName(row["id"]), timestamp: time }));
}

function piMessage(message: JsonObject, calls: CallPairing): NewMessage | undefined {
  const timestamp = isoTime(message["timestamp"]);
  switch (message["role"]) {
    case "user":
    case "system":
      return defined({
        role: message["role"],
        parts: piContent(message["content"], calls),
        timestamp,
        extra: restOf(message, knownFields),
      });
    case "assistant":
      return defined({
        role: "assistant" as const,
        parts: piContent(message["content"], calls),
        timestamp,
        status: isCutOff(message["stopReason"]) ? ("interrupted" as const) : undefined,
        model: asName(message["model"]),
        usage: piUsage(message["usage"]),
        extra: defined({ ...restOf(message, knownFields), stopReason: message["stopReason"] }) as JsonObject,
      });
    case "toolResult":
      return defined({
        role: "tool" as const,
        parts: [resultPart(message, calls)],
        timestamp,
        extra: restOf(message, knownFields),
      });
    case "bashExecution":
      // A command's output is shown in the user's role: it must not pass for the user's words.
      return defined({
        role: "user" as const,
        status: "synthetic" as const,
        parts: textParts(bashText(message)),
        timestamp,
        extra: restOf(message, knownFields),
      });
    case "custom":
    case "hookMessage":
      return defined({
        role: "user" as const,
        parts: piContent(message["content"], calls),
        timestamp,
        extra: restOf(message, new Set([...knownFields, "type", "id", "parentId"])),
      });
    case "branchSummary":
    case "compactionSummary":
      return defined({
        role: "user" as const,
        parts: textParts(`${summaryLabel}\n${asString(message["summary"]) ?? ""}`),
        timestamp,
        extra: { role: message["role"] },
      });
    default:
      return undefined;
  }
}

function isCutOff(stopReason: JsonValue | undefined): boolean {
  return stopReason === "aborted" || stopReason === "error";
}

function piUsage(value: JsonValue | undefined): NewMessage["usage"] {
  const counts = asObject(value);
  return counts && usageBesideCache(counts["input"], counts["output"], counts["cacheRead"], counts["cacheWrite"]);
}

function piContent(content: JsonValue | undefined, calls: CallPairing): readonly Part[] {
  if (typeof content === "string") return textParts(content);
  return (asArray(content) ?? []).map((block) => piPart(block, calls));
}

function piPart(block: JsonValue, calls: CallPairing): Part {
  const object = asObject(block) ?? {};
  const text = asString(object["text"]);
  if (object["type"] === "text" && text !== undefined) {
    return { type: "text", text, ...opaqueRest(object, ["type", "text"]) };
  }
  if (object["type"] === "thinking") {
    const signature = asName(object["thinkingSignature"]);
    return {
      type: "reasoning",
      text: asString(object["thinking"]) ?? "",
      ...(signature === undefined ? {} : { signature }),
      ...opaqueRest(object, ["type", "thinking", "thinkingSignature"]),
    };
  }
  const data = asString(object["data"]);
  if (object["type"] === "image" && data !== undefined) {
    return { type: "image", mediaType: asName(object["mimeType"]) ?? "image/*", data };
  }
  const name = asName(object["name"]);
  if (object["type"] === "toolCall" && name !== undefined) {
    const partial = callArguments(object["partialJson"]);
    return {
      type: "tool-call",
      callId: calls.call(asName(object["id"]), name),
      name,
      ...(partial.argsText === undefined ? callArguments(object["arguments"]) : partial),
      ...opaqueRest(object, ["type", "id", "name", "arguments", "partialJson"]),
    };
  }
  return opaquePart(block, format);
}

function resultPart(message: JsonObject, calls: CallPairing): Part {
  const { content } = message;
  return {
    type: "tool-result",
    ...calls.result(asName(message["toolCallId"]), asName(message["toolName"])),
    content: typeof content === "string" ? content : resultContent(piContent(content, calls)),
    ...(message["isError"] === true ? { isError: true } : {}),
  };
}

/** The text that pi sends to the model for a command at the user's terminal, marked as a record. */
function bashText(message: JsonObject): string {
  const output = asName(message["output"]);
  const exitCode = message["exitCode"];
  const end =
    message["cancelled"] === true
      ? "\n\n(command cancelled)"
      : typeof exitCode === "number" && exitCode !== 0
        ? `\n\nCommand exited with code ${exitCode}`
        : "";
  const shown = output === undefined ? "(no output)" : `\`\`\`\n${output}\n\`\`\``;
  return `${commandLabel}\nRan \`${asString(message["command"]) ?? ""}\`\n${shown}${end}`;
}

function compaction(row: JsonObject, after: number): JsonValue {
  return defined({ after, summary: row["summary"], tokensBefore: row["tokensBefore"] }) as JsonObject;
}
