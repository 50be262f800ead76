/** Sessions of Claude Code: a chain of lines by uuid and parentUuid, blocks of the Anthropic Messages API. */
import type { JsonObject, JsonValue, Message, Part } from "../../message/message.ts";
import { recordedBlock } from "../../shape/anthropic/parts.ts";
import { anthropicCounts } from "../../shape/anthropic/usage.ts";
import { onlyText, splitResults } from "../encoder.ts";
import type { TranscriptEncoder, TranscriptHead } from "../encoder.ts";
import { asName, asObject } from "../../message/json.ts";
import { claudeCodeBlocks, claudeCodeFlags as flags } from "./blocks.ts";

const format = "claude-code";

const blockOf = (part: Part): readonly JsonValue[] => recordedBlock(part, claudeCodeBlocks);

/** Writes sessions for `claude --resume`. Claude accepts only thinking that Claude signed. */
export const claudeCodeEncoder: TranscriptEncoder = {
  format,
  cannotHold: ["system", "arguments", "opaque-part", "media", "image", "opaque", "id", "usage", "status", "extra"],
  encode(head, messages) {
    const lines: JsonObject[] = [];
    let parentUuid: string | null = null;
    for (const message of messages) {
      for (const line of messageLines(message, head)) {
        lines.push({ parentUuid, ...line });
        parentUuid = asName(line["uuid"]) ?? parentUuid;
      }
    }
    return lines;
  },
};

function messageLines(message: Message, head: TranscriptHead): readonly JsonObject[] {
  const { id, role } = message;
  if (role === "system") return [];
  const { results, spoken } = splitResults(message);
  if (role === "assistant") return [lineOf(message, head, id, "assistant", assistantMessage(message, spoken, head))];
  const lines: JsonObject[] = [];
  if (results.length > 0)
    lines.push(lineOf(message, head, id, "user", { role: "user", content: results.flatMap(blockOf) }));
  if (spoken.length > 0 || results.length === 0) {
    const uuid = results.length > 0 ? `${id}/text` : id;
    const content = onlyText(spoken) ?? spoken.flatMap(blockOf);
    lines.push(lineOf(message, head, uuid, "user", { role: "user", content }));
  }
  return lines;
}

function lineOf({ timestamp, extra }: Message, head: TranscriptHead, uuid: string, type: string, message: JsonObject) {
  const set = Object.fromEntries(Object.entries(extra ?? {}).filter(([name]) => flags.includes(name)));
  return {
    isSidechain: false,
    userType: "external",
    cwd: head.cwd ?? "/",
    sessionId: head.id,
    version: "2.0.0",
    gitBranch: "",
    type,
    message,
    uuid,
    timestamp: timestamp ?? head.createdAt,
    ...set,
  };
}

function assistantMessage(message: Message, spoken: readonly Part[], head: TranscriptHead): JsonObject {
  const content = spoken.flatMap(blockOf);
  const calls = content.some((block) => asObject(block)?.["type"] === "tool_use");
  return {
    id: asName(message.extra?.["messageId"]) ?? `msg_${message.id}`,
    type: "message",
    role: "assistant",
    model: message.model ?? head.model ?? "<synthetic>",
    content,
    stop_reason: calls ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: anthropicCounts(message.usage ?? {}),
  };
}
