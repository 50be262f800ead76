/** `windrow/adapter`: the contract, one host conversation, the recall tool, and the tools of a memory. */
export type { JsonObject, JsonValue, ResultContent } from "../message/message.ts";
export { CallPairing } from "../message/parts.ts";
export type { Adapter } from "./adapter.ts";
export { HostConversation } from "./host/conversation.ts";
export type {
  ConversationHost,
  ConversationOptions,
  HostCall,
  HostWindow,
  WindowOptions,
} from "./host/conversation.ts";
export type { AdapterEvent, AdapterListener } from "./host/events.ts";
export { badMessage, hostMessage, keep, keptOf, Originals } from "../shape/host-fields.ts";
export { memoryTools } from "./host/memory-tools.ts";
export type { MemoryTool, MemoryToolsOptions } from "./host/memory-tools.ts";
export { recallDeclaration, recallTool } from "./host/recall-tool.ts";
export type { RecallTool } from "./host/recall-tool.ts";
export { toolDefinition } from "./host/tool-definition.ts";
