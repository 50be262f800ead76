/** The end of the waiting for a server: a store that is closed gives up a server that is silent. */
import { setMaxListeners } from "node:events";
import { storeClosed } from "./rules.ts";

/** How long a server may be silent while its store is closed, in milliseconds. */
const silentMs = 5_000;

/** The waiting for a server, which ends where its store is closed and it is silent for long. */
export class Farewell {
  readonly #givenUp = new AbortController();
  readonly #waiting = new Set<(error: Error) => void>();
  #isBegun = false;
  #answers = 0;
  /** Runs from the first thing that is sent behind an answer until the next answer. */
  #timer: NodeJS.Timeout | undefined;
  /** Whether it was silent for so long, and nothing was waited for just then: what is sent next is tried once. */
  #isSilent = false;

  readonly #isAnswer: (error: unknown) => boolean;
  readonly #failureOf: (error: unknown) => unknown;

  /**
   * @param isAnswer - whether an error is the server's own word
   * @param failureOf - the error that is thrown for one of a client
   */
  constructor(isAnswer: (error: unknown) => boolean, failureOf: (error: unknown) => unknown) {
    this.#isAnswer = isAnswer;
    this.#failureOf = failureOf;
    setMaxListeners(0, this.#givenUp.signal);
  }

  /** Aborted once the server was given up. */
  get givenUp(): AbortSignal {
    return this.#givenUp.signal;
  }

  /**
   * The answer to what is sent; what was sent may be carried out also where it is given up.
   *
   * @throws WindrowError `closed` where the server was given up before: nothing is sent; the failure of an error
   */
  async heard<T>(send: () => PromiseLike<T>): Promise<T> {
    if (this.#givenUp.signal.aborted) throw storeClosed();
    let giveUp: ((error: Error) => void) | undefined;
    try {
      const answer = await new Promise<T>((resolve, reject) => {
        giveUp = reject;
        this.#waiting.add(giveUp);
        if (this.#isBegun) this.#listen();
        send().then(resolve, reject);
      });
      this.#hear();
      return answer;
    } catch (error) {
      if (this.#isAnswer(error)) this.#hear();
      else if (this.#isSilent) this.#giveUp();
      throw this.#failureOf(error);
    } finally {
      if (giveUp) this.#waiting.delete(giveUp);
    }
  }

  /** The store is being closed: from now on a server that is asked and answers nothing for five seconds is given up. */
  begin(): void {
    this.#isBegun = true;
    if (this.#waiting.size > 0) this.#listen();
  }

  /** Nothing is waited for any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isSilent = false;
    this.#answers++;
  }

  /** The server answered; what else is waited for has its own five seconds from now on. */
  #hear(): void {
    this.end();
    if (this.#isBegun && this.#waiting.size > 1) this.#listen();
  }

  #listen(): void {
    this.#timer ??= setTimeout(() => {
      const answers = this.#answers;
      // An answer that came while the process was busy is read first.
      setImmediate(() => setImmediate(() => this.#missAnswer(answers)));
    }, silentMs);
  }

  #missAnswer(answers: number): void {
    if (answers !== this.#answers) return;
    this.#timer = undefined;
    if (this.#waiting.size > 0) this.#giveUp();
    else this.#isSilent = true;
  }

  #giveUp(): void {
    this.#givenUp.abort();
    const reason = `it was silent for ${silentMs / 1_000} s while the store was closed`;
    for (const giveUp of this.#waiting) giveUp(new Error(reason));
  }
}
