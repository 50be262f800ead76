/** The front door of Windrow. Subpaths hold the rest: `windrow/chat`, `windrow/store`, `windrow/transcript` … */
export { WindrowError, isWindrowError } from "./errors.ts";
export type { ErrorCode } from "./errors.ts";
export type { Message, NewMessage, Part, ToolDefinition, Usage } from "./message/message.ts";
export type { TokenCounter } from "./tokens/counter.ts";
export { countTokens } from "./tokens/counters.ts";
export { loadCounter } from "./tokens/exact.ts";
export type { ModelDescription } from "./tokens/models.ts";
export type { Lock, Scope, Store } from "./store/store.ts";
export { SessionManager } from "./session/manager/manager.ts";
export type { ManagerOptions } from "./session/manager/options.ts";
export type { Session } from "./session/session.ts";
export type { SessionEvent } from "./session/events.ts";
export { composeWindow } from "./window/compose.ts";
export { budgetOf } from "./window/budget.ts";
export { validateWindow } from "./window/provider/validate.ts";
export type { Profile } from "./window/provider/profile.ts";
export type { ComposeInput, Composed, Edit, Pass, Report, Strategy, WindowState } from "./window/window.ts";
