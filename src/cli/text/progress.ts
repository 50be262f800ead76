/** Progress on stderr, for what takes longer than a second. */
import { printable } from "../../printable.ts";
import type { CliIo } from "../io.ts";
import { rawStream } from "../terminal.ts";
import { oneLine } from "./text.ts";

/** Nothing is shown of work that ends sooner, in milliseconds. */
const patienceMs = 1_000;
/** How often the bar is drawn, in milliseconds. */
const drawEveryMs = 100;
/** How often a line is written where there is no terminal, in milliseconds. */
const lineEveryMs = 5_000;

/** Characters of the bar. */
const barWidth = 24;
/** Puts the cursor at the line's start and clears the line. */
const eraseLine = "\r\u001b[K";

/** Shows how far a piece of work has come: a bar in a terminal, elsewhere a line now and then. */
export class Progress {
  readonly #io: CliIo;
  readonly #now: () => number;
  readonly #started: number;
  #drawnAt: number | undefined;
  #lineAt = 0;

  /** @param now - the clock, in milliseconds */
  constructor(io: CliIo, now: () => number = io.now ?? (() => performance.now())) {
    this.#io = io;
    this.#now = now;
    this.#started = now();
  }

  /**
   * Says where the work stands.
   *
   * @param what - what is worked on, for people
   */
  update(what: string, done: number, total: number): void {
    const shown = printable(what);
    const now = this.#now();
    if (now - this.#started < patienceMs) return;
    if (this.#io.stderr.isTTY) return this.#draw(shown, done, total);
    if (now - this.#lineAt < lineEveryMs && this.#lineAt > 0) return;
    this.#lineAt = now;
    this.#io.stderr.write(`${shown}: ${done.toLocaleString("en-US")} of ${total.toLocaleString("en-US")}\n`);
  }

  /** Takes the bar off the screen. */
  end(): void {
    if (this.#drawnAt !== undefined) rawStream(this.#io.stderr).write(eraseLine);
    this.#drawnAt = undefined;
  }

  #draw(what: string, done: number, total: number): void {
    const now = this.#now();
    if (this.#drawnAt !== undefined && now - this.#drawnAt < drawEveryMs) return;
    this.#drawnAt = now;
    const share = total > 0 ? Math.min(1, done / total) : 0;
    const filled = Math.round(share * barWidth);
    const bar = "█".repeat(filled) + "░".repeat(barWidth - filled);
    const room = (this.#io.stderr.columns ?? 80) - barWidth - 9;
    const line = `${bar} ${Math.floor(100 * share)} %  ${oneLine(what, Math.max(10, room))}`;
    rawStream(this.#io.stderr).write(`${eraseLine}${line}`);
  }
}
