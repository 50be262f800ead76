/** Progress on stderr, for what takes longer than a second. */
import { SingleBar } from "cli-progress";
import { printable } from "../../printable.ts";
import type { CliIo } from "../command.ts";
import { rawStream } from "../terminal.ts";

/** Nothing is shown of work that ends sooner, in milliseconds. */
const patienceMs = 1_000;
/** How often a line is written where there is no terminal, in milliseconds. */
const lineEveryMs = 5_000;

/** Shows how far a piece of work has come: a bar in a terminal, elsewhere a line now and then. */
export class Progress {
  readonly #io: CliIo;
  readonly #now: () => number;
  readonly #started: number;
  #bar: SingleBar | undefined;
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
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #draw(what: string, done: number, total: number): void {
    if (!this.#bar) {
      this.#bar = new SingleBar({
        stream: rawStream(this.#io.stderr) as unknown as NodeJS.WriteStream,
        format: "{bar} {percentage} %  {what}",
        barCompleteChar: "█",
        barIncompleteChar: "░",
        barsize: 24,
        hideCursor: true,
        clearOnComplete: true,
      });
      this.#bar.start(total, done, { what });
    }
    this.#bar.setTotal(total);
    this.#bar.update(done, { what });
  }
}
