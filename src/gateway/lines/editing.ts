/** The bytes of one request by whoever edits it: the gateway, its provider, or nobody. */
import { isWindrowError } from "../../errors.ts";
import type { WireRequest, Written } from "../gateway.ts";
import { windowAlone } from "./alone.ts";
import { asked, isAskable } from "./asking.ts";
import type { Asked } from "./asked.ts";
import { originalsOf } from "./find.ts";
import type { Ceiling } from "./ceiling.ts";
import type { House } from "./house.ts";
import type { Line } from "./line.ts";
import { seen, windowed } from "./outcome.ts";
import type { Outcome } from "./outcome.ts";
import { hasEdits, sentWindow } from "./window.ts";

/** The editing of one request. */
export class Editing {
  readonly #house: House;
  readonly #asked: Asked;
  readonly #tenant: string;

  constructor(house: House, asked: Asked, tenant: string) {
    this.#house = house;
    this.#asked = asked;
    this.#tenant = tenant;
  }

  get #request(): WireRequest {
    return this.#asked.request;
  }

  /** Whether the request may be edited: a turn of a conversation that has tools, or of a client that names none. */
  get isDue(): boolean {
    const { kind, fixed, tools, claims, model } = this.#request;
    const isMain = tools.length > 0 || claims.session === undefined;
    if (kind === "side" || fixed !== undefined || !isMain || this.#house.budgetFor(model) === undefined) return false;
    return !this.#house.isAsking || isAskable(this.#house, this.#request, this.#tenant);
  }

  /**
   * A turn as whoever edits it wants it. The gateway goes on with what it once composed.
   *
   * @param limit - most tokens of a window. Default: what its model takes
   */
  async edited(line: Line, limit = this.#ceilingOf(line).most): Promise<Outcome> {
    const question = this.asked(line, limit);
    if (question?.asked) return question;
    const outcome = await this.composed(line, question && this.#house.unlimited, limit);
    return question ?? outcome;
  }

  /**
   * A turn whose provider edits, as the memory has its line. What the provider clears is no window of the log's, so no usage is
   * compared with one.
   *
   * @returns undefined where no provider is to be asked
   */
  asked(line: Line, limit = this.#ceilingOf(line).most): Outcome | undefined {
    if (!this.#house.isAsking || line.isPlanned || !this.isDue) return undefined;
    return asked(this.#house, line, this.#request, limit);
  }

  /** A window without the log; undefined where the request is not to be edited, or none can be made. */
  alone(): readonly Written[] | undefined {
    return this.isDue ? windowAlone(this.#house, this.#request) : undefined;
  }

  /** A turn in its window. @param given - its budget, in the place of the house's */
  async composed(line: Line, given?: number, limit = this.#ceilingOf(line).most): Promise<Outcome> {
    const [house, request] = [this.#house, this.#request];
    const budget = this.isDue ? house.budgetFor(request.model) : undefined;
    const session = await line.current(originalsOf(this.#asked.own, line));
    const most = given ?? Math.floor(Math.min(budget ?? house.unlimited, limit));
    const { system, tools } = request;
    const blocks = { ...(system !== undefined && { system }), tools };
    const composed = await session.compose({ ...blocks, budget: most }).catch((error: unknown) => {
      if (this.#ceilingOf(line).most > most || !isWindrowError(error, "over-budget")) throw error;
      // The provider took so little once; the newest messages alone are more now.
      this.#ceilingOf(line).most = Infinity;
      return session.compose({ ...blocks, budget: budget ?? house.unlimited });
    });
    line.isPlanned ||= budget !== undefined && hasEdits(composed.state.edits);
    if (!line.isPlanned || request.fixed !== undefined) {
      return { ...seen(request), mode: budget === undefined ? "observed" : "composed" };
    }
    line.window = sentWindow(composed, line.chain, request.api);
    return windowed(request, line, "composed");
  }

  #ceilingOf(line: Line): Ceiling {
    return line.ceilings.of(this.#request.model);
  }
}
