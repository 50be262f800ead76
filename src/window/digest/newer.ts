/** Newer lines: what a digest's line never stands without, as later lines say something newer of the same. */
import type { Work } from "../../turns.ts";
import type { Block, LineTable } from "./line-table.ts";
import type { Line } from "./line.ts";
import { Links } from "./links.ts";
import type { Origins, Source } from "./links.ts";
import { asserts, changes, states, termsOf } from "./saying.ts";

/** Rows that are looked at in one step. */
const rowsPerStep = 2_048;

/** The links among a digest's lines. */
export class NewerLines implements Origins {
  readonly #table: LineTable;
  /** By key: the first message with it, since which it was said. */
  readonly #since: Int32Array;
  #links: Links | undefined;

  private constructor(table: LineTable) {
    this.#table = table;
    this.#since = new Int32Array(table.keyLimit).fill(2 ** 31 - 1);
  }

  /** The links among the rows of blocks. */
  static *among(table: LineTable, blocks: readonly Block[]): Work<NewerLines> {
    const newer = new NewerLines(table);
    const { keys, seqs, isDone } = table;
    const { looks } = table.sayings;
    const rows: number[] = [];
    let steps = 0;
    for (const { from, to } of blocks) {
      for (let row = from; row < to; row++) {
        const key = keys[row]!;
        if (seqs[row]! < newer.#since[key]!) newer.#since[key] = seqs[row]!;
        // Of requests that were carried out, a line that says no value changes nothing.
        if (isDone[row] === 1 && (looks[row]! & (asserts | changes)) === 0) continue;
        if ((looks[row]! & states) !== 0) rows.push(row);
      }
      if ((steps += to - from) < rowsPerStep) continue;
      steps = 0;
      yield;
    }
    rows.sort((left, right) => seqs[left]! - seqs[right]! || left - right);
    yield;
    newer.#links = new Links(table.sayings, rows, newer);
    return newer;
  }

  sourceOf(row: number): Source {
    return sourceOf(this.#table.lines[row]!);
  }

  /** Whether a row was said after another: in a later message, or by what corrects or renews it later in the same. */
  isLater(other: number, row: number): boolean {
    const { keys, seqs, blocks, sayings } = this.#table;
    if (keys[other] === keys[row]) return false;
    const [before, after] = [blocks[row]!.passage, blocks[other]!.passage];
    const isOneFile = before.file && after.file && before.subject === after.subject;
    if (isOneFile || seqs[other] === seqs[row]) return other > row && sayings.renews(other, row, isOneFile);
    return seqs[other]! > (before.file ? seqs[row]! : this.#since[keys[row]!]!);
  }

  /** The newest lines of what a row speaks of, which it never stands without. */
  of(row: number): readonly number[] {
    const links = this.#links!;
    const newer = links.newerOf(row);
    const { passage } = this.#table.blocks[row]!;
    if (!passage.file) return newer;
    // What the user wrote of a file counts, whichever is the newer.
    const names = namesOf(passage.subject);
    const named = links.termsOf(0, names);
    if (named.length === 0) return newer;
    const said = termsOf(this.#table.lines[row]!.text);
    const saidByUser = links.termsOf(0, said);
    const ofUser = links.newerThan([...names, ...said], (other) => {
      return this.sourceOf(other) === 0 && links.hasAny(other, named) && links.hasAny(other, saidByUser);
    });
    return [...new Set([...newer, ...ofUser])];
  }

  /** The newest lines of what a text speaks of that stands before all lines. */
  than(text: string): readonly number[] {
    return this.#links!.newerThan(termsOf(text), () => true);
  }
}

function sourceOf({ kind }: Line): Source {
  if (kind === "user") return 0;
  return kind === "said" || kind === "answered" ? 2 : 1;
}

/** The names of a file: its path, its last part, and that without its ending. */
function namesOf(path: string): readonly string[] {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return [...new Set([path.toLowerCase(), name, name.replace(/\.\w+$/, "")])];
}
