/** The calls of a session as rows: one for each line of `usage.jsonl`, with the figures of its epoch. */
import type { JsonObject, Message } from "../../message/message.ts";
import type { StoredRecordOf } from "../../message/record.ts";
import { sentIn } from "../../session/sent.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { findModel } from "../../tokens/models.ts";
import { dollarsOf } from "../../tokens/price.ts";
import { FixedBlocks } from "../../window/fixed.ts";
import type { CallBlocks, CallRow } from "../viewer.ts";
import type { EpochIndex, EpochLine, Place } from "./epoch-index.ts";
import { epochAt } from "./epoch-index.ts";
import { configText } from "./settings.ts";

/** A line of `usage.jsonl`. */
export type UsageLine = StoredRecordOf<"usage">;

/** One line of `usage.jsonl` by its number; undefined where there is none. */
export async function usageAt({ store, scope, id }: Place, call: number): Promise<UsageLine | undefined> {
  for await (const record of store.read(scope, id, { kind: "usage", from: call, to: call })) return record;
  return undefined;
}

/** The newest number of a log. */
export async function newestSeq(
  { store, scope, id }: Place,
  kind: "usage" | "message" | "edit" | "summary",
): Promise<number> {
  let newest = 0;
  for await (const { seq } of store.read(scope, id, { kind, last: 1 })) newest = seq;
  return newest;
}

/** The tokens of the blocks that are sent beside the history, by the hashes that an epoch names. */
export interface FixedTokens {
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
    const { store, scope, id } = this.#place;
    const epoch = await epochAt(this.#place, line, 0);
    const { system, tools } = epoch ? await sentIn(store, scope, id, epoch) : {};
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

/** The calls from one number to another, as rows. */
export async function callRows(parts: CallParts, from: number, to: number): Promise<readonly CallRow[]> {
  const { store, scope, id } = parts.place;
  const rows: CallRow[] = [];
  let before: UsageLine | undefined;
  for await (const line of store.read(scope, id, { kind: "usage", from: Math.max(1, from - 1), to })) {
    if (line.seq >= from) rows.push(await rowOf(parts, line, before));
    before = line;
  }
  return rows;
}

/** One call as a row. */
export async function rowOf(parts: CallParts, line: UsageLine, before: UsageLine | undefined): Promise<CallRow> {
  const { window, model, purpose, usage, timestamp, seq } = line;
  const epoch = window && parts.epochs.lineAt(window.epoch, line.pos);
  return {
    call: seq,
    purpose,
    timestamp,
    model: modelOf(parts.config, line) ?? model ?? null,
    lastSeq: window?.last ?? (await lastBefore(parts.place, line.pos)),
    epoch: window?.epoch ?? null,
    tokens: window?.tokens ?? null,
    blocks: window ? await blocksOf(parts, window, epoch, line.pos) : null,
    predictedCached: window?.cached ?? null,
    usage: hasUsage(usage) ? usage : null,
    dollars: dollarsFor(parts.config, line),
    idleMs: before ? Math.max(0, Date.parse(timestamp) - Date.parse(before.timestamp)) : null,
  };
}

function hasUsage(usage: UsageLine["usage"]): boolean {
  return Object.values(usage).some((value) => value !== undefined);
}

/** The model of a call: the session's own where a turn names none. */
function modelOf(config: JsonObject, { model, purpose }: UsageLine): string | undefined {
  return model ?? (purpose === "turn" ? configText(config, "model") : undefined);
}

/** The list price of a call; null where its usage or its model's price is not known. */
function dollarsFor(config: JsonObject, line: UsageLine): number | null {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = line.usage;
  const prices = findModel(modelOf(config, line) ?? "")?.prices;
  if (input + output === 0 || !prices) return null;
  return dollarsOf({ input, cacheRead, cacheWrite, longWrite: 0 }, output, prices);
}

/** The tokens of a recorded window by block. */
async function blocksOf(
  { fixed }: CallParts,
  { tokens }: NonNullable<UsageLine["window"]>,
  line: EpochLine | undefined,
  pos: number,
): Promise<CallBlocks> {
  if (!line) return { system: 0, tools: 0, pinned: 0, digest: 0, stubs: 0, history: 0, rest: tokens };
  const { system, tools } = await fixed.of(line);
  const inserted = line.inserts.reduce((sum, insert) => sum + (insert.pos < pos ? insert.tokens : 0), 0);
  const pinned = line.pinnedTokens + inserted;
  const { digestTokens: digest, stubTokens: stubs } = line;
  const known = { system, tools, pinned, digest, stubs };
  const history = tokens - system - tools - pinned - digest - stubs;
  return { ...known, history: Math.max(0, history), rest: Math.min(0, history) };
}

/** The newest message before a place of the log. */
export async function lastBefore(place: Place, pos: number): Promise<number> {
  const { store, scope, id } = place;
  let low = 0;
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
