/**
 * Which bytes a request is sent with. docs/gateway.md has the table of what may happen to a request: whatever is decided there about
 * bytes is decided here, from what its line, the log and its provider say.
 */
import { isWindrowError } from "../../errors.ts";
import { composeWindow } from "../../window/compose.ts";
import { strategyOf } from "../../window/by-name.ts";
import { counterFor, sizedBy } from "../../window/settings.ts";
import type { SentAnswer, WireRequest, Written } from "../gateway.ts";
import type { Asked } from "./asked.ts";
import type { Ceiling } from "./ceiling.ts";
import { Chain } from "./chain.ts";
import { clearingOf } from "./clearing.ts";
import { originalsOf } from "./find.ts";
import type { Found } from "./find.ts";
import type { House } from "./house.ts";
import type { Line } from "./line.ts";
import { isTaken } from "./outcome.ts";
import type { Outcome } from "./outcome.ts";
import { decodeTail, plansBehind } from "./tail.ts";
import { bare, bared, bodyOf, hasEdits, sentWindow, unboundProfile, written } from "./window.ts";

/** The mend of a request whose provider did not take the question. */
export const editsRemoved = "edits-removed";

/** The share of the budget that a window without the log uses, as no figure of the provider's corrects its count. */
const shareAlone = 0.75;

/** The decisions about one request. */
export class Decision {
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
    const { api, kind, fixed, tools, claims, model } = this.#request;
    const house = this.#house;
    const isMain = tools.length > 0 || claims.session === undefined;
    if (kind === "side" || fixed !== undefined || !isMain || house.budgetFor(model) === undefined) return false;
    if (!house.isAsking) return true;
    if (!api.edits) house.tellOnce({ type: "edits-unavailable", reason: api.name });
    return api.edits !== undefined && !house.hasRefused(this.#tenant, model);
  }

  /** Nothing is to be changed: the client's own bytes. */
  own(mode: Outcome["mode"] = "observed"): Outcome {
    return { body: this.#request.call.body, mode, plan: 0 };
  }

  /** The log has the request's messages. A client's prompt for a summary is none of them, and opens no epoch. */
  async byLog(line: Line): Promise<Outcome> {
    if (this.#request.kind !== "compaction") return this.within(line);
    if (line.isPlanned) return this.#hasAll(line) ? this.#composed(line, this.#house.unlimited) : this.own();
    return line.cleared === 0 ? this.own() : this.within(line);
  }

  /**
   * A turn as whoever edits it wants it. The gateway goes on with what it once composed.
   *
   * @param limit - most tokens of a window. Default: what its model takes
   */
  async within(line: Line, limit = this.#ceilingOf(line).most): Promise<Outcome> {
    const question = this.#question(line, limit);
    if (question?.asked) return question;
    const outcome = await this.#composed(line, question && this.#house.unlimited, limit);
    return question ?? outcome;
  }

  /**
   * The line's work failed: a question to the provider, which needs no log; else the last window with what is behind it; else,
   * where there may have been epochs, a window of the request alone; else the client's own bytes. Never throws.
   *
   * @param isUnread - whether a line of it may be in the store and could not be read
   */
  failed({ line, match }: Partial<Found>, reason: string, isUnread: boolean): Outcome {
    const own = { ...this.own("bypassed"), reason };
    try {
      const question = line && this.#question(line);
      if (question) return { ...question, mode: question.asked ? "asked" : "bypassed", reason };
      if (line?.window && (match?.length ?? 0) >= line.window.covers) {
        const outcome = { ...this.#windowed(line, "bypassed"), reason };
        // Reasoning of an answer that is not kept yet may stay where it is to this window.
        const others = plansBehind(this.#request, line, match?.length ?? 0).filter((plan) => plan !== outcome.plan);
        return others.length === 0 || !outcome.list ? outcome : this.bare(outcome, outcome.list);
      }
      if (line?.isPlanned !== true && !isUnread) return own;
      const request = this.#request;
      const list = (this.isDue ? this.#alone() : undefined) ?? bare(request);
      const body = bodyOf(request, list);
      return body === own.body ? own : { ...own, body, list, plan: -1, isBare: request.keepsReasoning !== true };
    } catch {
      return own;
    }
  }

  /** The same messages without reasoning, where the model takes them so. */
  bare(outcome: Outcome, list: readonly Written[]): Outcome {
    const request = this.#request;
    if (request.keepsReasoning) return outcome;
    const rest = bared(list, request);
    return { ...outcome, body: bodyOf(request, rest), list: rest, isBare: true };
  }

  /** Notes what an answer says about a question: its figures, or that the provider does not take it. */
  answered(line: Line, { cleared, tally }: Outcome, mends: readonly string[], sent: SentAnswer): void {
    if (!isTaken(sent)) return;
    // What was cleared in vain is not cleared from now on.
    if (cleared !== undefined) line.cleared = cleared;
    if (tally) line.tallied.observe(tally, sent.answer.usage, sent.answer.appliedEdits);
    if (mends.includes(editsRemoved)) this.#house.refuse(this.#tenant, this.#request.model);
  }

  /**
   * A turn with what its provider is asked to clear; the client's own bytes where it fits its budget, and where the client asks
   * for such an edit itself; undefined where no provider is to be asked. What the provider clears is no window of the log's.
   */
  #question(line: Line, limit = this.#ceilingOf(line).most): Outcome | undefined {
    const [house, request] = [this.#house, this.#request];
    if (!house.isAsking || line.isPlanned || !this.isDue) return undefined;
    const { tally, cleared, asked } = clearingOf(request, line.tallied, {
      budget: Math.min(house.budgetFor(request.model) ?? house.unlimited, limit),
      counter: counterFor(undefined, house.options.counter),
      held: Math.max(line.cleared, line.chain.cleared),
      isExcluded: (tool) => house.isRecallTool(tool),
    });
    if (cleared === 0) return { ...this.own(), tally };
    const made = request.api.edits?.ask(request, asked);
    return made ? { ...this.own("asked"), ...made, asked, cleared, tally } : this.own();
  }

  /** A turn in its window. @param given - its budget, in the place of the house's */
  async #composed(line: Line, given?: number, limit = this.#ceilingOf(line).most): Promise<Outcome> {
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
    if (!line.isPlanned || request.fixed !== undefined) return this.own(budget === undefined ? "observed" : "composed");
    line.window = sentWindow(composed, line.chain, request.api);
    return this.#windowed(line, "composed");
  }

  /** The line's last window with what the request has behind it; the client's own bytes where it has none. */
  #windowed({ window, chain }: Line, mode: Outcome["mode"]): Outcome {
    const request = this.#request;
    if (!window) return this.own();
    const list = written(window, request, { from: chain.reasonsFrom(window.epoch) });
    return { body: bodyOf(request, list), list, mode, plan: window.epoch };
  }

  /**
   * A window of the request's own messages, without reasoning that is bound to others. The log knows nothing of its edits, and ids
   * in stubs are those of its messages. Undefined where none can be made.
   */
  #alone(): readonly Written[] | undefined {
    const { api, messages, model, system, tools, keepsReasoning } = this.#request;
    const budget = this.#house.isComposing ? this.#house.budgetFor(model) : undefined;
    if (budget === undefined) return undefined;
    const { strategy = "adaptive", counter, budget: given } = this.#house.options;
    const chain = new Chain();
    const decoded = decodeTail(api, messages, 0).map((message, place) => {
      const id = `windrow:alone:${place}`;
      chain.push({ id, print: "" });
      return { ...message, id };
    });
    try {
      const composed = composeWindow({
        messages: decoded,
        budget: Math.floor(budget * shareAlone),
        strategy: sizedBy(strategyOf(strategy), given),
        profile: keepsReasoning ? unboundProfile(api) : api.profile,
        tools,
        ...(system !== undefined && { system }),
        ...(counter !== undefined && { counter }),
      });
      return written(sentWindow(composed, chain, api), this.#request, { from: Infinity });
    } catch {
      return undefined;
    }
  }

  /** Whether the request has all of the line's messages. */
  #hasAll({ chain }: Line): boolean {
    const last = chain.length - 1;
    return last >= 0 && chain.entries[last]?.hash === this.#asked.own.messages[last]?.hash;
  }

  #ceilingOf(line: Line): Ceiling {
    return line.ceilings.of(this.#request.model);
  }
}
