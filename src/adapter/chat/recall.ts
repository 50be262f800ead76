/** The recall tool in the shapes of OpenAI: of chat completions, and of the Responses API. */
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

/** The recall tool of a loop over the Responses API. */
export interface ResponsesRecallTool {
  /** For the request's `tools`. */
  readonly tool: {
    type: "function";
    name: string;
    description: string;
    parameters: { [field: string]: unknown };
    strict: false;
  };
  /** The same for `tools` of `composeWindow` and `Session.compose`, which count it. */
  readonly definition: ToolDefinition;
  /**
   * The item that answers a call of this tool; undefined for any other item. Wrong arguments are answered with what recall
   * takes; it never rejects.
   *
   * @param item - an item of `output`
   */
  readonly answer: (
    item: object,
  ) => Promise<{ type: "function_call_output"; call_id: string; output: string } | undefined>;
}

/**
 * As {@link chatRecallTool}, for a loop over OpenAI's Responses API.
 *
 * @param source - a session, or a function that gives the messages that windows are made of
 * @throws WindrowError `bad-option`, `unknown-counter`
 * @example
 * const recall = responsesRecallTool(session);
 * const calls = response.output.filter((item) => item.type === "function_call");
 * const outputs = await Promise.all(calls.map(async (call) => (await recall.answer(call)) ?? run(call)));
 */
export function responsesRecallTool(source: RecallSource, options?: RecallToolOptions): ResponsesRecallTool {
  const recall = recallToolOver("responsesRecallTool", source, options);
  const { name, description, inputSchema, execute } = recall;
  return {
    tool: { type: "function", name, description, parameters: { ...inputSchema }, strict: false },
    definition: definitionOf(recall),
    async answer(item) {
      const { type, name: asked, call_id: id, arguments: args } = asObject(item as JsonValue) ?? {};
      if (type !== "function_call" || asked !== name) return undefined;
      return { type: "function_call_output", call_id: asString(id) ?? "", output: await execute(args) };
    },
  };
}
