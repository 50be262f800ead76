/** Readers of the OpenAI Agents SDK's events, usage and tools. */
import { parseJson } from "../../message/json.ts";
import type { ToolDefinition, Usage } from "../../message/message.ts";
import type { StartedTool } from "../host/journal.ts";
import { usageBy } from "../host/usage.ts";
import { toolDefinition } from "../host/tool-definition.ts";

/** The call of a tool's event: the event's last argument names it. */
export function toolCallOf(given: readonly unknown[]): StartedTool | undefined {
  const { toolCall } = (given.at(-1) ?? {}) as { readonly toolCall?: Readonly<Record<string, unknown>> };
  const { callId, name, type, arguments: text } = toolCall ?? {};
  if (typeof callId !== "string" || callId === "") return undefined;
  const tool = typeof name === "string" ? name : String(type);
  if (typeof text !== "string") return { callId, name: tool, args: {} };
  return { callId, name: tool, args: parseJson(text) ?? text };
}

/** The usage of one model call, as the SDK reports it. */
export function usageOf(entry: unknown): Usage {
  const names = { input: "inputTokens", output: "outputTokens", cacheRead: "inputTokensDetails.cached_tokens" };
  return usageBy(entry, names) ?? {};
}

/** An agent's own tools. */
export function toolsOf(tools: readonly unknown[]): readonly ToolDefinition[] {
  return tools.flatMap((tool) => {
    const { name, description, parameters } = (tool ?? {}) as Readonly<Record<string, unknown>>;
    return typeof name === "string" ? [toolDefinition(name, description, parameters)] : [];
  });
}
