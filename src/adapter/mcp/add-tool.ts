/** How MCP tools are registered: what they say of themselves, and that each answers with a text. */
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { isWindrowError } from "../../errors.ts";
import { inlineText } from "../../message/quote.ts";

/** The annotations of a tool that only reads. */
const reads = { readOnlyHint: true, openWorldHint: false } as const;

/** The annotations of a tool that writes and takes nothing away. */
export const writes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

/**
 * Registers a tool. An error of Windrow becomes an answer that says so.
 *
 * @param annotations - default: those of a tool that only reads
 */
export function addTool<Shape extends z.ZodRawShape>(
  server: McpServer,
  name: string,
  description: string,
  shape: Shape,
  run: (given: z.output<z.ZodObject<Shape>>, signal: AbortSignal) => Promise<string>,
  annotations: { readonly readOnlyHint: boolean; readonly destructiveHint?: boolean } = reads,
): void {
  const inputSchema = z.object(shape) as z.ZodType<object>;
  server.registerTool(name, { description, inputSchema, annotations }, async (given, { mcpReq: { signal } }) => {
    try {
      const text = await run(given as z.output<z.ZodObject<Shape>>, signal);
      return { content: [{ type: "text", text }] };
    } catch (error) {
      if (!isWindrowError(error)) throw error;
      return { content: [{ type: "text", text: `${error.code}: ${inlineText(error.message)}` }], isError: true };
    }
  });
}
