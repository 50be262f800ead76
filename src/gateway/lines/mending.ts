/** The mending of a request that was refused for what the gateway did to it: another body, each kind of mend once. */
import type { SentAnswer, WireRequest } from "../gateway.ts";
import { isOfOtherLength } from "../../shape/faults.ts";
import { isWindrowError } from "../../errors.ts";
import type { Asked } from "./asked.ts";
import { lessOf, mostInVain } from "./ceiling.ts";
import type { Vague } from "./ceiling.ts";
import { editsRemoved } from "./decision.ts";
import type { Decision } from "./decision.ts";
import type { Group } from "./group.ts";
import type { House } from "./house.ts";
import type { Line, MendedEpoch } from "./line.ts";
import { isTaken } from "./outcome.ts";
import type { Outcome } from "./outcome.ts";
import type { Session } from "../../session/session.ts";
import { within } from "./within.ts";

const emergencyEpoch = "emergency-epoch";

/** A request as it was sent. */
export interface Refused {
  readonly outcome: Outcome;
  readonly line: Line | undefined;
  readonly group: Group | undefined;
  /** The length of the chain with all that the request brought. */
  readonly base: number | undefined;
}

/** A body within so many tokens. */
interface Fitting {
  readonly edited: Outcome;
  readonly limit: number;
}

/** The mends of one request. */
export class Mending {
  /** The mends that were tried. */
  readonly names: string[] = [];
  readonly #house: House;
  readonly #asked: Asked;
  readonly #decision: Decision;
  /** Most tokens of the smaller body. */
  #limit: number | undefined;
  /** The smaller body where the refusal says only by its status that the request is too long. */
  #vague: Vague | undefined;
  /** The epochs that were opened for it. */
  readonly #opened: MendedEpoch[] = [];

  constructor(house: House, asked: Asked, decision: Decision) {
    this.#house = house;
    this.#asked = asked;
    this.#decision = decision;
  }

  get #request(): WireRequest {
    return this.#asked.request;
  }

  /** The request without what an error refuses; undefined where nothing of that was the gateway's doing. */
  async after(error: { readonly status: number; readonly body: string }, sent: Refused): Promise<Outcome | undefined> {
    const request = this.#request;
    const { api } = request;
    const { status, body } = error;
    if (sent.outcome.asked && api.edits?.isRefusal(status, body)) return this.#unasked();
    if (api.isUnopened?.(status, body)) return this.#own(sent.outcome);
    if (api.isPrefixFault(status, body)) {
      return request.keepsReasoning ? this.#own(sent.outcome) : this.#withoutReasoning(sent);
    }
    if (!api.isOverflow(status, body)) return undefined;
    // A status alone may be that of a proxy, for which nothing in the history is too long.
    const isVague = !api.isOverflow(400, body);
    return isVague && isOfOtherLength(body, sent.outcome.body.length) ? undefined : this.#smaller(sent, isVague);
  }

  /** Takes the answer. A limit holds on, and a mend's epoch stays open, only where that helped. @param plan - the body's epoch */
  async answered(line: Line, session: Session, sent: SentAnswer, plan: number): Promise<void> {
    if (this.#request.kind !== "turn") return;
    const ceiling = line.ceilings.of(this.#request.model);
    if (isTaken(sent)) {
      // A window that another request's mend opened helped this one.
      const helped = line.mended.findLast(({ epoch }) => epoch <= plan);
      ceiling.taken(this.#limit ?? helped?.limit);
      line.mended = line.mended.filter(({ epoch }) => epoch > plan);
      return;
    }
    // An upstream that is away, busy or was not waited for has judged nothing.
    if (sent.isRefusedAgain === true && this.#limit !== undefined) ceiling.refused(this.#limit, this.#vague);
    for (const opened of this.#opened) opened.isInVain = true;
    await takenBack(line, session);
  }

  /** The client's own bytes, which know nothing of the edits that were refused. */
  #unasked(): Outcome {
    this.names.push(editsRemoved);
    return this.#decision.own();
  }

  /** The client's own bytes in the place of a window whose reasoning was refused, for a model that binds none. */
  #own({ list, body }: Outcome): Outcome | undefined {
    if (!list || body === this.#request.call.body) return undefined;
    this.names.push("own-bytes");
    return { ...this.#decision.own("bypassed"), reason: "refused" };
  }

  /** Of a line that began elsewhere, nobody knows what its reasoning is bound to. */
  #withoutReasoning({ outcome, line }: Refused): Outcome | undefined {
    const list =
      outcome.list ?? this.#asked.recalled ?? (line?.isForeign === true ? this.#request.messages : undefined);
    if (!list || this.names.includes("reasoning-removed")) return undefined;
    this.names.push("reasoning-removed");
    return this.#decision.bare(outcome, list);
  }

  async #smaller({ outcome, line, group, base }: Refused, isVague: boolean): Promise<Outcome | undefined> {
    if (!line || !group || !this.#decision.isDue || this.names.includes(emergencyEpoch)) return undefined;
    if (this.#request.kind !== "turn" || base === undefined) return undefined;
    const ceiling = line.ceilings.of(this.#request.model);
    const bytes = isVague ? ceiling.bytesBelow({ bytes: outcome.body.length, messages: base }) : Infinity;
    if (bytes === undefined) return undefined;
    this.names.push(emergencyEpoch);
    const { whole = 1_000 } = this.#house.options.mostWait ?? {};
    const smaller = group.run(async () => {
      const session = await line.session();
      const tokens = outcome.tally?.left ?? session.stats().state.currentContextTokens;
      if (line.chain.length !== base) return undefined;
      const below = { from: ceiling.below(tokens), to: tokens, bytes };
      return this.#fitting(line, session, below);
    });
    const found = await within(whole, smaller);
    if (!found) return undefined;
    const { cleared = 0, body } = found.edited;
    const isCleared = found.edited.asked !== undefined && !isVague;
    if (isCleared ? cleared <= (outcome.cleared ?? 0) : body.length >= outcome.body.length) return undefined;
    this.#limit = found.limit;
    if (isVague) this.#vague = { bytes: body.length, messages: base };
    return found.edited;
  }

  /** The smallest body that is asked for, as far as one can be made: of more tokens, but fewer than `to`, or of more bytes. */
  async #fitting(
    line: Line,
    session: Session,
    { from, to, bytes }: { readonly from: number; readonly to: number; readonly bytes: number },
  ): Promise<Fitting | undefined> {
    let found: Fitting | undefined;
    for (let limit = from; !found && limit < to; limit = Math.ceil(limit / lessOf))
      found = await this.#sizedTo(line, session, limit);
    for (let step = 1; found && found.edited.body.length > bytes && step <= mostInVain; step++) {
      const less = await this.#sizedTo(line, session, Math.floor(found.limit * lessOf));
      if (!less) break;
      found = less;
    }
    return found;
  }

  /** The request in so many tokens; undefined where it does not go into so few. */
  async #sizedTo(line: Line, session: Session, limit: number): Promise<Fitting | undefined> {
    const behind = epochOf(session);
    try {
      const edited = await this.#decision.within(line, limit);
      return { edited, limit };
    } catch (error) {
      if (!isWindrowError(error, "over-budget") && !isWindrowError(error, "budget-too-small")) throw error;
      return undefined;
    } finally {
      const epoch = epochOf(session);
      if (epoch > behind) {
        const opened = { epoch, behind, limit, isInVain: false };
        this.#opened.push(opened);
        line.mended.push(opened);
      }
    }
  }
}

/** Takes back the epochs of mends that did not help, newest first, as long as no other stands on them. */
async function takenBack(line: Line, session: Session): Promise<void> {
  for (let last = line.mended.at(-1); last?.isInVain && last.epoch === epochOf(session); last = line.mended.at(-1)) {
    await session.undo({ mayLeaveAgain: true });
    line.mended.pop();
    const before = line.mended.at(-1);
    // The window of the epoch before is in force again, under a number of its own.
    if (before && before.epoch === last.behind) before.epoch = epochOf(session);
  }
}

function epochOf(session: Session): number {
  return session.stats().state.epochCount;
}
