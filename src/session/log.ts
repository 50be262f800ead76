/** Reads of a session's log, without its lock: epochs, their messages, explanations of windows, calls in doubt. */
import { WindrowError } from "../errors.ts";
import { defined } from "../message/json.ts";
import { toolResults } from "../message/message.ts";
import type { JsonObject, JsonValue, Message, NewMessage } from "../message/message.ts";
import type { EditRecord, RecordKind, StoredRecord, StoredRecordOf } from "../message/record.ts";
import type { Lock, ReadQuery, Scope, Store } from "../store/store.ts";
import { Composer } from "../window/composer.ts";
import type { ComposerOptions } from "../window/compose-options.ts";
import { baseOf } from "../window/epoch/lines.ts";
import type { EpochBase } from "../window/epoch/lines.ts";
import { epochOf, outlineOf, withInsert, withWindow } from "../window/epoch/record.ts";
import type { EpochData, EpochOutline } from "../window/epoch/record.ts";
import { explain, logged } from "../window/explain.ts";
import type { Explanation } from "../window/explain.ts";
import { EditIndex } from "../window/edits.ts";
import { comparedBlocks, noToolsHash, sentChange, sentOf } from "../window/sent.ts";
import type { SentBlocks } from "../window/sent.ts";
import type { WindowState } from "../window/window.ts";
import { EpochReader } from "../window/epoch/reader.ts";

/** A tool run that began and of which no end was recorded. */
export interface OpenCall {
  readonly callId: string;
  readonly toolName: string;
  readonly arguments: JsonValue;
  /** When it began; ISO 8601, UTC. */
  readonly timestamp: string;
}

/** A session in its store. */
export interface SessionPlace {
  readonly store: Store;
  readonly scope: Scope;
  readonly id: string;
}

/** The newest epoch of a session and the lines of `edits.jsonl` behind it. */
export interface NewestEdits {
  /** Undefined where no window was composed yet. What was inserted since it opened, and its first window, are part of it. */
  readonly epoch: EpochData | undefined;
  /** Its line, from which texts of later epochs are copied. */
  readonly base?: EpochBase;
  /** The other lines behind it, oldest first; without an epoch, all there are. */
  readonly later: readonly EditRecord[];
  /** The place of the epoch's line among all records of the session; 0 without an epoch. */
  readonly pos: number;
}

/** The records that a query names, all at once. */
export async function recordsOf<K extends RecordKind>(
  { store, scope, id }: SessionPlace,
  query: ReadQuery<K>,
): Promise<readonly StoredRecordOf<K>[]> {
  const records: StoredRecordOf<K>[] = [];
  for await (const record of store.read(scope, id, query)) records.push(record);
  return records;
}

/**
 * The records of a log from the newest that fits on, oldest first; without one that fits, all there are. Each look back
 * reads sixteen times as many: what stands behind it is read, and hardly more.
 */
async function fromLast<K extends "edit" | "usage">(
  place: SessionPlace,
  kind: K,
  fits: (record: StoredRecordOf<K>) => boolean,
): Promise<readonly StoredRecordOf<K>[]> {
  const enough = (record: StoredRecord): boolean => fits(record as StoredRecordOf<K>);
  for (let last = 8; ; last *= 16) {
    const records = await recordsOf(place, { kind, originals: true, last, enough });
    const newest = records.findLastIndex(fits);
    if (newest >= 0 || records.length < last) return records.slice(Math.max(0, newest));
  }
}

/** The outline of the epoch that a line records; undefined for any other line. */
function outlineIn({ type, data }: EditRecord): EpochOutline | undefined {
  return type === "epoch" ? outlineOf(data) : undefined;
}

/**
 * The newest epoch that fits and can be read, its complete line, and the lines from its own on. One that rests on what is
 * lost is passed over.
 */
async function newestReadable(
  place: SessionPlace,
  fits: (outline: EpochOutline) => boolean,
): Promise<{ readonly complete?: JsonObject; readonly records: readonly StoredRecordOf<"edit">[] }> {
  const reader = new EpochReader(place.store, place.scope, place.id);
  let before = Infinity;
  const isWanted = (line: StoredRecordOf<"edit">): boolean => {
    const outline = line.seq < before ? outlineIn(line) : undefined;
    return outline !== undefined && fits(outline);
  };
  for (;;) {
    const records = await fromLast(place, "edit", isWanted);
    const [line] = records;
    if (!line || !isWanted(line)) return { records };
    const complete = await reader.complete(line);
    if (complete) return { complete, records };
    before = line.seq;
  }
}

/**
 * The newest epoch and the edits behind it: all that a resume reads of `edits.jsonl`, but for the lines that the epoch's
 * texts are copied from. An epoch of which any of them is lost is passed over: the one before it counts.
 *
 * @throws WindrowError `session-not-found`
 */
export async function newestEdits(place: SessionPlace): Promise<NewestEdits> {
  const { complete, records } = await newestReadable(place, () => true);
  const opened = complete && epochOf(complete);
  const [record, ...behind] = records;
  if (!opened || !record) return { epoch: undefined, later: records, pos: 0 };
  const later: EditRecord[] = [];
  let epoch = record.masks ? masked(opened) : opened;
  for (const line of behind) {
    if (line.type === "insert") {
      epoch = withInsert(epoch, line.data);
      if (line.masks) epoch = masked(epoch);
    } else if (line.type === "window") epoch = withWindow(epoch, line.data);
    else later.push(line);
  }
  return { epoch, later, pos: record.pos, base: baseOf(record.seq, record.data, complete) };
}

/** The usages that were recorded behind a place of the log, oldest first. Reads the end of `usage.jsonl` alone. */
export async function usagesBehind(place: SessionPlace, pos: number): Promise<readonly StoredRecordOf<"usage">[]> {
  const records = await fromLast(place, "usage", (record) => record.pos <= pos);
  return records.filter((record) => record.pos > pos);
}

/** The record of a resume: the process that goes on with the session. */
export function resumedRecord({ owner }: Lock, timestamp: string): EditRecord {
  const { processId, hostname, generation } = owner;
  const data = { process_id: processId, hostname, generation };
  return { kind: "edit", type: "resumed", data, timestamp };
}

/** An epoch whose texts are masked: the window it made is not what it makes now. */
function masked(epoch: EpochData): EpochData {
  return { ...epoch, state: { ...epoch.state, length: Math.max(1, epoch.state.length), prefixHash: "" } };
}

/**
 * The newest epoch of a session without the texts of its edits, for which its line alone is read.
 *
 * @throws WindrowError `session-not-found`
 */
export async function newestOutline(place: SessionPlace): Promise<EpochOutline | undefined> {
  const [line] = await fromLast(place, "edit", (record) => outlineIn(record) !== undefined);
  return line && outlineIn(line);
}

/**
 * An epoch by its number; of several lines with one number, the newest.
 *
 * @throws WindrowError `not-found` for an epoch the log does not hold
 */
export async function recordedEpoch(place: SessionPlace, epoch: number): Promise<EpochData> {
  const { complete } = await newestReadable(place, ({ state }) => state.epoch === epoch);
  const found = complete && epochOf(complete);
  if (found) return found;
  const { id } = place;
  throw new WindrowError("not-found", `Session ${id} has no epoch ${epoch}; its stats() name the newest.`, {
    id,
    epoch,
  });
}

/**
 * The messages that a window holds, oldest first, and all from the horizon on; what left the window before it stays unread.
 * Streams.
 */
export async function* windowRecords(
  place: SessionPlace,
  { edits }: Pick<WindowState, "edits">,
  horizon = Infinity,
): AsyncGenerator<StoredRecordOf<"message">> {
  let from = 1;
  for (const range of new EditIndex(edits).ranges) {
    if (range.from >= horizon) break;
    if (range.from > from) yield* messagesIn(place, from, range.from - 1);
    from = Math.max(from, Math.min(range.to + 1, horizon));
  }
  yield* messagesIn(place, from);
}

/** The messages from an epoch's horizon on that left its window, oldest first. Streams. */
export async function* leftRecords(
  place: SessionPlace,
  { horizon = 1, edits }: WindowState,
): AsyncGenerator<StoredRecordOf<"message">> {
  for (const { from, to } of new EditIndex(edits).ranges)
    if (to >= horizon) yield* messagesIn(place, Math.max(from, horizon), to);
}

/** The messages of a stretch of the log, as they were before any mask where the store has that. */
function messagesIn(
  { store, scope, id }: SessionPlace,
  from: number,
  to?: number,
): AsyncIterable<StoredRecordOf<"message">> {
  return store.read(scope, id, { kind: "message", originals: true, from, ...defined({ to }) });
}

/** Gives a masked message as it was before the mask; undefined where it is not at hand. */
export type Originals = (seq: number, masked: Message) => NewMessage | undefined;

/**
 * The message as an earlier process was given it, where the log has it masked and its host has the original.
 *
 * @throws WindrowError `bad-message` for an original that is none
 */
export function originalOf(
  { seq, message }: StoredRecordOf<"message">,
  originals: Originals | undefined,
  check: (message: unknown) => NewMessage,
): Message {
  const given = message.masks && originals?.(seq, message);
  return given ? { ...check({ ...given, id: message.id }), id: message.id } : message;
}

/**
 * Explains what a composer shows of a session: the whole log is read once, message by message.
 *
 * @param epoch - the epoch of that window, whose blocks go with it; undefined where there is none
 * @param to - the last message to explain, by `seq`. Default: the newest
 */
export async function explainStored(
  place: SessionPlace,
  composer: Composer,
  { profile, counter }: Pick<ComposerOptions, "profile" | "counter">,
  epoch: EpochData | undefined,
  to?: number,
): Promise<Explanation> {
  const { store, scope, id } = place;
  const log = [];
  for await (const record of store.read(scope, id, { kind: "message", ...defined({ to }) })) {
    log.push(logged(record.seq, record.message, record.tokenCount, counter));
  }
  const explanation = explain(log, composer, { profile, counter });
  return { ...explanation, ...(epoch && (await sentWith(place, epoch))) };
}

/** Explains the window of an epoch, as it was when that epoch opened. */
export async function explainEpoch(
  place: SessionPlace,
  epoch: EpochData,
  options: ComposerOptions,
): Promise<Explanation> {
  const { store, scope, id } = place;
  const { state } = epoch;
  const composer = new Composer({ ...options, state });
  for await (const { seq, message } of store.read(scope, id, { kind: "message", to: state.opened })) {
    composer.push(seq, message);
  }
  return explainStored(place, composer, options, epoch, state.opened);
}

/** The lines of `edits.jsonl` that keep an epoch's blocks, by `seq`. */
export type SentPlaces = Pick<EpochData, "systemSeq" | "toolsSeq">;

/** The hashes of the blocks of an epoch's requests, and the lines of `edits.jsonl` that keep them. */
export type SentNames = SentPlaces & Pick<WindowState, "systemHash" | "toolsHash">;

/** The blocks of an epoch's requests, as far as they are in the log. Of an empty list of tools there is no line. */
export async function sentIn(
  place: SessionPlace,
  { systemSeq, toolsSeq, systemHash, toolsHash }: SentNames,
): Promise<SentBlocks> {
  let found: SentBlocks = toolsHash === noToolsHash ? { tools: [] } : {};
  for (const [seq, hash] of [[systemSeq, systemHash] as const, [toolsSeq, toolsHash] as const]) {
    if (seq === undefined) continue;
    for (const record of await recordsOf(place, { kind: "edit", from: seq, to: seq })) {
      const sent = sentOf(record);
      if (sent?.hash === hash) found = { ...found, ...sent.blocks };
    }
  }
  return found;
}

/** The blocks that go with the windows of an epoch, and how they differ from those of the epoch before. */
export async function sentWith(
  place: SessionPlace,
  epoch: EpochData,
): Promise<Required<Pick<Explanation, "sent">> & Pick<Explanation, "changed">> {
  const sent = await sentIn(place, { ...epoch, ...epoch.state });
  const { previous = 0, epoch: number } = epoch.state;
  const before = number === 0 ? undefined : await recordedEpoch(place, previous).catch(() => undefined);
  if (!before) return { sent };
  const known = comparedBlocks(before.state, await sentIn(place, { ...before, ...before.state }));
  return { sent, ...defined({ changed: sentChange(known, comparedBlocks(epoch.state, sent)) }) };
}

/**
 * The tool runs that began and have neither an end nor a result in the log, oldest first: running still, or in doubt
 * because the process died. Reads the lines of calls and tools once, and messages only where a call is open.
 *
 * @throws WindrowError `session-not-found`
 */
export async function openCalls({ store, scope, id }: SessionPlace): Promise<readonly OpenCall[]> {
  const open = new Map<string, StoredRecordOf<"call">>();
  const answered = (callId: string, pos: number): void => {
    // An id may be used again, so only later results answer its call.
    if ((open.get(callId)?.pos ?? Infinity) < pos) open.delete(callId);
  };
  for await (const call of store.read(scope, id, { kind: "call" })) open.set(call.callId, call);
  for await (const { callId, pos } of store.read(scope, id, { kind: "tool" })) answered(callId, pos);
  if (open.size > 0) {
    for await (const { message, pos } of store.read(scope, id, { kind: "message" })) {
      for (const { callId } of toolResults(message)) answered(callId, pos);
    }
  }
  return [...open.values()].map(({ callId, toolName, arguments: given, timestamp }) => {
    return { callId, toolName, arguments: given, timestamp };
  });
}
