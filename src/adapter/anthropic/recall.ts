/** The recall tool in the shape of the Anthropic Messages API. */
import { asObject, asString } from "../../message/json.ts";
import type { JsonValue, ToolDefinition } from "../../message/message.ts";
import { definitionOf, recallToolOver } from "../host/recall-source.ts";
import type { RecallSource, RecallToolOptions } from "../host/recall-source.ts";

/** The recall tool of a loop over the Messages API. */
export interface AnthropicRecallTool {
  /** For the request's `tools`. */
  readonly tool: {
    name: string;
    description: string;
    input_schema: { type: "object"; properties: { [field: string]: unknown }; additionalProperties: false };
  };
  /** The same for `tools` of `composeWindow` and `Session.compose`, which count it. */
  readonly definition: ToolDefinition;
  /**
   * The block that answers a use of this tool; undefined for any other block. It goes, with all other results, into the
   * next user message. Wrong arguments are answered with what recall takes, as an error; it never rejects.
   *
   * @param block - a block of the answer's `content`
   */
  readonly answer: (
    block: object,
  ) => Promise<{ type: "tool_result"; tool_use_id: string; content: string; is_error?: true } | undefined>;
}

/**
 * The recall tool for a loop of one's own over the Messages API: its declaration, and the answers to its uses.
 *
 * @param source - a session, or `() => fromAnthropic(history)`
 * @throws WindrowError `bad-option`, `unknown-counter`
 * @example
 * const recall = anthropicRecallTool(() => fromAnthropic(history), { budget: 32_000 });
 * const results = await Promise.all(calls.map(async (call) => (await recall.answer(call)) ?? run(call)));
 */
export function anthropicRecallTool(source: RecallSource, options?: RecallToolOptions): AnthropicRecallTool {
  const recall = recallToolOver("anthropicRecallTool", source, options);
  const { name, description, inputSchema, answer } = recall;
  const schema = { ...inputSchema, properties: { ...inputSchema.properties } };
  return {
    tool: { name, description, input_schema: schema },
    definition: definitionOf(recall),
    async answer(block) {
      const { type, id, name: asked, input } = asObject(block as JsonValue) ?? {};
      if (type !== "tool_use" || asked !== name) return undefined;
      const { text, isError } = await answer(input);
      const given = { type: "tool_result", tool_use_id: asString(id) ?? "", content: text } as const;
      return isError ? { ...given, is_error: true } : given;
    },
  };
}
