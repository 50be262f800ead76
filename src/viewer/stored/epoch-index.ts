/**
 * The epochs of one session, as small figures: `edits.jsonl` is read once, and later only what was added to it. The whole
 * line of an epoch is read again by its place where a window is rebuilt.
 */
import type { StoredRecordOf } from "../../message/record.ts";
import type { Scope, Store } from "../../store/store.ts";
import { outlineOf, withInsert } from "../../window/epoch/record.ts";
import type { EpochData, EpochOutline } from "../../window/epoch/record.ts";
import type { EpochReader } from "../../window/epoch/reader.ts";
import { Turns } from "../../turns.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { countMessage } from "../../tokens/counter.ts";
import { isRange } from "../../window/edits.ts";
import { countAll } from "../../window/layout.ts";
import { slotMessage } from "../../window/pinned.ts";
import { SentReader } from "../../window/sent.ts";
import type { SentChange } from "../../window/sent.ts";
import type { Edit } from "../../window/window.ts";

/** The place of a session: its store, and its id in it. */
export interface Place {
  readonly store: Store;
  readonly scope: Scope;
  readonly id: string;
}

/** A text that was inserted into the window of an epoch after it opened. */
export interface InsertLine {
  readonly seq: number;
  readonly pos: number;
  readonly tokens: number;
}

/** One line of an epoch, without its edits. */
export interface EpochLine {
  /** Its place in `edits.jsonl`, and among all records. */
  readonly seq: number;
  readonly pos: number;
  readonly epoch: number;
  readonly reason: string;
  readonly timestamp: string;
  readonly strategy: string;
  readonly profile: string;
  readonly counter: string;
  /** The model whose signed parts it shows, and the cap of results as they came in; undefined in older lines. */
  readonly model: string | undefined;
  readonly ingestCap: number | undefined;
  readonly budget: number | null;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
  readonly opened: number;
  readonly historyTokens: number;
  readonly systemHash: string;
  readonly toolsHash: string;
  readonly systemSeq?: number;
  readonly toolsSeq?: number;
  /** Tokens of the pinned slot and of the inserts that the line itself has. */
  readonly pinnedTokens: number;
  /** Tokens of labelled messages, and of excerpts. */
  readonly digestTokens: number;
  readonly stubTokens: number;
  /** Messages that left whole. */
  readonly left: number;
  /** Whether a mask changed the line. */
  readonly isMasked: boolean;
  /** The difference in the system prompt or the tools from the line before, where both are on disk. */
  readonly changed?: SentChange;
  readonly inserts: readonly InsertLine[];
}

/** A line whose inserts are still added to. */
type OpenLine = Omit<EpochLine, "inserts"> & { readonly inserts: InsertLine[] };

/** The epochs of a session, found by number and place. */
export class EpochIndex {
  readonly #place: Place;
  readonly #counter: TokenCounter;
  readonly #lines: OpenLine[] = [];
  readonly #byNumber = new Map<number, OpenLine[]>();
  readonly #recalls: number[] = [];
  readonly #requests: { readonly seq: number; readonly pos: number }[] = [];
  readonly #sent = new SentReader();
  #read = 0;
  #isRead = false;
  #growing: Promise<void> = Promise.resolve();

  /** @param counter - the session's */
  constructor(place: Place, counter: TokenCounter) {
    this.#place = place;
    this.#counter = counter;
  }

  /** The lines so far, oldest first. */
  get lines(): readonly EpochLine[] {
    return this.#lines;
  }

  /** The places in `edits.jsonl` of the recalls so far. */
  get recalls(): readonly number[] {
    return this.#recalls;
  }

  /** The places of the records of requests that passed a gateway. */
  get requests(): readonly { readonly seq: number; readonly pos: number }[] {
    return this.#requests;
  }

  /** The newest line of `edits.jsonl` that was read. */
  get read(): number {
    return this.#read;
  }

  /** Reads what was added since the last call. Calls at the same time share one read after the other. */
  grow(): Promise<void> {
    const next = this.#growing.then(() => this.#grow());
    this.#growing = next.catch(() => undefined);
    return next;
  }

  async #grow(): Promise<void> {
    const { store, scope, id } = this.#place;
    const turns = new Turns();
    for await (const record of store.read(scope, id, { kind: "edit", from: this.#read + 1 })) {
      await turns.turn();
      this.#read = record.seq;
      if (record.type === "epoch") this.#epoch(record);
      else if (record.type === "insert") this.#insert(record);
      else if (record.type === "recall") this.#recalls.push(record.seq);
      else if (record.type === "request") this.#requests.push({ seq: record.seq, pos: record.pos });
      else this.#sent.take(record);
    }
    this.#isRead = true;
  }

  #epoch(record: StoredRecordOf<"edit">): void {
    const found = outlineOf(record.data);
    if (!found) return;
    const changed = this.#sent.change(found);
    const line = { ...lineOf(record, found, this.#counter), ...(changed && { changed }) };
    this.#lines.push(line);
    const known = this.#byNumber.get(line.epoch);
    if (known) known.push(line);
    else this.#byNumber.set(line.epoch, [line]);
  }

  #insert(record: StoredRecordOf<"edit">): void {
    const line = this.#lines.at(-1);
    const insert = line && insertOf(record, line.epoch, this.#counter);
    if (insert) line.inserts.push(insert);
  }

  /** The line of an epoch that was the newest before a place of the log. */
  lineAt(epoch: number, pos: number): EpochLine | undefined {
    return this.#byNumber.get(epoch)?.findLast((line) => line.pos < pos);
  }

  /** As {@link EpochIndex.lineAt}; until the index was read once, the line is looked for in the log by its place. */
  async find(epoch: number, pos: number): Promise<EpochLine | undefined> {
    if (this.#isRead) {
      await this.grow();
      return this.lineAt(epoch, pos);
    }
    // What is asked for next is mostly beside it, so the index is read meanwhile.
    void this.grow().catch(() => undefined);
    return findLine(this.#place, this.#counter, epoch, pos);
  }
}

/** Lines that are read at once, going back to the one that is looked for. */
const stride = 8;

/** The line of an epoch that was the newest before a place of the log, found without what stands before it. */
async function findLine(
  { store, scope, id }: Place,
  counter: TokenCounter,
  epoch: number,
  pos: number,
): Promise<EpochLine | undefined> {
  let low = 0;
  let high = 0;
  for await (const { seq } of store.read(scope, id, { kind: "edit", last: 1 })) high = seq;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    let found = Infinity;
    for await (const record of store.read(scope, id, { kind: "edit", from: middle, limit: 1 })) found = record.pos;
    if (found < pos) low = middle;
    else high = middle - 1;
  }
  const inserts: InsertLine[] = [];
  for (let to = low; to > 0; to -= stride) {
    const lines: StoredRecordOf<"edit">[] = [];
    const query = { kind: "edit", from: Math.max(1, to - stride + 1), to } as const;
    for await (const record of store.read(scope, id, query)) lines.push(record);
    for (const record of lines.reverse()) {
      const insert = record.type === "insert" ? insertOf(record, epoch, counter) : undefined;
      if (insert) inserts.unshift(insert);
      const state = record.type === "epoch" ? outlineOf(record.data) : undefined;
      if (state?.state.epoch === epoch) return { ...lineOf(record, state, counter), inserts };
    }
  }
  return undefined;
}

function insertOf(
  { seq, pos, data }: StoredRecordOf<"edit">,
  epoch: number,
  counter: TokenCounter,
): InsertLine | undefined {
  if (data["epoch"] !== epoch || typeof data["text"] !== "string") return undefined;
  return { seq, pos, tokens: textTokens(counter, data["text"]) };
}

/**
 * An epoch's whole data as it was before a place of the log: what was inserted until then is part of it.
 *
 * @param reader - the session's: it has what the epochs before rest on
 */
export async function epochAt(
  { store, scope, id }: Place,
  reader: EpochReader,
  line: EpochLine,
  pos: number,
  originals = false,
): Promise<EpochData | undefined> {
  const to = line.inserts.findLast((insert) => insert.pos < pos)?.seq ?? line.seq;
  let found: EpochData | undefined;
  for (const range of [{ from: line.seq, to: line.seq }, ...(to > line.seq ? [{ from: line.seq + 1, to }] : [])]) {
    for await (const record of store.read(scope, id, { kind: "edit", originals, ...range })) {
      if (record.type === "epoch") found = await reader.epoch(record);
      else if (found && record.type === "insert") found = withInsert(found, record.data);
    }
  }
  return found;
}

/** The budget of a gateway that composes nothing, or more; no window reaches it. */
const unlimited = 1_000_000_000;

function reachable(budget: number | null): number | null {
  return budget !== null && budget < unlimited ? budget : null;
}

function lineOf(record: StoredRecordOf<"edit">, { state, ...data }: EpochOutline, counter: TokenCounter): OpenLine {
  const given = record.data;
  const text = (name: string): string => (typeof given[name] === "string" ? given[name] : "");
  const number = (name: string): number | null => (typeof given[name] === "number" ? given[name] : null);
  const { systemSeq, toolsSeq, historyTokens } = data;
  return {
    seq: record.seq,
    pos: record.pos,
    epoch: state.epoch,
    reason: text("reason"),
    timestamp: record.timestamp,
    strategy: text("strategy"),
    profile: text("profile"),
    counter: text("counter"),
    model: typeof given["model"] === "string" ? given["model"] : undefined,
    ingestCap: number("ingest_cap") ?? undefined,
    budget: reachable(number("budget")),
    tokensBefore: number("tokens_before"),
    tokensAfter: number("tokens_after"),
    opened: state.opened,
    historyTokens,
    systemHash: state.systemHash,
    toolsHash: state.toolsHash,
    ...(systemSeq !== undefined && { systemSeq }),
    ...(toolsSeq !== undefined && { toolsSeq }),
    pinnedTokens:
      countAll([slotMessage(state.slot ?? [])], counter) +
      (state.inserts ?? []).reduce((sum, insert) => sum + textTokens(counter, insert.text), 0),
    digestTokens: sumOf(state.edits.filter(({ kind }) => kind === "replace")),
    stubTokens: sumOf(state.edits.filter(({ kind }) => kind === "stub")),
    left: state.edits.filter(isRange).reduce((sum, { from, to }) => sum + to - from + 1, 0),
    isMasked: record.masks !== undefined,
    inserts: [],
  };
}

function sumOf(edits: readonly Pick<Edit, "tokensAfter">[]): number {
  return edits.reduce((sum, { tokensAfter }) => sum + tokensAfter, 0);
}

/** Tokens of a text as a message of its own. */
function textTokens(counter: TokenCounter, text: string): number {
  return countMessage(counter, { parts: [{ type: "text", text }] });
}
