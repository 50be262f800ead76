/**
 * Google's Agent Development Kit (`@google/adk` 2): a plug-in that sends windows, a session service and a memory service over
 * any store, a recall tool, and a ContextManager. ADK itself is never imported.
 */
export { ContextManager } from "./context.ts";
export { createMemoryService } from "./memory.ts";
export type { AdkMemoryService } from "./memory.ts";
export { ContextManagementPlugin } from "./plugin.ts";
export type { ContextManagementOptions } from "./plugin.ts";
export { recallTool } from "./recall.ts";
export { createSessionService } from "./sessions.ts";
export { geminiAdapter } from "../gemini/gemini.ts";
export type { ContextSnapshot } from "../../session/state/snapshot.ts";
export type { ContextStats } from "../../session/stats-line.ts";
