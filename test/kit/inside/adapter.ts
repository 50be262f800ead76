/** Names of src/adapter that tests use and no door exports. */
export type { AdkEvent, AdkInvocation, AdkRequest, AdkSession } from "../../../src/adapter/adk/types.ts";
export type { AiSdkFinishedStep } from "../../../src/adapter/ai-sdk/message.ts";
export { toolDefinitions } from "../../../src/adapter/ai-sdk/tools.ts";
export { Teller } from "../../../src/adapter/host/events.ts";
export { journalOf } from "../../../src/adapter/host/journal.ts";
export { readPrompt, systemText, writePrompt } from "../../../src/adapter/mastra/prompt.ts";
export { piExtension } from "../../../src/adapter/pi/extension.ts";
export type { PiExtensionApi, PiExtensionContext } from "../../../src/adapter/pi/extension.ts";
export type { PiAgent, PiAgentEvent, PiTool } from "../../../src/adapter/pi/host.ts";
