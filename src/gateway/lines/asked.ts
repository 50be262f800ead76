/** A request as its client sent it and as its model reads it: the same, but for what the model recalls of the line's log. */
import type { WireRequest, Written } from "../gateway.ts";
import { recalled } from "../recall/recalls.ts";
import type { Recall } from "../recall/recalls.ts";
import { originalsOf } from "./find.ts";
import type { Found } from "./find.ts";
import type { House } from "./house.ts";
import type { Line } from "./line.ts";
import { Slow } from "./within.ts";

/** One request in both forms. */
export class Asked {
  /** As its client sent it: by this its line is found. */
  readonly own: WireRequest;
  /** As its model reads it: this is kept, composed and sent. */
  request: WireRequest;
  /** The recalls whose answers are not in the log yet. */
  #open: readonly Recall[] = [];

  constructor(own: WireRequest) {
    this.own = own;
    this.request = own;
  }

  /** Its messages where its model reads others than the client's. */
  get recalled(): readonly Written[] | undefined {
    return this.request === this.own ? undefined : this.request.messages;
  }

  /**
   * Answers what the model asked of the line's log.
   *
   * @param isSent - whether the request left meanwhile, with the client's own results
   * @throws WindrowError where the log cannot be read
   */
  async answer(house: House, { line, match }: Found, isSent: () => boolean): Promise<void> {
    this.#open = line.facts.hasTool === true ? line.recalls.open(this.own, match.length) : [];
    const texts = this.#open.length === 0 ? [] : await this.#answers(house, line);
    if (isSent()) return line.recalls.leave(this.#open);
    line.recalls.set(this.#open, texts);
    this.request = line.asRead(this.own);
  }

  async #answers(house: House, line: Line): Promise<readonly string[]> {
    const session = await line.current(originalsOf(this.own, line));
    return recalled(session, this.#open, { mask: house.secrets, budget: house.budgetFor(this.own.model) });
  }

  /** The log has the answers. */
  kept(): void {
    this.#open = [];
  }

  /** The line's work failed: answers that the log did not take are none, and the client's own results stay for good. */
  failed(line: Line, error: unknown): void {
    // A log that is slow takes them yet.
    const isLost = !(error instanceof Slow);
    if (isLost) line.recalls.leave(this.#open);
    // A line that the log has nothing of does not begin with the tool either.
    this.request = isLost && line.chain.length === 0 ? this.own : line.asRead(this.own);
  }
}
