/** Model messages of the AI SDK as its UI messages: what `useChat` shows after a reload. */
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { asArray, asName, asObject, asString, defined } from "../../message/json.ts";
import type { Session } from "../../session/session.ts";
import { loggedMessages } from "../host/given-session.ts";
import { aiSdkAdapter } from "./message.ts";
import type { AiSdkMessage } from "./message.ts";
import { marked, unwrap } from "./bytes.ts";

/** A part of a UI message: `text`, `reasoning`, `file`, `step-start`, or `tool-<name>` with its state. */
export interface AiSdkUiPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A message of `useChat`: the SDK's `UIMessage`. An answer holds all its steps. */
export interface AiSdkUiMessage {
  readonly id: string;
  readonly role: "system" | "user" | "assistant";
  readonly parts: AiSdkUiPart[];
}

/** A message as the SDK has it, under its id in a session's log. */
export interface NumberedMessage {
  readonly id: string;
  readonly message: AiSdkMessage;
}

/** The messages of a session's log in the SDK's shape. */
export async function numbered(session: Session, owner: string): Promise<readonly NumberedMessage[]> {
  const messages = await loggedMessages(session, owner);
  return messages.flatMap((one) => aiSdkAdapter.encode([one]).map((message) => ({ id: one.id, message })));
}

/** UI messages of model messages with their ids; an answer's steps and their results become one message. */
export function aiSdkUiMessagesOf(messages: readonly NumberedMessage[]): AiSdkUiMessage[] {
  const shown: AiSdkUiMessage[] = [];
  const calls = new Map<string, { fields: AiSdkUiPart; readonly answer: AiSdkUiPart[]; readonly at: number }>();
  const settle = (block: JsonObject): void => {
    const call = calls.get(asString(block["toolCallId"]) ?? "");
    if (call) call.answer[call.at] = { ...call.fields, ...outcome(asObject(block["output"]) ?? {}) };
  };
  for (const { id, message } of messages) {
    const { role } = message;
    const blocks = blocksOf(message);
    if (role === "tool") {
      blocks.filter(({ type }) => type === "tool-result").forEach(settle);
      continue;
    }
    const last = shown.at(-1);
    const answer = role === "assistant" && last?.role === "assistant" ? last : newMessage(id, role);
    if (answer !== last) shown.push(answer);
    if (role === "assistant") answer.parts.push({ type: "step-start" });
    for (const block of blocks) {
      if (block["type"] === "tool-result") settle(block);
      const part = uiPart(block);
      if (!part) continue;
      const at = answer.parts.push(part) - 1;
      const callId = asName(part["toolCallId"]);
      if (callId !== undefined) calls.set(callId, { fields: part, answer: answer.parts, at });
    }
  }
  return shown;
}

function newMessage(id: string, role: string): AiSdkUiMessage {
  return { id, role: role as AiSdkUiMessage["role"], parts: [] };
}

function blocksOf({ content }: AiSdkMessage): readonly JsonObject[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return (asArray(marked(content)) ?? []).map((block) => asObject(block) ?? {});
}

function uiPart(block: JsonObject): AiSdkUiPart | undefined {
  const { type, text, providerOptions: providerMetadata, providerExecuted } = block;
  switch (type) {
    case "text":
    case "reasoning":
      return { type, ...defined({ text, state: "done", providerMetadata }) };
    case "tool-call":
      return {
        type: `tool-${asString(block["toolName"]) ?? ""}`,
        toolCallId: asString(block["toolCallId"]) ?? "",
        state: "input-available",
        input: block["input"],
        ...defined({ providerExecuted, callProviderMetadata: providerMetadata }),
      };
    case "file":
    case "image": {
      const payload = unwrap(block[type === "image" ? "image" : "data"]);
      if (!payload) return undefined;
      const mediaType = asName(block["mediaType"]) ?? (type === "image" ? "image/png" : "application/octet-stream");
      const url = payload.url ?? `data:${mediaType};base64,${payload.data ?? ""}`;
      return { type: "file", mediaType, url, ...defined({ filename: block["filename"], providerMetadata }) };
    }
    default:
      return undefined;
  }
}

function outcome({ type, value, reason }: JsonObject): Readonly<Record<string, JsonValue>> {
  const text = (given: JsonValue | undefined): string =>
    typeof given === "string" ? given : JSON.stringify(given ?? "The call failed.");
  if (type === "error-text" || type === "error-json") return { state: "output-error", errorText: text(value) };
  if (type === "execution-denied") return { state: "output-error", errorText: text(reason ?? "The call was denied.") };
  return { state: "output-available", output: value ?? null };
}
