/** Strict recall: far recall where, of synthetic messages, only whole lines of the history count, and no bare names. */
import type { Message } from "../../../src/message/message.ts";
import { linesOf, readablePart } from "../../../src/replay/lines.ts";
import type { Recording } from "../../../src/replay/measure.ts";
import { atomsOf } from "../../../src/replay/recall-metric.ts";
import type { Atom } from "../../../src/replay/recall-metric.ts";

/** What strict recall is counted by. */
export type StrictRecording = Pick<Recording, "messages" | "reader" | "references" | "farDistance">;

/** The mean share of far references, over the calls with one. */
export interface StrictRecall {
  readonly shares: number;
  readonly steps: number;
}

/** Adds up strict recall, call by call. */
export class StrictTally {
  readonly #recording: StrictRecording;
  /** The lines of the whole history. */
  readonly #lines: ReadonlySet<string>;
  readonly #verbatim = new Map<string, ReadonlySet<Atom>>();
  #shares = 0;
  #steps = 0;

  constructor(recording: StrictRecording) {
    this.#recording = recording;
    this.#lines = new Set(
      recording.messages.flatMap(({ parts }) => parts.flatMap((part) => linesOf(readablePart(part)))),
    );
  }

  /** Counts one call. */
  add(index: number, window: readonly Message[]): void {
    const { references, farDistance } = this.#recording;
    const far = (references.get(index) ?? []).filter(({ distance }) => distance > farDistance);
    if (far.length === 0) return;
    this.#steps++;
    this.#shares += far.filter(({ atom }) => window.some((message) => this.#has(message, atom))).length / far.length;
  }

  result(): StrictRecall {
    return { shares: this.#shares, steps: this.#steps };
  }

  #has(message: Message, atom: Atom): boolean {
    if (!this.#recording.reader.has(message, atom)) return false;
    if (message.status !== "synthetic") return true;
    return message.parts.some((part) => this.#verbatimAtoms(readablePart(part)).has(atom));
  }

  #verbatimAtoms(text: string): ReadonlySet<Atom> {
    const known = this.#verbatim.get(text);
    if (known) return known;
    const atoms = atomsOf(
      linesOf(text)
        .filter((line) => line !== "" && this.#lines.has(line))
        .join("\n"),
    );
    this.#verbatim.set(text, atoms);
    return atoms;
  }
}

/** A share in per cent, rounded down to hundredths; undefined without a far reference. */
export function strictPercent({ shares, steps }: StrictRecall): number | undefined {
  return steps === 0 ? undefined : Math.floor((10_000 * shares) / steps) / 100;
}
