/** The tools of a memory for the OpenAI Agents SDK. */
import type { Memory } from "../../memory/memory.ts";
import { memoryToolsOf } from "../host/memory-tools.ts";
import type { MemoryToolsOptions } from "../host/memory-tools.ts";

/** Options for the SDK's `tool()`. */
export interface AgentsMemoryTool {
  name: string;
  description: string;
  parameters: {
    type: "object";
    properties: Record<string, { type: "string"; description: string }>;
    required: string[];
    additionalProperties: true;
  };
  strict: false;
  execute: (input: unknown) => Promise<string>;
}

/**
 * Options for the SDK's `tool()`, one for each tool of a memory: `memory_search`, and with `files` also `remember`.
 *
 * @throws WindrowError `bad-option`, `unknown-counter`
 * @example
 * const agent = new Agent({ name, tools: agentsMemoryTools(manager.memory).map((options) => tool(options)) });
 */
export function agentsMemoryTools(memory: Memory, options: MemoryToolsOptions = {}): AgentsMemoryTool[] {
  return memoryToolsOf("agentsMemoryTools", memory, options).map(({ name, description, inputSchema, execute }) => ({
    name,
    description,
    parameters: {
      ...inputSchema,
      properties: { ...inputSchema.properties },
      required: [...inputSchema.required],
      additionalProperties: true,
    },
    strict: false,
    execute: (input) => execute(input),
  }));
}
