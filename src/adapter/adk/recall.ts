/** A tool for ADK that brings back what left a window. */
import { recallTool as toolOver } from "../host/recall-tool.ts";
import type { ContextManagementPlugin } from "./plugin.ts";
import type { AdkContext } from "./types.ts";

/** Options of ADK's FunctionTool. `parameters` is a schema of Gemini's. */
interface RecallToolOptions {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
  readonly execute: (input: unknown, toolContext?: AdkContext) => Promise<object>;
}

/**
 * The recall tool for an agent whose Runner has the plug-in: `tools: [recallTool(FunctionTool, plugin), …]`. It takes the `id` that a note names (`m12`, `m12-m40`), or words to look for.
 *
 * @param FunctionTool - ADK's class, which makes the tool
 */
export function recallTool<Tool>(
  FunctionTool: new (options: never) => Tool,
  plugin: ContextManagementPlugin,
  { name }: { readonly name?: string } = {},
): Tool {
  const toolFor = (context?: AdkContext): ReturnType<typeof toolOver> =>
    toolOver(
      async (query) => {
        if (!context) throw new Error("Recall works in a run of an agent.");
        return plugin.recall(query, context.invocationContext);
      },
      name === undefined ? {} : { name },
    );
  const { inputSchema, name: given, description } = toolFor();
  const { id, query } = inputSchema.properties;
  const options: RecallToolOptions = {
    name: given,
    description,
    parameters: { type: "OBJECT", properties: { id: { ...id, type: "STRING" }, query: { ...query, type: "STRING" } } },
    async execute(input, toolContext) {
      const { text, isError, more } = await toolFor(toolContext).answer(input);
      return isError ? { error: text } : { result: text, more };
    },
  };
  return new FunctionTool(options as never);
}
