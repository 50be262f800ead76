/** The calls of a session as rows: one for each line of `usage.jsonl`, with the figures of its epoch. */
import type { JsonObject, Message, Usage } from "../../message/message.ts";
import type { UsedWindow } from "../../message/record.ts";
import { sentIn } from "../../session/log.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { FixedBlocks } from "../../window/layout.ts";
import type { CallBlocks, CallRow } from "../viewer.ts";
import type { EpochIndex, EpochLine, Place } from "./epoch-index.ts";
import type { AnsweredCall } from "./log-columns.ts";
import { calledModel } from "../../message/record.ts";
import { dollarsFor } from "../../ops/look/spent.ts";
import type { UsageLine } from "./usage-index.ts";

/** One line of `usage.jsonl` by its number; undefined where there is none. */
export async function usageAt({ store, scope, id }: Place, call: number): Promise<UsageLine | undefined> {
  for await (const record of store.read(scope, id, { kind: "usage", from: call, to: call })) return record;
  return undefined;
}

/** The newest number of a log. */
export async function newestSeq({ store, scope, id }: Place, kind: "usage" | "message" | "edit"): Promise<number> {
  let newest = 0;
  for await (const { seq } of store.read(scope, id, { kind, last: 1 })) newest = seq;
  return newest;
}

/** The tokens of the blocks that are sent beside the history. */
interface FixedTokens {
  readonly system: number;
  readonly tools: number;
}

/** Counts the system prompts and tools of a session, each once. */
export class FixedCounts {
  readonly #place: Place;
  readonly #counter: TokenCounter;
  readonly #known = new Map<string, Promise<FixedTokens>>();

  constructor(place: Place, counter: TokenCounter) {
    this.#place = place;
    this.#counter = counter;
  }

  /** The tokens of the blocks of an epoch; 0 for what is not on disk. */
  of(line: EpochLine): Promise<FixedTokens> {
    const key = `${line.systemHash} ${line.toolsHash}`;
    const known = this.#known.get(key) ?? this.#count(line);
    this.#known.set(key, known);
    return known;
  }

  async #count(line: EpochLine): Promise<FixedTokens> {
    const { system, tools } = await sentIn(this.#place, line);
    const own = system === undefined ? await this.#leading() : [];
    const fixed = new FixedBlocks(this.#counter).of({
      own,
      tail: [],
      ...(system !== undefined && { system }),
      ...(tools !== undefined && { tools }),
    });
    return { system: fixed.system, tools: fixed.tools };
  }

  /** The log's own leading system messages. */
  async #leading(): Promise<readonly Message[]> {
    const { store, scope, id } = this.#place;
    const found: Message[] = [];
    for await (const { message } of store.read(scope, id, { kind: "message" })) {
      if (message.role !== "system") break;
      found.push(message);
    }
    return found;
  }
}

/** The parts that rows of calls are made of. */
export interface CallParts {
  readonly place: Place;
  readonly config: JsonObject;
  readonly epochs: EpochIndex;
  readonly fixed: FixedCounts;
}

/** The recorded calls from one number to another, as rows. */
export async function recordedRows(parts: CallParts, from: number, to: number): Promise<readonly CallRow[]> {
  const { store, scope, id } = parts.place;
  const rows: CallRow[] = [];
  let before: UsageLine | undefined;
  let last = 0;
  for await (const line of store.read(scope, id, { kind: "usage", from: Math.max(1, from - 1), to })) {
    last = line.window?.last ?? (await lastBefore(parts.place, line.pos, last));
    if (line.seq >= from) rows.push(await rowOf(parts, line, before, last));
    before = line;
  }
  return rows;
}

async function rowOf(
  parts: CallParts,
  line: UsageLine,
  before: UsageLine | undefined,
  lastSeq: number,
): Promise<CallRow> {
  const { window, purpose, usage, timestamp, seq } = line;
  const epoch = window && parts.epochs.lineAt(window.epoch, line.pos);
  return {
    call: seq,
    purpose,
    timestamp,
    model: calledModel(parts.config, line),
    lastSeq,
    epoch: window?.epoch ?? null,
    tokens: window?.tokens ?? null,
    blocks: window ? await blocksOf(parts.fixed, window, epoch, line.pos) : null,
    predictedCached: window?.cached ?? null,
    usage: reported(usage),
    dollars: dollarsFor(parts.config, line),
    idleMs: before ? idle(before.timestamp, timestamp) : null,
  };
}

/** Calls of a session without recorded windows, as rows; `before` is the call before the first of them. */
export function answeredRows(
  config: JsonObject,
  calls: readonly AnsweredCall[],
  first: number,
  before: AnsweredCall | undefined,
): readonly CallRow[] {
  return calls.map((call, index) => {
    const { seq, timestamp, usage = {} } = call;
    const line = { purpose: "turn", usage, ...(call.model !== undefined && { model: call.model }) } as const;
    const earlier = calls[index - 1] ?? before;
    return {
      call: first + index,
      purpose: "turn",
      timestamp,
      model: calledModel(config, line),
      lastSeq: seq - 1,
      epoch: null,
      tokens: null,
      blocks: null,
      predictedCached: null,
      usage: reported(usage),
      dollars: dollarsFor(config, line),
      idleMs: earlier ? idle(earlier.timestamp, timestamp) : null,
    };
  });
}

function idle(before: string, now: string): number {
  return Math.max(0, Date.parse(now) - Date.parse(before)) || 0;
}

function reported(usage: Usage): Usage | null {
  return Object.values(usage).some((value) => value !== undefined) ? usage : null;
}

/** The tokens of a recorded window by block: what no line of its epoch explains is history. */
async function blocksOf(
  fixed: FixedCounts,
  { tokens, tail }: UsedWindow,
  line: EpochLine | undefined,
  pos: number,
): Promise<CallBlocks> {
  if (!line) return { system: 0, tools: 0, pinned: 0, digest: 0, stubs: 0, history: 0, rest: tokens };
  const { system, tools } = await fixed.of(line);
  const inserted = line.inserts.reduce((sum, insert) => sum + (insert.pos < pos ? insert.tokens : 0), 0);
  const pinned = line.pinnedTokens + inserted;
  const { digestTokens: digest, stubTokens: stubs } = line;
  const rest = tail?.tokens ?? 0;
  const history = tokens - system - tools - pinned - digest - stubs - rest;
  // A text that a mask made longer on its way to the disk takes more than the window had.
  return { system, tools, pinned, digest, stubs, history: Math.max(0, history), rest: rest + Math.min(0, history) };
}

/** Messages that are read at once behind a known one, where the one that is looked for is mostly near. */
const stride = 8;

/** The newest message before a place of the log; `known` is one before it, 0 for none. */
async function lastBefore(place: Place, pos: number, known: number): Promise<number> {
  const { store, scope, id } = place;
  let low = known;
  if (known > 0) {
    let read = 0;
    for await (const record of store.read(scope, id, { kind: "message", from: known + 1, limit: stride })) {
      if (record.pos > pos) return low;
      low = record.seq;
      read++;
    }
    if (read < stride) return low;
  }
  let high = await newestSeq(place, "message");
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    let found: number | undefined;
    for await (const record of store.read(scope, id, { kind: "message", from: middle, to: middle })) found = record.pos;
    if (found !== undefined && found < pos) low = middle;
    else high = middle - 1;
  }
  return low;
}
