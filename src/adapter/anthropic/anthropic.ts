/** Messages of the Anthropic Messages API in and out, for loops that speak to a provider themselves. */
import { anthropicShape } from "../../shape/anthropic/anthropic.ts";
import type { AnthropicMessage } from "../../shape/anthropic/anthropic.ts";
import type { Adapter } from "../adapter.ts";

export { fromAnthropic, toAnthropic } from "../../shape/anthropic/anthropic.ts";
export type { AnthropicMessage, AnthropicRequest } from "../../shape/anthropic/anthropic.ts";
export type { RecallSource, RecallToolOptions } from "../host/recall-source.ts";
export { anthropicRecallTool } from "./recall.ts";
export type { AnthropicRecallTool } from "./recall.ts";
export { anthropicMemoryTool } from "./memory-tool.ts";
export type { AnthropicMemoryOptions, AnthropicMemoryTool } from "./memory-tool.ts";

/** {@link fromAnthropic} and {@link toAnthropic} as an Adapter; system messages keep their place in `encode`. */
export const anthropicAdapter: Adapter<AnthropicMessage> = anthropicShape;
