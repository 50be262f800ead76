/** Tools in the shape that the SDK's `tool()` takes: recall, and those of a memory. */
import type { Memory } from "../../memory/memory.ts";
import { memoryToolsOf } from "../host/memory-tools.ts";
import type { MemoryTool, MemoryToolsOptions } from "../host/memory-tools.ts";
import type { RecallTool } from "../host/recall-tool.ts";

/** Options for the SDK's `tool()`. */
export interface AgentsToolOptions {
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

/** A tool as options for the SDK's `tool()`, which keeps and changes what it is given. */
export function agentsToolOptions(tool: RecallTool | MemoryTool): AgentsToolOptions {
  const { name, description, inputSchema, execute } = tool;
  const required = "required" in inputSchema ? [...inputSchema.required] : [];
  const parameters = { ...inputSchema, properties: { ...inputSchema.properties }, required };
  return {
    name,
    description,
    parameters: { ...parameters, additionalProperties: true },
    strict: false,
    execute: (input) => execute(input),
  };
}

/**
 * Options for the SDK's `tool()`, one for each tool of a memory: `memory_search`, and with `files` also `remember`.
 *
 * @throws WindrowError `bad-option`, `unknown-counter`
 * @example
 * const agent = new Agent({ name, tools: agentsMemoryTools(manager.memory).map((options) => tool(options)) });
 */
export function agentsMemoryTools(memory: Memory, options: MemoryToolsOptions = {}): AgentsToolOptions[] {
  return memoryToolsOf("agentsMemoryTools", memory, options).map((tool) => agentsToolOptions(tool));
}
