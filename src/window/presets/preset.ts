/** The contract of presets: a strategy with literal numbers, its counter, and its storage (docs/presets.md). */
import type { Locale } from "../../config/locale.ts";
import type { Role } from "../../message/message.ts";
import { counterOf } from "../../tokens/counters.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Strategy } from "../window.ts";

/** A strategy with literal numbers, and the settings around it that belong to them. */
export interface Preset {
  readonly name: string;
  readonly strategy: Strategy;
  /** The preset's counter, by name; an exact one is loaded first (`loadCounter`). */
  readonly counter: string;
  /** Tokens of one image, whatever its size, where the preset fixes them. */
  readonly imageTokens?: number;
  /** For `budgetOf`: the share of the contextWindow that a request may fill. Absent: the default. */
  readonly ratio?: number;
  /** The language of the preset's marks and prompts. */
  readonly locale: Locale;
  /** The role and the first words of a summary in the window. */
  readonly summaryMessage?: SummaryMessage;
  /** Statistics are printed every so many steps, in debug mode. */
  readonly debugEvery?: number;
  /** Settings of the store and of upkeep. */
  readonly storage?: PresetStorage;
}

/** The role that carries a summary, and its first words. */
export interface SummaryMessage {
  readonly role: Role;
  /** Stands before the summary's text. Empty: none. */
  readonly prefix: string;
}

/** The numbers of preset `coding-agent` for storage; times in milliseconds. */
export interface PresetStorage {
  /** The base folder of the store. */
  readonly folder: string;
  /** Messages held in memory. */
  readonly maxMemoryMessages: number;
  readonly heartbeatMs: number;
  /** Age at which a lock of a dead process is stale. */
  readonly staleMs: number;
  /** Between two scans for stale locks. */
  readonly scanMs: number;
  readonly stateLockMs: number;
  readonly retentionDays: number;
  readonly compressAfterDays: number;
  readonly keepBackups: number;
}

/**
 * The counter a preset counts with, its image tokens included.
 *
 * @throws WindrowError `unknown-counter` where it is an exact one that was not loaded
 */
export function presetCounter({ counter, imageTokens }: Preset): TokenCounter {
  const found = counterOf(counter);
  if (imageTokens === undefined || found.imageTokens === imageTokens) return found;
  return { ...found, imageTokens, count: (text) => found.count(text) };
}
