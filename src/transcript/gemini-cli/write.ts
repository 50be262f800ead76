/** Sessions of Gemini CLI: JSON lines, with each result in the record of its call. */
import { createHash } from "node:crypto";
import type {
  JsonObject,
  JsonValue,
  Message,
  Part,
  ToolCallPart,
  ToolResultPart,
  Usage,
} from "../../message/message.ts";
import { recordedBlock } from "../../shape/gemini/parts.ts";
import { flatly } from "../../shape/keeper.ts";
import { onlyText, splitResults } from "../encoder.ts";
import type { TranscriptEncoder, TranscriptHead } from "../encoder.ts";
import { asName, asObject, defined } from "../../message/json.ts";

const format = "gemini-cli";

const recorded = flatly(format);

const blockOf = (part: Part): readonly JsonValue[] => recordedBlock(part, recorded);

/** Writes sessions for `gemini --resume`. */
export const geminiCliEncoder: TranscriptEncoder = {
  format,
  cannotHold: ["system", "arguments", "media", "opaque-part", "opaque", "id", "timestamp", "usage", "status", "extra"],
  encode(head, messages) {
    const projectHash = createHash("sha256")
      .update(head.cwd ?? "/")
      .digest("hex");
    const lastUpdated = messages.findLast(({ timestamp }) => timestamp !== undefined)?.timestamp ?? head.createdAt;
    const about = { sessionId: head.id, projectHash, startTime: head.createdAt, lastUpdated, kind: "main" };
    const answers = answersOf(messages);
    return [about, ...messages.flatMap((message) => recordsOf(message, head, answers))];
  },
};

interface Answer {
  readonly result: ToolResultPart;
  readonly timestamp: string | undefined;
}

/** Tool results by the call that they answer. A result without such a call is written with its own message. */
type Answers = ReadonlyMap<ToolCallPart, Answer>;

function answersOf(messages: readonly Message[]): Answers {
  const open = new Map<string, ToolCallPart[]>();
  const answers = new Map<ToolCallPart, Answer>();
  for (const { parts, timestamp } of messages) {
    for (const part of parts) {
      if (part.type === "tool-call") open.set(part.callId, [...(open.get(part.callId) ?? []), part]);
      else if (part.type === "tool-result") {
        const call = open.get(part.callId)?.shift();
        if (call) answers.set(call, { result: part, timestamp });
      }
    }
  }
  return answers;
}

function recordsOf(message: Message, head: TranscriptHead, answers: Answers): readonly JsonObject[] {
  const { id, role, timestamp = head.createdAt } = message;
  const { results, spoken } = splitResults(message);
  if (role === "system") return [];
  if (role === "assistant") return [{ id, timestamp, ...geminiFields(message, spoken, head, answers, timestamp) }];
  const paired = new Set([...answers.values()].map(({ result }) => result));
  const loose = results.filter((result) => !paired.has(result)).flatMap(responseBlocks);
  const content = [...loose, ...spoken.flatMap(blockOf)];
  if (content.length === 0 && results.length > 0) return [];
  return [{ id, timestamp, type: "user", content: loose.length === 0 ? (onlyText(spoken) ?? content) : content }];
}

function geminiFields(
  message: Message,
  spoken: readonly Part[],
  head: TranscriptHead,
  answers: Answers,
  time: string,
): JsonObject {
  const thoughts = spoken.flatMap((part) =>
    part.type === "reasoning" && part.signature === undefined ? [thoughtOf(part, time)] : [],
  );
  const said = spoken.filter(
    (part) => part.type !== "tool-call" && (part.type !== "reasoning" || part.signature !== undefined),
  );
  const calls = spoken.flatMap((part) => {
    if (part.type !== "tool-call") return [];
    const { callId: id, name, args } = part;
    const { result, timestamp = time } = answers.get(part) ?? {};
    const status = result === undefined ? "cancelled" : result.isError === true ? "error" : "success";
    return [{ id, name, args, ...(result && { result: responseBlocks(result) }), status, timestamp }];
  });
  return defined({
    type: "gemini",
    content: said.length === 0 ? "" : (onlyText(said) ?? said.flatMap(blockOf)),
    thoughts,
    tokens: message.usage && tokensOf(message.usage),
    model: message.model ?? head.model,
    toolCalls: calls.length === 0 ? undefined : calls,
  }) as JsonObject;
}

function thoughtOf({ text, opaque }: Extract<Part, { type: "reasoning" }>, time: string): JsonObject {
  const about = asObject(opaque) ?? {};
  const subject = asName(about["subject"]);
  const starts = subject !== undefined && text.startsWith(`${subject}\n`);
  return {
    ...(starts && { subject }),
    description: starts ? text.slice(subject.length + 1) : text,
    timestamp: asName(about["timestamp"]) ?? time,
  };
}

function tokensOf({ input = 0, output = 0, cacheRead = 0, reasoning = 0 }: Usage): JsonObject {
  const answer = Math.max(0, output - reasoning);
  return { input, output: answer, cached: cacheRead, thoughts: reasoning, tool: 0, total: input + answer + reasoning };
}

/** Writes a response, then the parts of the result that are not text. */
function responseBlocks({ callId: id, name = "", content, isError }: ToolResultPart): readonly JsonValue[] {
  const items = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const text = items.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n");
  const response = { [isError === true ? "error" : "output"]: text };
  return [
    { functionResponse: { id, name, response } },
    ...items.flatMap((item) => (item.type === "text" ? [] : blockOf(item))),
  ];
}
