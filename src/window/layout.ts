/**
 * The layout of a window: its blocks and their tokens, the cost of the request, and the error of a window that is too
 * large.
 */
import type { Message } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { countOnce } from "../tokens/counter.ts";
import type { Fixed } from "./fixed.ts";
import type { Shape } from "./history.ts";
import type { DynamicBlock, Edit, EpochReason, Report, WindowState } from "./window.ts";
import { WindrowError } from "../errors.ts";
import type { Profile } from "./provider/profile.ts";

/** A window's blocks, before anything is decided. */
export interface Layout extends Shape {
  readonly fixed: Fixed;
  readonly lead: readonly Message[];
  readonly history: readonly Message[];
  readonly sticky: readonly DynamicBlock[];
  readonly blocks: Report["blocks"];
  /** Tokens of the whole request. */
  readonly tokens: number;
}

/**
 * A window's layout, with the tokens of its blocks and of the whole request.
 *
 * @param leading - tokens of the messages before the history, of which `pinned` are a pinned block's
 */
export function layoutOf(
  { fixed, lead, sticky }: Pick<Layout, "fixed" | "lead" | "sticky">,
  { tokens, notes, turns, messages, answers, history }: Shape & Pick<Layout, "history">,
  leading: number,
  pinned: number,
): Layout {
  const { system, tools, dynamic } = fixed;
  const blocks = { system, tools, pinned, notes, history: tokens - notes + leading - pinned, dynamic };
  const all = system + tools + tokens + leading + dynamic;
  return { notes, turns, messages, answers, fixed, lead, history, sticky, blocks, tokens: all };
}

/** The tokens of messages; one that is not there has none. */
export function countAll(messages: readonly (Message | undefined)[], counter: TokenCounter): number {
  return messages.reduce((total, message) => total + (message ? countOnce(counter, message) : 0), 0);
}

/** Repairs of a history, counted by kind. */
export function countRepairs(repairs: readonly { readonly kind: string }[]): Report["repairs"] {
  const counts: Record<string, number> = {};
  for (const { kind } of repairs) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** The messages of a log, counted by fate. */
export function countFates(last: number, edits: readonly Edit[]): Report["counts"] {
  let replaced = 0;
  let dropped = 0;
  const stubs = new Set<number>();
  for (const edit of edits) {
    if (edit.kind === "stub") stubs.add(edit.from);
    else if (edit.only === undefined && edit.kind === "replace") replaced += edit.to - edit.from + 1;
    else if (edit.only === undefined) dropped += edit.to - edit.from + 1;
  }
  const stubbed = stubs.size;
  return { kept: last - replaced - dropped - stubbed, stubbed, replaced, dropped };
}

/**
 * The predicted cost of a request by the profile's cache prices.
 *
 * @param before - the state that the last request left: what both have at their beginning is cached
 * @param opened - whether an epoch opened: of the last request only the system prompt and the tools stand
 */
export function costOf(
  { fixed, blocks, tokens }: Layout,
  before: WindowState,
  opened: boolean,
  { cache }: Profile,
): Report["cost"] {
  const same = fixed.systemHash === before.systemHash && fixed.toolsHash === before.toolsHash;
  const kept = opened ? (same ? blocks.system + blocks.tools : 0) : (before.cached ?? 0);
  const tail = blocks.dynamic;
  const cached = Math.min(kept, tokens - tail);
  const fresh = tokens - tail - cached;
  return { cached, fresh, equivalents: Math.round(cached * cache.read + fresh * cache.write + tail) };
}

/** The reason of an epoch where a request does not begin as the last one did; undefined where it does. */
export function changeOf(
  { fixed }: Layout,
  { systemHash, toolsHash, length, prefixHash }: WindowState,
  prefixHashOf: (length: number) => string,
): EpochReason | undefined {
  if (length === 0) return undefined;
  if (fixed.systemHash !== systemHash) return "system-changed";
  if (fixed.toolsHash !== toolsHash) return "tools-changed";
  return prefixHashOf(length) === prefixHash ? undefined : "history-changed";
}

/** A state with what the next window is compared with. */
export function remembering(
  state: WindowState,
  { fixed: { systemHash, toolsHash }, history, blocks, tokens }: Layout,
  prefixHash: string,
): WindowState {
  return { ...state, systemHash, toolsHash, length: history.length, prefixHash, cached: tokens - blocks.dynamic };
}

/** The error of a window that is larger than its budget, with the size of each block. */
export function overBudget(blocks: Report["blocks"], tokens: number, budget: number): WindrowError {
  return new WindrowError(
    "over-budget",
    `The window needs ${tokens} tokens and the budget is ${budget}: system ${blocks.system}, tools ${blocks.tools}, ` +
      `pinned ${blocks.pinned}, history ${blocks.history}, notes ${blocks.notes}, dynamic ${blocks.dynamic}. ` +
      `Raise the budget or take a strategy that edits.`,
    { budget, ...blocks },
  );
}
