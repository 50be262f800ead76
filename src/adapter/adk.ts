/**
 * Google's Agent Development Kit (`@google/adk` 2): a plug-in that sends windows, a session service over any store, a
 * context compactor, a recall tool, and seed 000's ContextManager. ADK itself is never imported.
 */
export { ContextManager } from "./adk-context.ts";
export type { ContextMessage } from "./adk-context.ts";
export { contextCompactor } from "./adk-compactor.ts";
export type { ContextCompactor, ContextCompactorOptions } from "./adk-compactor.ts";
export { ContextManagementPlugin } from "./adk-plugin.ts";
export type { ContextManagementOptions } from "./adk-plugin.ts";
export { recallTool } from "./adk-recall.ts";
export type { RecallToolOptions } from "./adk-recall.ts";
export { createSessionService } from "./adk-sessions.ts";
export type {
  AdkContext,
  AdkEvent,
  AdkInvocation,
  AdkRequest,
  AdkResponse,
  AdkSession,
  AdkSessionKey,
  AdkTool,
} from "./adk-types.ts";
export { geminiAdapter } from "./gemini.ts";
export type { GeminiContent } from "./gemini.ts";
export type { AdapterEvent, AdapterListener } from "./journal.ts";
export type { ContextSnapshot, ContextStats, SnapshotUpdate } from "../session/snapshot.ts";
