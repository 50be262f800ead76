/** The tools of a memory for the OpenAI Agents SDK. */
import type { Memory } from "../../memory/memory.ts";
import { agentsToolOptions } from "./function-tool.ts";
import type { AgentsToolOptions } from "./function-tool.ts";
import { memoryToolsOf } from "../host/memory-tools.ts";
import type { MemoryToolsOptions } from "../host/memory-tools.ts";

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
