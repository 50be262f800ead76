/** Names of src/transcript that tests use and no door exports. */
export { decoders } from "../../../src/transcript/decoders.ts";
export { discoverSessions, discoverUsage } from "../../../src/transcript/discover.ts";
export { encoders } from "../../../src/transcript/encoders.ts";
export { JsonLines } from "../../../src/transcript/json-lines.ts";
export { lossBetween, lossKinds } from "../../../src/transcript/loss.ts";
export type { Loss } from "../../../src/transcript/loss.ts";
export { piEncoder } from "../../../src/transcript/pi/write.ts";
export type { Entry, Transcript, TranscriptSource } from "../../../src/transcript/transcript.ts";
export { readUsage } from "../../../src/transcript/usage/read.ts";
export type { CallUsage, FoundUsage } from "../../../src/transcript/usage/usage.ts";
