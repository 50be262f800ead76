/** Reads epochs whose lines copy their texts from the line before and from messages (window/epoch/lines.ts). */
import type { JsonObject } from "../../message/message.ts";
import type { StoredRecordOf } from "../../message/record.ts";
import type { Scope, Store } from "../../store/store.ts";
import { completeData, copiableText, copiesIn, mostLines, textsIn } from "./lines.ts";
import { epochOf } from "./record.ts";
import type { EpochData } from "./record.ts";

/** The line of an epoch. */
export type EpochLineRecord = Pick<StoredRecordOf<"edit">, "seq" | "data">;

/** Messages that are further apart are read apart. */
const widestGap = 64;
/** Characters of messages that are kept for the next epoch. */
const mostKept = 4_000_000;

/** The epochs of one session, complete. What was read for one is kept for the next, which mostly rests on it. */
export class EpochReader {
  readonly #store: Store;
  readonly #scope: Scope;
  readonly #id: string;
  #messages = new Map<number, string>();
  #kept = 0;
  /** The texts of the lines that were read last. */
  readonly #texts = new Map<number, string>();

  constructor(store: Store, scope: Scope, id: string) {
    this.#store = store;
    this.#scope = scope;
    this.#id = id;
  }

  /** The epoch of a line; undefined where the line is none, or where what it rests on is damaged, masked or gone. */
  async epoch(line: EpochLineRecord): Promise<EpochData | undefined> {
    const data = await this.complete(line);
    return data && epochOf(data);
  }

  /** As {@link EpochReader.epoch}, as a complete line has it. */
  async complete(line: EpochLineRecord): Promise<JsonObject | undefined> {
    const rest = [line];
    let before: string | undefined;
    for (let base = copiesIn(line.data)?.base; base !== undefined && before === undefined;) {
      before = this.#texts.get(base);
      const found = before === undefined && rest.length <= mostLines ? await this.#line(base) : undefined;
      if (found) rest.unshift(found);
      else if (before === undefined) return undefined;
      base = copiesIn(rest[0]!.data)?.base;
    }
    const messages = await this.#messagesOf(rest.flatMap(({ data }) => copiesIn(data)?.messages ?? []));
    for (const { seq, data } of rest) {
      if (before !== undefined) messages.set(0, before);
      before = textsIn(data, messages);
      if (before === undefined) return undefined;
      this.#texts.set(seq, before);
    }
    for (const oldest of this.#texts.keys()) if (this.#texts.size > mostLines + 1) this.#texts.delete(oldest);
    return completeData(line.data, before ?? "");
  }

  async #line(seq: number): Promise<EpochLineRecord | undefined> {
    const query = { kind: "edit", originals: true, from: seq, to: seq } as const;
    for await (const { type, data } of this.#store.read(this.#scope, this.#id, query))
      if (type === "epoch") return { seq, data };
    return undefined;
  }

  /** The texts of messages as lines copy them, by `seq`; those that are gone are not there. */
  async #messagesOf(seqs: readonly number[]): Promise<Map<number, string>> {
    if (this.#kept > mostKept) [this.#messages, this.#kept] = [new Map(), 0];
    const known = this.#messages;
    const texts = new Map(seqs.flatMap((seq) => (known.has(seq) ? [[seq, known.get(seq)!] as const] : [])));
    for (const range of rangesOf(seqs.filter((seq) => !texts.has(seq)))) {
      const query = { kind: "message", originals: true, ...range } as const;
      for await (const { seq, message } of this.#store.read(this.#scope, this.#id, query)) {
        const text = copiableText(message);
        texts.set(seq, text);
        known.set(seq, text);
        this.#kept += text.length;
      }
    }
    return texts;
  }
}

/** The stretches of a log that numbers lie in, oldest first. */
function rangesOf(seqs: readonly number[]): readonly { readonly from: number; readonly to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  for (const seq of [...seqs].sort((left, right) => left - right)) {
    const last = ranges.at(-1);
    if (last && seq - last.to <= widestGap) last.to = seq;
    else ranges.push({ from: seq, to: seq });
  }
  return ranges;
}
