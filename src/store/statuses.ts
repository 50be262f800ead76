/** The stages of a session's life as a list, for readers of files and of command lines. */
import type { SessionStatus } from "./store.ts";

/** Every stage of a session's life, in order. */
export const sessionStatuses: readonly SessionStatus[] = [
  "initializing",
  "processing",
  "compressing",
  "closed",
  "completing",
  "completed",
  "failed",
  "timeout",
];
