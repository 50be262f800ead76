/** Lines of files that no longer stand: a passage out of an older read says so, and ranks behind. */
import type { Message } from "../../message/message.ts";
import type { TextMask } from "../window.ts";
import { keyOf } from "../digest/line.ts";
import { recallId } from "../stub/stub.ts";
import { followFile } from "./files.ts";
import type { FileLog } from "./files.ts";
import type { Hit, HitDocument, RankedHit } from "./hits.ts";
import { bareLine } from "./pieces.ts";

/** Hits that are looked after, and files. */
const mostHits = 64;
const mostFiles = 8;

/** The share of its score that a hit keeps whose line was replaced. */
const share = 0.6;

/** Finds hits whose lines a later call replaced. */
export class Replaced {
  readonly #files: FileLog;
  /** Hits by their file. */
  readonly #hits = new Map<string, Hit[]>();
  readonly #by = new Map<Hit, number>();

  constructor(files: FileLog, ranked: readonly RankedHit[]) {
    this.#files = files;
    for (const { hit } of ranked.slice(0, mostHits)) {
      const path = pathOf(hit, files);
      if (path === undefined || hit.isHead) continue;
      const known = this.#hits.get(path);
      if (known) known.push(hit);
      else if (this.#hits.size < mostFiles) this.#hits.set(path, [hit]);
    }
  }

  /** The messages to read for it. */
  get wanted(): readonly number[] {
    return [...this.#hits].flatMap(([path, hits]) => {
      const events = this.#files.events(path);
      const oldest = Math.min(...hits.map(({ document }) => document.seq));
      // A file that nothing had to do with since holds what it held.
      const isOld = events.some(({ result }) => result > oldest);
      return isOld ? events.flatMap(({ call, result }) => [call, result]) : [];
    });
  }

  /** Follows the files through the messages. */
  read(messages: ReadonlyMap<number, Message>, mask: TextMask): this {
    for (const [path, hits] of this.#hits) {
      const keys = new Map(hits.map((hit) => [hit, keysOf(hit)]));
      const stood = new Set<Hit>();
      followFile(path, this.#files.events(path), messages, mask, (view, { call, result }) => {
        const lines = new Set(view?.stretches.flatMap((stretch) => stretch.lines.map(({ key }) => key)));
        for (const hit of hits) {
          const stands = keys.get(hit)?.some((key) => lines.has(key)) ?? false;
          if (stands) this.#by.delete(hit);
          // The old text of an edit was replaced by the edit itself, and tells what was there before.
          else if (call === hit.document.seq) stood.delete(hit);
          else if (stood.has(hit) && hit.document.seq <= result && !this.#by.has(hit)) this.#by.set(hit, result);
          if (stands && (call <= hit.document.seq || result <= hit.document.seq)) stood.add(hit);
        }
      });
    }
    return this;
  }

  /** The hits with replaced ones behind. */
  rank(ranked: readonly RankedHit[]): readonly RankedHit[] {
    if (this.#by.size === 0) return ranked;
    const scored = ranked.map((one) =>
      this.#by.has(one.hit)
        ? { ...one, exact: false, score: share * one.score, own: share * one.own, together: share * one.together }
        : one,
    );
    return scored.sort((left, right) => {
      if (left.exact !== right.exact) return left.exact ? -1 : 1;
      return right.score - left.score || right.hit.document.seq - left.hit.document.seq;
    });
  }

  /** The remark for a document's head; empty where the lines that were hit still stand. */
  remark(document: HitDocument): string {
    const by = [...this.#by].filter(([hit]) => hit.document === document).map(([, seq]) => seq);
    return by.length === 0 ? "" : `changed by ${recallId(Math.max(...by))}`;
  }
}

function pathOf({ document }: Hit, files: FileLog): string | undefined {
  for (const word of document.label.split(" ").slice(1)) {
    const path = files.known(word);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** A hit's line as a file may have it: with and without what a listing or a call puts before it. */
function keysOf({ region, start, end }: Hit): readonly string[] {
  const line = region?.text.slice(start - region.offset, end - region.offset) ?? "";
  return [keyOf(line), bareLine(line)].filter((key) => key.length > 1);
}
