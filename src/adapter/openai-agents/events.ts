/** Readers of the OpenAI Agents SDK's events, usage and tools. */
import { parseJson } from "../../message/json.ts";
import type { JsonValue, ToolDefinition, Usage } from "../../message/message.ts";
import { toolDefinition } from "../host/tool-definition.ts";

/** A call of a tool. */
export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonValue;
}

/** The call of a tool's event: the event's last argument names it. */
export function toolCallOf(given: readonly unknown[]): ToolCall | undefined {
  const { toolCall } = (given.at(-1) ?? {}) as { readonly toolCall?: Readonly<Record<string, unknown>> };
  const { callId, name, type, arguments: text } = toolCall ?? {};
  if (typeof callId !== "string" || callId === "") return undefined;
  const tool = typeof name === "string" ? name : String(type);
  if (typeof text !== "string") return { callId, name: tool, args: {} };
  return { callId, name: tool, args: parseJson(text) ?? text };
}

/** The usage of one model call, as the SDK reports it. */
export function usageOf(entry: unknown): Usage {
  const { inputTokens, outputTokens, inputTokensDetails } = entry as {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly inputTokensDetails?: { readonly cached_tokens?: number };
  };
  const cacheRead = inputTokensDetails?.cached_tokens;
  return {
    ...(inputTokens !== undefined && { input: inputTokens }),
    ...(outputTokens !== undefined && { output: outputTokens }),
    ...(cacheRead !== undefined && { cacheRead }),
  };
}

/** An agent's own tools. */
export function toolsOf(tools: readonly unknown[]): readonly ToolDefinition[] {
  return tools.flatMap((tool) => {
    const { name, description, parameters } = (tool ?? {}) as Readonly<Record<string, unknown>>;
    return typeof name === "string" ? [toolDefinition(name, description, parameters)] : [];
  });
}
