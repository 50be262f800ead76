/**
 * The records missing from a session's logs, found by their numbers. `seq` has no gap within a log, and `pos` none over
 * all logs together. A session's state names the last number of each log.
 */
import type { StoredRecord } from "../../message/record.ts";
import type { LogName } from "../store.ts";
import type { Seal } from "../format/seal.ts";
import { SealHash, noCounts } from "../format/seal.ts";

/** A run of numbers, both ends included. */
export type Run = readonly [from: number, to: number];

/** Runs that are told one by one; the rest is only counted. */
const toldRuns = 20;

/** Places beyond this are not followed one by one: a number that high is damage of its own. */
const mostPlaces = 2 ** 26;

/** The records that one log lacks. */
export interface LogLoss {
  readonly log: LogName;
  /** The first runs of numbers that no line has, in the middle or at the beginning. */
  readonly gaps: readonly Run[];
  /** How many numbers those runs and the untold ones have. */
  readonly missing: number;
  /** The first gap, in bytes from the start; undefined where there is none. */
  readonly offset?: number;
  /** The highest number that is there. */
  readonly highest: number;
  /** How many records were there beyond that. */
  readonly short: number;
  /** The source of the count: the state, or other logs that refer to the records. */
  readonly by: "state" | "others";
}

/** The records that a session lacks. */
export interface Losses {
  /** Every log that lacks something. */
  readonly logs: readonly LogLoss[];
  /** Places of the session that no line has and that no log's loss explains: the end of some log is gone. */
  readonly places: number;
  /** Whether nothing is missing and the lines are all the same others than those the session was finished with. */
  readonly differs: boolean;
  /** Records that are missing, in all. */
  readonly records: number;
}

/** A record on its way past. */
export interface SeenRecord {
  readonly seq: number;
  /** Undefined for a line of another program that has none. */
  readonly pos: number | undefined;
  /** See {@link SealHash}. */
  readonly checksum: string;
  /** Bytes from the start of the log. */
  readonly offset?: number;
}

/** Follows the records of a session, log by log, and adds up what is missing. */
export class LossCheck {
  readonly #seal: Seal | undefined;
  readonly #until: number;
  readonly #hash = new SealHash();
  readonly #highest = noCounts();
  readonly #gaps = new Map<LogName, { runs: Run[]; missing: number; offset: number | undefined }>();
  #places = new Uint8Array(1024);
  #distinct = 0;
  #newest = 0;
  #knowsPlaces = true;
  /** The highest message that other logs, or the state, speak of; asked where nothing counts the messages. */
  #implied = 0;

  /**
   * @param seal - what the state said before the first record was read
   * @param until - the highest place that was given out then, where a writer may be at work
   */
  constructor(seal: Seal | undefined, until = Number.POSITIVE_INFINITY) {
    this.#seal = seal;
    this.#until = until;
  }

  /** @returns the numbers that are missing before this record, if any are */
  add(log: LogName, { seq, pos, checksum, offset }: SeenRecord): Run | undefined {
    this.#hash.add(log, seq, checksum);
    this.#addPlace(pos);
    const expected = this.#highest[log] + 1;
    this.#highest[log] = Math.max(this.#highest[log], seq);
    if (seq <= expected) return undefined;
    const run: Run = [expected, seq - 1];
    this.#addGap(log, run, offset);
    return run;
  }

  #addGap(log: LogName, run: Run, offset: number | undefined): void {
    const gaps = this.#gaps.get(log) ?? { runs: [], missing: 0, offset };
    gaps.missing += run[1] - run[0] + 1;
    if (gaps.runs.length < toldRuns) gaps.runs.push(run);
    this.#gaps.set(log, gaps);
  }

  /** Records behind the last good one that are known to be lost. */
  lose(log: LogName, [from, to]: Run): void {
    this.#highest[log] = Math.max(this.#highest[log], to);
    this.#addGap(log, [from, to], undefined);
  }

  /** Something speaks of this message, by `seq`: it was there. */
  imply(message: number): void {
    this.#implied = Math.max(this.#implied, message);
  }

  /** The losses, after the last record. */
  result(): Losses {
    const logs: LogLoss[] = [];
    for (const [name, highest] of Object.entries(this.#highest)) {
      const log = name as LogName;
      const { runs = [], missing = 0, offset } = this.#gaps.get(log) ?? {};
      const by = this.#seal ? "state" : "others";
      const counted = this.#seal ? this.#seal.counts[log] : log === "messages" ? this.#implied : 0;
      const short = Math.max(0, counted - highest);
      if (missing + short === 0) continue;
      logs.push({ log, gaps: runs, missing, highest, short, by, ...(offset === undefined ? {} : { offset }) });
    }
    const known = logs.reduce((sum, loss) => sum + loss.missing + loss.short, 0);
    const holes = this.#knowsPlaces ? Math.max(this.#newest, this.#seal?.pos ?? 0) - this.#distinct : 0;
    const places = Math.max(0, holes - known);
    const differs = known + places === 0 && this.#seal?.hash !== undefined && this.#seal.hash !== this.#hash.digest();
    return { logs, places, differs, records: known + places };
  }

  #addPlace(pos: number | undefined): void {
    if (pos === undefined || pos > mostPlaces) this.#knowsPlaces = false;
    if (!this.#knowsPlaces || pos === undefined || pos > this.#until) return;
    this.#newest = Math.max(this.#newest, pos);
    const [byte, bit] = [pos >>> 3, 1 << (pos & 7)];
    if (byte >= this.#places.length) {
      const grown = new Uint8Array(2 * byte);
      grown.set(this.#places);
      this.#places = grown;
    }
    if ((this.#places[byte]! & bit) !== 0) return;
    this.#places[byte]! |= bit;
    this.#distinct += 1;
  }
}

/** The message that a record speaks of as one that is there; 0 for none. */
export function impliedBy(record: StoredRecord): number {
  if (record.kind === "summary") return record.endSeq;
  return record.kind === "tool" ? (record.messageSeq ?? 0) : 0;
}

/** Runs as people read them: `12–19, 24`. */
export function runsText({ gaps, missing }: Pick<LogLoss, "gaps" | "missing">): string {
  const told = gaps.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const texts = gaps.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
  return [...texts, ...(told < missing ? ["…"] : [])].join(", ");
}
