/** `windrow/transcript`: recorded sessions of other agents, read and replayed. docs/transcripts.md describes the formats. */
export { readTranscripts } from "../transcript/read.ts";
export type { ReadOptions } from "../transcript/read.ts";
export { replay } from "./replay.ts";
export type { ReplayedSession, ReplayOptions, ReplayProgress, ReplayResult } from "./replay.ts";
