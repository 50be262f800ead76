/** A tool for ADK that brings back what left a window. */
import { isWindrowError } from "../../errors.ts";
import type { ContextManagementPlugin } from "./plugin.ts";
import type { AdkContext } from "./types.ts";

/** What ADK's FunctionTool is made of. `parameters` is a schema of Gemini's. */
export interface RecallToolOptions {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
  readonly execute: (input: unknown, toolContext?: AdkContext) => Promise<object>;
}

/**
 * The recall tool for an agent whose Runner has the plug-in: `tools: [recallTool(FunctionTool, plugin), …]`. It takes
 * the `id` that a stub names (`m12`, `m12-m40`), or words to search for, and answers with at most 4,000 tokens.
 *
 * @param FunctionTool - ADK's class, which makes the tool
 */
export function recallTool<Tool>(
  FunctionTool: new (options: never) => Tool,
  plugin: ContextManagementPlugin,
  { name = "recall" }: { readonly name?: string } = {},
): Tool {
  const options: RecallToolOptions = {
    name,
    description:
      "Brings back earlier messages of this conversation that are no longer shown: by the id that stands in their place, or by words to look for.",
    parameters: {
      type: "OBJECT",
      properties: {
        id: { type: "STRING", description: "Such as m12, or m12-m40" },
        query: { type: "STRING", description: "Words, a path, a line" },
      },
    },
    async execute(input, toolContext) {
      if (!toolContext) return { error: "Recall works in a run of an agent." };
      const { id, query } = (input ?? {}) as { readonly id?: unknown; readonly query?: unknown };
      try {
        const found = await plugin.recall(
          {
            ...(typeof id === "string" && id !== "" && { id }),
            ...(typeof query === "string" && query !== "" && { query }),
          },
          toolContext.invocationContext,
        );
        return { result: found.text === "" ? "Nothing was found." : found.text, more: found.more };
      } catch (error) {
        if (isWindrowError(error)) return { error: error.message };
        throw error;
      }
    },
  };
  return new FunctionTool(options as never);
}
