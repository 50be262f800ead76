/**
 * The layout of a window: its blocks and their tokens, the cost of the request, and the error of a window that is too
 * large.
 */
import type { Message } from "../message/message.ts";
import type { Fixed } from "./fixed.ts";
import type { Shape } from "./history.ts";
import type { DynamicBlock, Edit, Report } from "./window.ts";
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
 * The tokens of a window's blocks and of the whole request.
 *
 * @param leading - tokens of the messages before the history, of which `pinned` are a pinned block's
 */
export function sizesOf(
  { system, tools, dynamic }: Fixed,
  { tokens, notes }: Shape,
  leading: number,
  pinned: number,
): Pick<Layout, "blocks" | "tokens"> {
  const blocks = { system, tools, pinned, notes, history: tokens - notes + leading - pinned, dynamic };
  return { blocks, tokens: system + tools + tokens + leading + dynamic };
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
  let stubbed = 0;
  for (const edit of edits) {
    if (edit.kind === "stub") stubbed++;
    else if (edit.only === undefined && edit.kind === "replace") replaced += edit.to - edit.from + 1;
    else if (edit.only === undefined) dropped += edit.to - edit.from + 1;
  }
  return { kept: last - replaced - dropped - stubbed, stubbed, replaced, dropped };
}

/** The predicted cost of a request by the profile's cache prices; the last request sent `kept` of its tokens, too. */
export function costOf(
  request: { readonly tokens: number; readonly tail: number },
  kept: number,
  { cache }: Profile,
): Report["cost"] {
  const cached = Math.min(kept, request.tokens - request.tail);
  const fresh = request.tokens - request.tail - cached;
  return { cached, fresh, equivalents: Math.round(cached * cache.read + fresh * cache.write + request.tail) };
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
