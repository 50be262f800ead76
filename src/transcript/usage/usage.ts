/**
 * The contract of a usage reader: it reads what each model call of a session used, and nothing else. Each format of a
 * coding agent has one; it sees only lines that can hold usage, so that large files take seconds.
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../message/message.ts";

/** The agents whose sessions are found and read. */
export const usageAgents = ["claude-code", "codex", "pi", "gemini-cli", "opencode"] as const;

/** The name of an agent; for a file it is also its format. */
export type UsageAgent = (typeof usageAgents)[number];

/** A place with the usage of calls: a session's file, opencode's database, or its folder of one session's messages. */
export interface FoundUsage {
  readonly path: string;
  readonly agent: UsageAgent;
  /** The time of the last change, in milliseconds since 1970; of a folder, that of its newest file. */
  readonly modifiedMs: number;
  /** The size in bytes, all files of a folder together. */
  readonly bytes: number;
}

/** The tokens of one model call, as its session reports them. */
export interface CallUsage {
  /** When it ended, in milliseconds since 1970; undefined where the session does not say. */
  readonly time: number | undefined;
  /** The model's id as the session writes it; empty where it does not. */
  readonly model: string;
  /** The folder that the session began in; empty where it does not say. */
  readonly project: string;
  /** All input tokens of the request, cached ones included. */
  readonly input: number;
  /** Output tokens, reasoning included. */
  readonly output: number;
  /** Input tokens that were read from the provider's cache. */
  readonly cacheRead: number;
  /** Input tokens that were written to the provider's cache. */
  readonly cacheWrite: number;
  /** Those of `cacheWrite` that the cache keeps for an hour; absent for none. */
  readonly cacheWriteHour?: number;
  /** The conversation within the file, so that a sub-agent's requests are not taken for the main one's. */
  readonly chain: string;
  /** The call's identity, by {@link keyOf}: a session that was resumed or forked may hold copies of an older file's calls. */
  readonly key: number;
  /** The keys that the same call may have in the file of an agent; absent where nobody knows. */
  readonly others?: readonly number[];
}

/** A reader of one file. It is told lines in their order, and asked at the end. */
export interface UsageReader {
  /** Strings that a line must hold all of to be told; a line is told where it fits one of the lists. */
  readonly needles: readonly (readonly string[])[];
  /** Takes a line that may hold usage. */
  add(row: JsonObject): void;
  /** The calls, one for each request, in the order of the file. */
  end(): readonly CallUsage[];
}

/** The calls of a file, each request once: a later report of the same request replaces the earlier one. */
export class CallList {
  readonly #calls = new Map<string, Omit<CallUsage, "key">>();

  /** Adds a call, or replaces the one with its identity. A call that used nothing is left out. */
  add(identity: string, call: Omit<CallUsage, "key">): void {
    if (call.input > 0 || call.output > 0) this.#calls.set(identity, call);
  }

  /** The calls that were added, those without a project given one. */
  end(project: string): readonly CallUsage[] {
    return [...this.#calls].map(([identity, call]) => ({
      ...call,
      project: call.project === "" ? project : call.project,
      key: keyOf(identity),
    }));
  }
}

/** A number for what identifies a call: 53 bits of a hash, so that a million calls have one of their own each. */
export function keyOf(identity: string): number {
  const hash = createHash("sha1").update(identity).digest();
  return hash.readUIntBE(0, 6) * 32 + ((hash[6] ?? 0) >> 3);
}

/** A time as agents write it, ISO 8601 or milliseconds; undefined for any other value. */
export function timeOf(value: unknown): number | undefined {
  const time = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(time) && time > 0 ? time : undefined;
}
