/** The mending of a request that was refused for what the gateway did to it: another body, each kind of mend once. */
import type { SentAnswer, WireRequest } from "../gateway.ts";
import { isOfOtherLength } from "../wire/faults.ts";
import { editsRemoved } from "./asking.ts";
import type { Editing } from "./editing.ts";
import type { Group } from "./group.ts";
import type { House } from "./house.ts";
import type { Line, MendedEpoch } from "./line.ts";
import { seen, withoutReasoning } from "./outcome.ts";
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

/** The mends of one request. */
export class Mending {
  /** The mends that were tried. */
  readonly names: string[] = [];
  readonly #house: House;
  readonly #request: WireRequest;
  readonly #editing: Editing;
  /** Most tokens of the smaller body. */
  #limit: number | undefined;
  /** The epoch that a mend opened. */
  #opened: MendedEpoch | undefined;
  /** Whether the refusal says only by its status that the request is too long. */
  #isVague = false;

  constructor(house: House, request: WireRequest, editing: Editing) {
    this.#house = house;
    this.#request = request;
    this.#editing = editing;
  }

  /** The request without what an error refuses; undefined where nothing of that was the gateway's doing. */
  async after(error: { readonly status: number; readonly body: string }, sent: Refused): Promise<Outcome | undefined> {
    const request = this.#request;
    const { api } = request;
    const { status, body } = error;
    if (sent.outcome.asked && api.edits?.isRefusal(status, body)) return this.#unasked();
    if (api.isUnopened?.(status, body)) return this.#own(sent.outcome);
    if (api.isPrefixFault(status, body)) {
      return request.keepsReasoning ? this.#own(sent.outcome) : this.#withoutReasoning(sent.outcome);
    }
    if (!api.isOverflow(status, body)) return undefined;
    // A status alone may be that of a proxy, for which nothing in the history is too long.
    this.#isVague = !api.isOverflow(400, body);
    const isInVain = sent.line?.isRefusedSmall === true || isOfOtherLength(body, sent.outcome.body.length);
    return this.#isVague && isInVain ? undefined : this.#smaller(sent);
  }

  /** Takes the answer. A limit holds on, and a mend's epoch stays open, only where that helped. */
  async answered(line: Line, session: Session, { status, isRefusedAgain = false }: SentAnswer): Promise<void> {
    const isTaken = status >= 200 && status < 300;
    const ceiling = line.ceilings.of(this.#request.model);
    if (isTaken) line.isRefusedSmall = false;
    if (isTaken && this.#request.kind === "turn") ceiling.taken(this.#limit);
    if (this.#limit === undefined) return;
    if (isTaken) {
      // Those of requests that wait for their answers are behind it.
      const opened = this.#opened;
      if (opened) line.mended = line.mended.slice(line.mended.indexOf(opened) + 1);
      return;
    }
    // An upstream that is away, busy or was not waited for has judged nothing.
    line.isRefusedSmall = this.#isVague && isRefusedAgain;
    if (isRefusedAgain) ceiling.refused(this.#limit);
    if (this.#opened) this.#opened.isInVain = true;
    await takenBack(line, session);
  }

  /** The client's own bytes, which know nothing of the edits that were refused. */
  #unasked(): Outcome {
    this.names.push(editsRemoved);
    return seen(this.#request);
  }

  /** The client's own bytes in the place of a window whose reasoning was refused, for a model that binds none. */
  #own({ list, body }: Outcome): Outcome | undefined {
    if (!list || body === this.#request.call.body) return undefined;
    this.names.push("own-bytes");
    return { ...seen(this.#request), mode: "bypassed", reason: "refused" };
  }

  #withoutReasoning(outcome: Outcome): Outcome | undefined {
    const { list } = outcome;
    if (!list || this.names.includes("reasoning-removed")) return undefined;
    this.names.push("reasoning-removed");
    return withoutReasoning(this.#request, outcome, list);
  }

  async #smaller({ outcome, line, group, base }: Refused): Promise<Outcome | undefined> {
    if (!line || !group || !this.#editing.isDue || this.names.includes(emergencyEpoch)) return undefined;
    if (this.#request.kind !== "turn" || base === undefined) return undefined;
    this.names.push(emergencyEpoch);
    const { whole = 1_000 } = this.#house.options.mostWait ?? {};
    const smaller = group.run(async () => {
      const session = await line.session();
      const { state } = session.stats();
      const tokens = outcome.tally?.left ?? state.currentContextTokens;
      this.#limit = line.ceilings.of(this.#request.model).below(tokens);
      if (line.chain.length !== base) return undefined;
      const before = epochOf(session);
      const edited = await this.#editing.edited(line, this.#limit);
      if (epochOf(session) > before) {
        this.#opened = { epoch: epochOf(session), behind: before, isInVain: false };
        line.mended.push(this.#opened);
      }
      return edited;
    });
    const found = await within(whole, smaller);
    return found?.list || found?.asked ? found : undefined;
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
