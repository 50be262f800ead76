/** The recall tool in the shape of chat completions. */
import { asObject, asString } from "../../message/json.ts";
import type { JsonValue, ToolDefinition } from "../../message/message.ts";
import { definitionOf, recallToolOver } from "../host/recall-source.ts";
import type { RecallSource, RecallToolOptions } from "../host/recall-source.ts";

/** The recall tool of a loop over chat completions. */
export interface ChatRecallTool {
  /** For the request's `tools`. */
  readonly tool: {
    type: "function";
    function: { name: string; description: string; parameters: { [field: string]: unknown } };
  };
  /** The same for `tools` of `composeWindow` and `Session.compose`, which count it. */
  readonly definition: ToolDefinition;
  /**
   * The message that answers a call of this tool; undefined for a call of another one. Wrong arguments are answered with
   * what recall takes; it never rejects.
   *
   * @param call - an entry of `tool_calls`
   */
  readonly answer: (call: object) => Promise<{ role: "tool"; tool_call_id: string; content: string } | undefined>;
}

/**
 * The recall tool for a loop of one's own over chat completions: its declaration, and the answers to its calls.
 *
 * @param source - a session, or `() => fromChat(history)`
 * @throws WindrowError `bad-option`, `unknown-counter`
 * @example
 * const recall = chatRecallTool(() => fromChat(history), { budget: 32_000 });
 * for (const call of message.tool_calls ?? []) history.push((await recall.answer(call)) ?? (await run(call)));
 */
export function chatRecallTool(source: RecallSource, options?: RecallToolOptions): ChatRecallTool {
  const recall = recallToolOver("chatRecallTool", source, options);
  const { name, description, inputSchema, execute } = recall;
  return {
    tool: { type: "function", function: { name, description, parameters: { ...inputSchema } } },
    definition: definitionOf(recall),
    async answer(call) {
      const { id, function: called } = asObject(call as JsonValue) ?? {};
      const { name: asked, arguments: args } = asObject(called) ?? {};
      if (asked !== name) return undefined;
      return { role: "tool", tool_call_id: asString(id) ?? "", content: await execute(args) };
    },
  };
}
