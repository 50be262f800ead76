/** Edits: looked up by message, applied to messages, and merged into the one set of an epoch. */
import { parseJson } from "../message/json.ts";
import type { Message, Part, ToolCallPart, ToolResultPart } from "../message/message.ts";
import { withOwnText } from "../message/message.ts";
import type { Profile } from "./provider/profile.ts";
import type { Range } from "./provider/encode.ts";
import { boundRanges, isReasoning, isWithin, withoutSignature } from "./provider/encode.ts";
import type { Edit, WindowState } from "./window.ts";
import type { NumberedMessage } from "../message/step.ts";
import type { TokenCounter } from "../tokens/counter.ts";

/** Edits, looked up by message. */
export class EditIndex {
  /** The edits that take whole ranges of the log out of the window, in order. */
  readonly ranges: readonly Edit[];
  readonly #stubs = new Map<number, Edit[]>();
  /** The edits that remove the reasoning of messages. */
  readonly reasoning: readonly Edit[];
  /** The edits with a labelled message, by `from`. */
  readonly notes: readonly Edit[];

  constructor(edits: readonly Edit[]) {
    const ordered = edits.toSorted((left, right) => left.from - right.from);
    this.ranges = ordered.filter(isRange);
    this.reasoning = ordered.filter((edit) => edit.only === "reasoning");
    this.notes = ordered.filter((edit) => edit.kind === "replace");
    for (const edit of ordered) {
      if (edit.kind !== "stub") continue;
      const stubs = this.#stubs.get(edit.from);
      if (stubs) stubs.push(edit);
      else this.#stubs.set(edit.from, [edit]);
    }
  }

  /** Whether an edit takes a message out of the window whole. */
  covers(seq: number): boolean {
    return this.rangeOf(seq) !== undefined;
  }

  /** The edit that takes a message out of the window whole. */
  rangeOf(seq: number): Edit | undefined {
    let low = 0;
    let high = this.ranges.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const edit = this.ranges[middle];
      if (!edit) return undefined;
      if (seq < edit.from) high = middle - 1;
      else if (seq > edit.to) low = middle + 1;
      else return edit;
    }
    return undefined;
  }

  /** A message with its stubs applied and its reasoning removed where edits say so. */
  apply(seq: number, message: Message): Message {
    const stubs = this.#stubs.get(seq);
    const bare = this.reasoning.some((edit) => seq >= edit.from && seq <= edit.to);
    if (!stubs && !bare) return message;
    let changed = false;
    let place = 0;
    const parts: Part[] = [];
    for (const part of message.parts) {
      if (bare && part.type === "reasoning") {
        changed = true;
        continue;
      }
      if (isPlaced(part)) place++;
      const stub = stubs?.find((edit) => standsFor(edit, part, place, message));
      const shown = stub ? stubPart(part, stub) : part;
      changed ||= shown !== part;
      parts.push(shown);
    }
    return changed ? { ...message, parts } : message;
  }
}

/** Whether a part of an assistant's message is one that `place` counts: text, an image, a file, an unknown block. */
export function isPlaced(part: Part): boolean {
  return part.type !== "tool-call" && part.type !== "tool-result" && !isReasoning(part);
}

function standsFor(edit: Edit, part: Part, place: number, { role }: Message): boolean {
  if (edit.part === undefined) {
    return part.type === "tool-result" && (edit.callId === undefined || edit.callId === part.callId);
  }
  if (role !== "assistant") return false;
  if (edit.part === "arguments") return part.type === "tool-call" && edit.callId === part.callId;
  return isPlaced(part) && edit.place === place;
}

const stubParts = new WeakMap<ToolResultPart, Edit>();

function stubPart(part: Part, edit: Edit): Part {
  if (part.type === "tool-call") return stubCall(part, edit);
  if (part.type !== "tool-result") return { type: "text", text: edit.text ?? "" };
  const text = edit.text ?? "";
  const stub = edit.keepsMedia ? withOwnText(part, text) : { ...part, content: text };
  stubParts.set(stub, edit);
  return stub;
}

/** A call with other arguments. A signature is over those that the model wrote. */
function stubCall(call: ToolCallPart, edit: Edit): ToolCallPart {
  const args = parseJson(edit.text ?? "");
  if (args === undefined) return call;
  const { argsText: _, ...rest } = withoutSignature(call);
  return { ...rest, args };
}

/** Whether an edit wrote a result's text; a tool's own text may look alike. */
export function isStub(part: ToolResultPart): boolean {
  return stubParts.has(part);
}

/** The pass whose edit wrote a result's text; undefined for a tool's own text. */
export function stubPass(part: ToolResultPart): string | undefined {
  return stubParts.get(part)?.pass;
}

/** The pass of edits by which a summary takes the place of messages. */
export const summaryPass = "summary";

/** The pass of edits that shorten results as they come: a message has them whichever epoch is in force. */
export const ingestPass = "ingest-cap";

/** Whether an edit takes whole messages out of the window. */
export function isRange({ kind, only }: Edit): boolean {
  return kind !== "stub" && only === undefined;
}

/**
 * Merges an older and a newer set of edits into one: a wider edit replaces those inside it, a newer stub an older one.
 */
export function mergeEdits(older: readonly Edit[], given: readonly Edit[]): readonly Edit[] {
  const newer = besideSummaries(older, given);
  const index = new EditIndex(newer.filter(isRange));
  const stubsOf = (edits: readonly Edit[]): ReadonlyMap<string, Edit> =>
    new Map(edits.flatMap((edit) => (edit.kind === "stub" ? [[stubKey(edit), edit]] : [])));
  const [original, replaced] = [stubsOf(older), stubsOf(newer)];
  const merged: Edit[] = [];
  // The view lacks messages that an older drop removed, so a newer edit over their range did not count their tokens.
  const swallowed = new Map<Edit, number>();
  for (const edit of older) {
    if (isPlainDrop(edit)) {
      const rest = around(edit, index.ranges);
      const wider = rest.length === 0 ? index.rangeOf(edit.from) : undefined;
      if (wider) swallowed.set(wider, (swallowed.get(wider) ?? 0) + edit.tokensBefore);
      merged.push(...rest);
    } else if (edit.only === "reasoning") {
      if (!newer.some((other) => other.only === "reasoning" && isWithin(edit, other))) merged.push(edit);
    } else if (!index.covers(edit.from) && !(edit.kind === "stub" && replaced.has(stubKey(edit)))) merged.push(edit);
  }
  for (const edit of newer) {
    const isStub = edit.kind === "stub";
    if (isStub && index.covers(edit.from)) continue;
    const before = isStub ? original.get(stubKey(edit))?.tokensBefore : undefined;
    const tokensBefore = before ?? edit.tokensBefore + (swallowed.get(edit) ?? 0);
    merged.push(tokensBefore === edit.tokensBefore ? edit : { ...edit, tokensBefore });
  }
  return joined(merged.toSorted((left, right) => left.from - right.from || left.to - right.to));
}

/** Newer edits without the messages that a summary tells which stays: a stretch of them shows nothing, so passes do not see it. */
function besideSummaries(older: readonly Edit[], newer: readonly Edit[]): readonly Edit[] {
  const index = new EditIndex(newer.filter(isRange));
  const told: Edit[] = [];
  let stays = false;
  for (const edit of older) {
    if (edit.pass !== summaryPass || !isRange(edit)) continue;
    if (edit.kind === "replace") stays = !index.covers(edit.from);
    else if (stays && index.covers(edit.from)) told.push(edit);
  }
  if (told.length === 0) return newer;
  return newer.flatMap((edit) => (isRange(edit) && edit.pass !== summaryPass ? around(edit, told) : [edit]));
}

/** An edit as its stretches beside others; what it says stands in the first. */
function around(edit: Edit, others: readonly Edit[]): readonly Edit[] {
  const parts: Edit[] = [];
  let from = edit.from;
  for (const other of others) {
    if (other.to < from || other.from > edit.to) continue;
    if (other.from > from) parts.push({ ...edit, from, to: other.from - 1 });
    from = other.to + 1;
  }
  if (from <= edit.to) parts.push({ ...edit, from });
  const { pass, reason } = edit;
  return parts.map((part, index): Edit =>
    index === 0 ? part : { kind: "drop", from: part.from, to: part.to, pass, reason, tokensBefore: 0, tokensAfter: 0 },
  );
}

/** Joins neighbouring drops of one pass and reason, so that a strategy that drops on every call has a small set. */
function joined(edits: readonly Edit[]): readonly Edit[] {
  const found: Edit[] = [];
  for (const edit of edits) {
    const last = found.at(-1);
    const next = last && isPlainDrop(last) && isPlainDrop(edit) && edit.from === last.to + 1;
    // The drops of a summary leave with it, so those of two summaries stay apart.
    if (next && edit.pass !== summaryPass && edit.pass === last.pass && edit.reason === last.reason) {
      found[found.length - 1] = { ...last, to: edit.to, tokensBefore: last.tokensBefore + edit.tokensBefore };
    } else found.push(edit);
  }
  return found;
}

function isPlainDrop(edit: Edit): boolean {
  return edit.kind === "drop" && isRange(edit);
}

function stubKey(edit: Edit): string {
  return [edit.from, edit.callId, edit.part, edit.place].join("/");
}

/** The history that the reasoning stands in. */
export interface ReasoningIn {
  /** The messages that are in the window, whole or in part. */
  readonly messages: readonly NumberedMessage[];
  /** The `seq` of the newest message. */
  readonly last: number;
  /** Whether the request before the history changed, too. */
  readonly moved: boolean;
  readonly counter: TokenCounter;
}

/**
 * Adds the edits that drop the signed reasoning behind the first edit, if the profile binds it to its prefix. Nothing binds
 * what is not signed, so it stays where no edit drops it.
 */
export function withoutReasoning(
  edits: readonly Edit[],
  profile: Profile,
  { messages, last, moved, counter }: ReasoningIn,
): readonly Edit[] {
  if (profile.reasoning !== "prefix-bound") return edits;
  const first = edits.reduce((least, edit) => Math.min(least, edit.from), Infinity);
  const from = moved ? 1 : first;
  if (!Number.isFinite(from)) return edits;
  const thinking = messages.filter(({ seq, message }) => seq >= from && message.parts.some(isReasoning));
  const dropped = edits.filter(({ only }) => only === "reasoning");
  const ranges = boundRanges(thinking, { from, to: last }, dropped);
  const rest = edits.filter((edit) => edit.only !== "reasoning" || !ranges.some((range) => isWithin(edit, range)));
  return [
    ...rest,
    ...ranges.map((range): Edit => {
      let tokensBefore = 0;
      for (const { seq, message } of thinking) {
        if (!isWithin({ from: seq, to: seq }, range)) continue;
        for (const part of message.parts) if (part.type === "reasoning") tokensBefore += counter.count(part.text);
      }
      const reason = "reasoning is only good behind the prefix it was written on";
      return reasoningDrop(range, "drop-reasoning", reason, tokensBefore);
    }),
  ];
}

function reasoningDrop({ from, to }: Range, pass: string, reason: string, tokensBefore = 0): Edit {
  return { kind: "drop", only: "reasoning", from, to, pass, reason, tokensBefore, tokensAfter: 0 };
}

/**
 * The state after an undo: a new epoch with the edits of an older state, whose ranges are not planned again.
 *
 * @param back - the state that the newest epoch was built on
 * @param last - the `seq` of the newest message
 */
export function undone(state: WindowState, back: WindowState, last: number, profile: Profile): WindowState {
  const kept = new Set(back.edits.map(({ from, to, text }) => `${from}-${to}-${text}`));
  const gone = state.edits.filter(
    (edit) => edit.only === undefined && edit.pass !== ingestPass && !kept.has(`${edit.from}-${edit.to}-${edit.text}`),
  );
  return {
    ...state,
    epoch: state.epoch + 1,
    previous: back.previous ?? 0,
    edits: [
      ...back.edits,
      ...state.edits.filter(({ pass }) => pass === "undo"),
      ...(profile.reasoning === "prefix-bound" && last > state.opened
        ? [reasoningDrop({ from: state.opened + 1, to: last }, "undo", "it was written on a window that was undone")]
        : []),
    ],
    opened: last,
    length: 0,
    inserts: [],
    forced: [],
    reverted: [...(state.reverted ?? []), ...gone.map(({ from, to }) => ({ from, to }))],
  };
}
