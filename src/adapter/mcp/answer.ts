/** The answers of MCP tools, and what they say of themselves. */
import { isWindrowError } from "../../errors.ts";
import { inlineText } from "../../message/quote.ts";

/** The annotations of a tool that only reads. */
export const reads = { readOnlyHint: true, openWorldHint: false } as const;

/** The annotations of a tool that writes and takes nothing away. */
export const writes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

/** An answer of a tool. */
export interface ToolAnswer {
  readonly [key: string]: unknown;
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly isError?: boolean;
}

/** A text as a tool's answer; an error of Windrow becomes one that says so. */
export async function answer(work: Promise<string>): Promise<ToolAnswer> {
  try {
    return { content: [{ type: "text", text: await work }] };
  } catch (error) {
    if (!isWindrowError(error)) throw error;
    return { content: [{ type: "text", text: `${error.code}: ${inlineText(error.message)}` }], isError: true };
  }
}
