/** The recall tool in the shape of OpenAI's Responses API. */
import { asObject, asString } from "../../message/json.ts";
import type { JsonValue, ToolDefinition } from "../../message/message.ts";
import { definitionOf, recallToolOver } from "./recall-source.ts";
import type { RecallSource, RecallToolOptions } from "./recall-source.ts";

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
 * The recall tool for a loop of one's own over OpenAI's Responses API: its declaration, and the answers to its calls.
 *
 * @param source - a session, or `() => fromResponses(items)`
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
