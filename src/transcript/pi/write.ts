/** Sessions of the pi coding agent, version 3: a header and a chain of entries by id and parentId. */
import type { JsonObject, JsonValue, Message, Part, ToolResultPart, Usage } from "../../message/message.ts";
import { onlyText, ownOpaque, splitResults } from "../encoder.ts";
import type { TranscriptEncoder, TranscriptHead } from "../encoder.ts";
import { asName, defined } from "../../message/json.ts";

const format = "pi";

/** Fields of pi's blocks besides the common ones. */
const blockFields = ["textSignature", "thoughtSignature", "redacted"];

/** Writes sessions for the pi coding agent. */
export const piEncoder: TranscriptEncoder = {
  format,
  cannotHold: ["image", "file", "media", "opaque-part", "opaque", "id", "usage", "status", "extra"],
  encode(head, messages) {
    const { id, createdAt, cwd = "/" } = head;
    const lines: JsonObject[] = [{ type: "session", version: 3, id, timestamp: createdAt, cwd }];
    let parentId: string | null = null;
    for (const message of messages) {
      for (const [index, said] of messagesOf(message, head).entries()) {
        const entryId: string = index === 0 ? message.id : `${message.id}-${index + 1}`;
        const timestamp = message.timestamp ?? createdAt;
        const inMessage = { ...said, timestamp: Date.parse(timestamp) };
        lines.push({ type: "message", id: entryId, parentId, timestamp, message: inMessage });
        parentId = entryId;
      }
    }
    return lines;
  },
};

/** Splits a message: pi has one for each result. */
function messagesOf(message: Message, head: TranscriptHead): readonly JsonObject[] {
  const { results, spoken } = splitResults(message);
  const said = results.map((result): JsonObject => ({ ...message.extra, ...resultFields(result) }));
  if (spoken.length === 0 && results.length > 0) return said;
  const { role } = message;
  if (role === "assistant") return [...said, assistantFields(message, spoken, head)];
  // A command that pi's reader read: its fields are pi's own, and say all that the text says.
  if (message.status === "synthetic" && asName(message.extra?.["command"]) !== undefined)
    return [...said, { ...message.extra, role: "bashExecution" }];
  const content = onlyText(spoken) ?? spoken.flatMap(blockOf);
  return [...said, { ...message.extra, role: role === "system" ? role : "user", content }];
}

function assistantFields(message: Message, spoken: readonly Part[], head: TranscriptHead): JsonObject {
  const calls = spoken.some(({ type }) => type === "tool-call");
  const stopped = message.status === "interrupted" ? "aborted" : calls ? "toolUse" : "stop";
  return {
    api: "unknown",
    provider: "unknown",
    ...message.extra,
    role: "assistant",
    content: spoken.flatMap(blockOf),
    model: message.model ?? head.model ?? "unknown",
    usage: usageOf(message.usage ?? {}),
    stopReason: message.status === "interrupted" ? stopped : (asName(message.extra?.["stopReason"]) ?? stopped),
  };
}

function usageOf({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0 }: Usage): JsonObject {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const uncached = Math.max(0, input - cacheRead - cacheWrite);
  return { input: uncached, output, cacheRead, cacheWrite, totalTokens: input + output, cost };
}

function resultFields({ callId, name, content, isError }: ToolResultPart): JsonObject {
  return {
    role: "toolResult",
    toolCallId: callId,
    toolName: name ?? "",
    content: typeof content === "string" ? [{ type: "text", text: content }] : content.flatMap(blockOf),
    isError: isError === true,
  };
}

function blockOf(part: Part): readonly JsonValue[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text, ...ownOpaque(part, blockFields) }];
    case "reasoning":
      return [
        defined({
          type: "thinking",
          thinking: part.text,
          thinkingSignature: part.signature,
          ...ownOpaque(part, blockFields),
        }) as JsonObject,
      ];
    case "tool-call":
      return [
        defined({
          type: "toolCall",
          id: part.callId,
          name: part.name,
          arguments: part.args,
          partialJson: part.argsText,
          ...ownOpaque(part, blockFields),
        }) as JsonObject,
      ];
    case "image":
      return part.data === undefined ? [] : [{ type: "image", data: part.data, mimeType: part.mediaType }];
    case "opaque":
      return part.kind.startsWith(`${format}/`) ? [part.data] : [];
    default:
      return [];
  }
}
