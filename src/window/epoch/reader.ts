/** Reads epochs whose lines copy their texts from earlier lines and from messages (window/epoch/lines.ts). */
import type { StoredRecordOf } from "../../message/record.ts";
import type { Scope, Store } from "../../store/store.ts";
import { copiableText, epochFrom, mostLines, textsNamed } from "./lines.ts";
import { epochOf } from "./record.ts";
import type { EpochData } from "./record.ts";

/** The line of an epoch. */
export type EpochLineRecord = Pick<StoredRecordOf<"edit">, "seq" | "data">;

/** Numbers that are further apart are read apart. */
const widestGap = 64;
/** Characters of messages that are kept for the next epoch. */
const mostKept = 4_000_000;
/** Epochs that are kept: all that the newest one rests on, so that a step back reads no more than a step on. */
const mostEpochs = mostLines + 1;

/** The epochs of one session, complete. What was read for one is kept for the next, which mostly rests on it. */
export class EpochReader {
  readonly #store: Store;
  readonly #scope: Scope;
  readonly #id: string;
  #messages = new Map<number, string>();
  #kept = 0;
  /** The epochs that were read last, by their lines. */
  readonly #epochs = new Map<number, EpochData>();
  #reading: Promise<unknown> = Promise.resolve();

  constructor(store: Store, scope: Scope, id: string) {
    this.#store = store;
    this.#scope = scope;
    this.#id = id;
  }

  /**
   * The epoch of a line; undefined where the line is none, or where what it rests on is damaged, masked or gone. Those who
   * ask at the same time are served one after the other.
   */
  epoch(line: EpochLineRecord): Promise<EpochData | undefined> {
    const next = this.#reading.then(() => this.#epoch(line));
    this.#reading = next.catch(() => undefined);
    return next;
  }

  async #epoch(line: EpochLineRecord): Promise<EpochData | undefined> {
    const complete = epochOf(line.data);
    if (complete) return this.#keep(line.seq, complete);
    const named = textsNamed(line.data);
    if (!named || named.lines.length > mostLines || named.lines.some((seq) => seq >= line.seq)) return undefined;
    const known = this.#epochs.get(line.seq);
    if (known) return this.#keep(line.seq, known);
    const from = named.lines.findLastIndex((seq) => this.#epochs.has(seq));
    const lines = await this.#lines(named.lines.slice(from + 1));
    if (!lines) return undefined;
    let base = this.#epochs.get(named.lines[from] ?? 0);
    const rest = [...lines, line];
    const messages = await this.messages(rest.flatMap(({ data }) => textsNamed(data)?.messages ?? []));
    for (const { seq, data } of rest) {
      base = epochOf(data) ?? epochFrom(data, { base, messages });
      if (!base) return undefined;
      this.#keep(seq, base);
    }
    return base;
  }

  #keep(seq: number, epoch: EpochData): EpochData {
    this.#epochs.delete(seq);
    this.#epochs.set(seq, epoch);
    for (const oldest of this.#epochs.keys()) {
      if (this.#epochs.size <= mostEpochs) break;
      this.#epochs.delete(oldest);
    }
    return epoch;
  }

  /** The texts of messages as lines copy them, by `seq`; without those that a mask changed and those that are gone. */
  async messages(seqs: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const unread = seqs.filter((seq) => !this.#messages.has(seq));
    if (unread.length > 0 && this.#kept > mostKept) {
      this.#messages = new Map([...this.#messages].filter(([seq]) => seqs.includes(seq)));
      this.#kept = [...this.#messages.values()].reduce((sum, text) => sum + text.length, 0);
    }
    for (const { from, to, wanted } of rangesOf(unread)) {
      for await (const record of this.#store.read(this.#scope, this.#id, { kind: "message", from, to })) {
        const { seq, message } = record;
        if (!wanted.has(seq) || message.masks !== undefined) continue;
        const text = copiableText(message);
        this.#messages.set(seq, text);
        this.#kept += text.length;
      }
    }
    return this.#messages;
  }

  /** Lines by their numbers, oldest first; undefined where one is missing or masked. */
  async #lines(seqs: readonly number[]): Promise<readonly EpochLineRecord[] | undefined> {
    const found = new Map<number, EpochLineRecord>();
    for (const { from, to, wanted } of rangesOf(seqs)) {
      for await (const { seq, type, data, masks } of this.#store.read(this.#scope, this.#id, {
        kind: "edit",
        from,
        to,
      })) {
        if (wanted.has(seq) && type === "epoch" && masks === undefined) found.set(seq, { seq, data });
      }
    }
    const lines = seqs.flatMap((seq) => found.get(seq) ?? []);
    return lines.length === seqs.length ? lines : undefined;
  }
}

/** The stretches of a log that numbers lie in, oldest first. */
function rangesOf(
  seqs: readonly number[],
): readonly { readonly from: number; readonly to: number; readonly wanted: ReadonlySet<number> }[] {
  const wanted = new Set(seqs);
  const ranges: { from: number; to: number; wanted: ReadonlySet<number> }[] = [];
  for (const seq of [...wanted].sort((left, right) => left - right)) {
    const last = ranges.at(-1);
    if (last && seq - last.to <= widestGap) last.to = seq;
    else ranges.push({ from: seq, to: seq, wanted });
  }
  return ranges;
}
