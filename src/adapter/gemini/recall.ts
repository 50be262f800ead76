/** The recall tool in the shape of Gemini's API. */
import { asObject, asString } from "../../message/json.ts";
import type { JsonValue, ToolDefinition } from "../../message/message.ts";
import { definitionOf, recallToolOver } from "../host/recall-source.ts";
import type { RecallSource, RecallToolOptions } from "../host/recall-source.ts";

/** The recall tool of a loop over Gemini's API. */
export interface GeminiRecallTool {
  /** For the request's `config.tools`. */
  readonly tool: {
    functionDeclarations: { name: string; description: string; parametersJsonSchema: { [field: string]: unknown } }[];
  };
  /** The same for `tools` of `composeWindow` and `Session.compose`, which count it. */
  readonly definition: ToolDefinition;
  /**
   * The part that answers a call of this tool; undefined for any other part. It goes, with all other responses, into the
   * next content of the user. Wrong arguments are answered with what recall takes, as an error; it never rejects.
   *
   * @param part - a part of the answer's content, with a `functionCall`
   */
  readonly answer: (
    part: object,
  ) => Promise<
    { functionResponse: { id?: string; name: string; response: { output: string } | { error: string } } } | undefined
  >;
}

/**
 * The recall tool for a loop of one's own over Gemini's API: its declaration, and the answers to its calls.
 *
 * @param source - a session, or `() => fromContents(contents)`
 * @throws WindrowError `bad-option`, `unknown-counter`
 * @example
 * const recall = geminiRecallTool(() => fromContents(contents), { budget: 32_000 });
 * const parts = await Promise.all(calls.map(async (call) => (await recall.answer(call)) ?? run(call)));
 */
export function geminiRecallTool(source: RecallSource, options?: RecallToolOptions): GeminiRecallTool {
  const recall = recallToolOver("geminiRecallTool", source, options);
  const { name, description, inputSchema, answer } = recall;
  return {
    tool: { functionDeclarations: [{ name, description, parametersJsonSchema: { ...inputSchema } }] },
    definition: definitionOf(recall),
    async answer(part) {
      const call = asObject(asObject(part as JsonValue)?.["functionCall"]);
      if (call?.["name"] !== name) return undefined;
      const { text, isError } = await answer(call["args"]);
      const id = asString(call["id"]);
      const response = isError ? { error: text } : { output: text };
      return { functionResponse: { ...(id !== undefined && { id }), name, response } };
    },
  };
}
