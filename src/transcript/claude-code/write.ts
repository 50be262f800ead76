/** Sessions of Claude Code: a chain of lines by uuid and parentUuid, blocks of the Anthropic Messages API. */
import type { JsonObject, JsonValue, Message, Part, ToolResultPart, Usage } from "../../message/message.ts";
import { onlyText, ownOpaque, splitResults } from "../encoder.ts";
import type { TranscriptEncoder, TranscriptHead } from "../encoder.ts";
import { asName, asObject, defined } from "../../message/json.ts";

const format = "claude-code";

/** Fields of blocks that the API knows besides the common ones. */
const blockFields = ["citations", "cache_control", "caller", "context"];

const flags = ["isMeta", "isApiErrorMessage", "isVisibleInTranscriptOnly", "origin"];

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
    lines.push(lineOf(message, head, id, "user", { role: "user", content: results.map(resultBlock) }));
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
    usage: usageOf(message.usage ?? {}),
  };
}

function usageOf({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWriteHour = 0 }: Usage): JsonObject {
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    ...(cacheWriteHour > 0 && {
      cache_creation: {
        ephemeral_5m_input_tokens: Math.max(0, cacheWrite - cacheWriteHour),
        ephemeral_1h_input_tokens: cacheWriteHour,
      },
    }),
  };
}

function resultBlock({ callId, content, isError, ...part }: ToolResultPart): JsonObject {
  return {
    type: "tool_result",
    tool_use_id: callId,
    content: typeof content === "string" ? content : content.flatMap(blockOf),
    ...(isError === true && { is_error: true }),
    ...ownOpaque(part, blockFields),
  };
}

function blockOf(part: Part): readonly JsonValue[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text, ...ownOpaque(part, blockFields) }];
    case "reasoning":
      return asObject(part.opaque)?.["type"] === "redacted_thinking"
        ? [{ type: "redacted_thinking", data: part.signature ?? "" }]
        : [{ type: "thinking", thinking: part.text, signature: part.signature ?? "" }];
    case "tool-call":
      return [
        {
          type: "tool_use",
          id: part.callId,
          name: part.name,
          input: part.args,
          ...ownOpaque(part, blockFields),
        },
      ];
    case "image":
    case "file": {
      const source =
        part.data === undefined
          ? part.url === undefined
            ? undefined
            : { type: "url", url: part.url }
          : { type: "base64", media_type: part.mediaType, data: part.data };
      if (source === undefined) return [];
      const title = part.type === "file" ? part.name : undefined;
      return [
        defined({
          type: part.type === "image" ? "image" : "document",
          source,
          title,
          ...ownOpaque(part, blockFields),
        }) as JsonObject,
      ];
    }
    case "opaque":
      return /^(claude-code|anthropic)\//.test(part.kind) ? [part.data] : [];
    case "tool-result":
      return [resultBlock(part)];
  }
}
