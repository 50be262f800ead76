/** The cache's part in a call: where its window first differs from that of the call before, and why. */
import type { CacheCard, CallBlocks, WindowEntry } from "../viewer.ts";
import type { EpochLine } from "./epoch-index.ts";
import type { UsageLine } from "./usage-index.ts";

/** A call with its rebuilt window. */
export interface CachedCall {
  readonly line: UsageLine;
  readonly epoch: EpochLine | undefined;
  readonly entries: readonly WindowEntry[];
  /** Tokens of what is sent beside the entries: see {@link besideTokens}. */
  readonly beside: number;
  readonly model: string | null;
}

/** Tokens of the system prompt and the tools, but for what stands among the entries. */
export function besideTokens({ system, tools }: CallBlocks, entries: readonly WindowEntry[]): number {
  const own = entries.reduce((sum, { kind, tokens }) => sum + (kind === "system" ? tokens : 0), 0);
  return Math.max(0, system - own) + tools;
}

/**
 * Minutes for which a provider keeps a prefix that nobody asks for, by profile: Anthropic's five, OpenAI's five to ten
 * (their pages on prompt caching). Of others no figure is known, or it is hours.
 */
const keptMinutes: Readonly<Record<string, number>> = {
  "anthropic": 5,
  "pi": 5,
  "openai-chat": 10,
  "openai-responses": 10,
};

/** A reported share of the predicted prefix from which a call counts as a hit: two counters never agree quite. */
const hitShare = 0.5;

/** The card of a call; `before` is the call before it, undefined for the first. */
export function cacheCard(call: CachedCall, before: CachedCall | undefined): CacheCard {
  const { line, entries } = call;
  const { cacheRead, cacheWrite } = line.usage;
  const common = before ? commonEntries(before.entries, entries) : 0;
  const predicted = line.window?.cached ?? null;
  const reported = cacheRead ?? null;
  const isHit = reported === null ? null : reported > 0 && reported >= hitShare * (predicted ?? 0);
  return {
    predicted,
    reported,
    written: cacheWrite ?? null,
    commonEntries: common,
    commonTokens: entries.slice(0, common).reduce((sum, { tokens }) => sum + tokens, commonBeside(call, before)),
    divergence: divergenceOf(call, before, common),
    cause: causeOf(call, before, common, isHit),
    isHit,
  };
}

function commonBeside(call: CachedCall, before: CachedCall | undefined): number {
  if (!before || isOther(call, before, "toolsHash") || isOther(call, before, "systemHash")) return 0;
  return Math.min(call.beside, before.beside);
}

function commonEntries(before: readonly WindowEntry[], after: readonly WindowEntry[]): number {
  const shorter = Math.min(before.length, after.length);
  let common = 0;
  while (common < shorter && before[common]?.key === after[common]?.key) common++;
  return common;
}

function divergenceOf(call: CachedCall, before: CachedCall | undefined, common: number): CacheCard["divergence"] {
  if (!before) return { block: "none" };
  if (isOther(call, before, "toolsHash")) return { block: "tools" };
  const [first] = call.entries;
  if (isOther(call, before, "systemHash") || (common === 0 && first?.kind === "system")) return { block: "system" };
  if (common === before.entries.length) return { block: "none" };
  const seq = call.entries[common]?.seq ?? before.entries[common]?.seq;
  return { block: "message", entry: common, ...(seq !== undefined && { seq }) };
}

function isOther(call: CachedCall, before: CachedCall, name: "systemHash" | "toolsHash"): boolean {
  return call.epoch !== undefined && before.epoch !== undefined && call.epoch[name] !== before.epoch[name];
}

function causeOf(call: CachedCall, before: CachedCall | undefined, common: number, isHit: boolean | null): string {
  if (!before) return "the first call";
  const { line, epoch, entries } = call;
  const causes: string[] = [];
  if (call.model !== before.model && call.model !== null && before.model !== null)
    causes.push(`the model is ${call.model} now`);
  if (isOther(call, before, "toolsHash")) causes.push("the tools changed");
  if (isOther(call, before, "systemHash")) causes.push("the system prompt changed");
  const isNew = epoch !== undefined && epoch.epoch !== before.epoch?.epoch;
  if (isNew) causes.push(`epoch ${epoch.epoch}, ${epoch.reason}`);
  if (causes.length === 0 && common < before.entries.length) {
    const seq = entries[common]?.seq ?? 0;
    causes.push(seq > 0 ? `message m${seq} is another` : "a message at its end was for that call alone");
  }
  const idle = idleCause(line, before.line, epoch?.profile ?? "");
  if (idle !== undefined) causes.push(idle);
  if (causes.length > 0) return causes.join("; ");
  return isHit === false ? "the window only grew: the provider did not read what it had" : "the window only grew";
}

/** The cause that lies in the time between two calls, where the provider keeps its cache for less. */
function idleCause(line: UsageLine, before: UsageLine, profile: string): string | undefined {
  const kept = keptMinutes[profile];
  const minutes = (Date.parse(line.timestamp) - Date.parse(before.timestamp)) / 60_000;
  if (kept === undefined || !(minutes > kept)) return undefined;
  return `idle ${spoken(minutes)}, the cache holds ${kept} min`;
}

function spoken(minutes: number): string {
  if (minutes < 120) return `${Math.floor(minutes)} min`;
  return minutes < 2 * 24 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60 / 24)} days`;
}
