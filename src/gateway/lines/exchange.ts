/**
 * One request on its way, through the states of the table in docs/gateway.md: `begin` finds its line, keeps what is new and has
 * its bytes decided, `again` takes a refusal, `keep` the answer. Whatever fails here, bytes go on.
 */
import { toolCalls } from "../../message/message.ts";
import type { SentAnswer, Sending, WireRequest } from "../gateway.ts";
import { Asked } from "./asked.ts";
import { lengthOfTexts } from "./backlog.ts";
import { Printed } from "./chain.ts";
import { bestInStore, groupKey, isBegun, lineOf, originalsOf, rememberedOf, sideLineOf } from "./find.ts";
import type { Found } from "./find.ts";
import { retried } from "./group.ts";
import type { Group } from "./group.ts";
import type { House } from "./house.ts";
import { keepRecord } from "./record.ts";
import { Decision } from "./decision.ts";
import { Mending } from "./mending.ts";
import { isTaken, noteOf, sentAs } from "./outcome.ts";
import type { Outcome } from "./outcome.ts";
import { addedOf, answersOf } from "./tail.ts";
import { deferred, reasonOf, Slow, within } from "./within.ts";

/** Milliseconds that a request which is only observed waits for its line's name. */
const mostNaming = 20;

/** Milliseconds that keeping an observed request leaves to its answer's first bytes. */
const leftToBytes = 10;

/** One request on its way. */
export class Exchange implements Sending {
  readonly #house: House;
  readonly #asked: Asked;
  readonly #tenant: string;
  readonly #printed: Printed;
  readonly #decision: Decision;
  readonly #mending: Mending;
  readonly #time: string;
  #outcome: Outcome;
  #group: Group | undefined;
  #found: Found | undefined;
  /** The length of the chain with all that the request brought; undefined where it was not kept. */
  #base: number | undefined;
  /** Whether the store was asked for lines that others made meanwhile. */
  #isSought = false;
  #isSent = false;
  #attempt = 1;
  #isKept = false;
  /** Lets go of the group, which stays in memory until the answer is kept. */
  #release: () => void = () => undefined;
  /** Resolves when the answer is there to be kept. */
  readonly #answered = deferred<undefined>();
  /** Rejects where the messages take too long to be kept. */
  readonly #late = deferred<never>();

  constructor(house: House, request: WireRequest, tenant: string) {
    this.#house = house;
    this.#asked = new Asked(request);
    this.#tenant = tenant;
    this.#printed = new Printed(request.messages, house.options.secret);
    this.#decision = new Decision(house, this.#asked, tenant);
    this.#mending = new Mending(house, this.#asked, this.#decision);
    this.#time = house.now().toISOString();
    this.#outcome = this.#decision.own();
  }

  get #request(): WireRequest {
    return this.#asked.request;
  }

  get body(): Buffer {
    return this.#outcome.body;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#outcome.headers ?? {};
  }

  /** The value of the response header `x-windrow`. */
  get note(): string {
    return noteOf(this.#outcome, this.#found?.line);
  }

  /** Finds the line, and the bytes to send. Never rejects. */
  async begin(): Promise<this> {
    const { whole = 1_000 } = this.#house.options.mostWait ?? {};
    try {
      this.#outcome = await within(
        whole,
        this.#waiting(() => this.#begin()),
      );
    } catch (error) {
      this.#outcome = this.#bypass(error);
    }
    this.#isSent = true;
    this.#mark();
    return this;
  }

  /** Work that holds the request until it ends, and so many bytes more. */
  #waiting<T>(work: () => Promise<T>, more = 0): Promise<T> {
    return this.#house.backlog.run(this.#asked.own.call.body.length + more, work);
  }

  /** Notes at the line which body is sent in its name. */
  #mark(isOnly = false): void {
    if (this.#found) sentAs(this.#found.line, this.#outcome, this.#request, isOnly);
  }

  async #begin(): Promise<Outcome> {
    const { messages, kind } = this.#request;
    const group = await this.#house.groups.of(groupKey(this.#request, this.#tenant, this.#printed.at(0)));
    this.#group = group;
    if (!this.#isKept) this.#release = group.hold();
    if (kind === "side" || messages.length === 0) return this.#decision.own();
    if (this.#decision.isDue || !this.#isKnown(group)) {
      const outcome = await Promise.race([group.run(() => this.#sent(group)), this.#late.promise]);
      this.#house.succeeded();
      return outcome;
    }
    const named = deferred<undefined>();
    const work = this.#waiting(() => group.run(() => this.#sent(group, () => named.resolve(undefined))));
    let failure: unknown;
    const kept = within(this.#house.mostKeeping, work).then(
      () => this.#house.succeeded(),
      (error: unknown) => {
        failure = error;
        this.#notKept(error);
      },
    );
    await within(mostNaming, Promise.race([named.promise, kept])).catch(() => undefined);
    const outcome = this.#decision.own();
    return failure === undefined ? outcome : { ...outcome, mode: "bypassed", reason: reasonOf(failure) };
  }

  /** Whether the memory has all that decides about a request's bytes: its line, which is sent as its client wrote it. */
  #isKnown(group: Group): boolean {
    if (group.isUnread(this.#printed.at(0))) return false;
    if (group.lines.some(({ isPlanned, facts }) => isPlanned || facts.hasTool === true)) return false;
    // Answers that no line has may be to bytes that another gateway composed.
    const best = rememberedOf(this.#house, group, this.#request, this.#printed);
    return !isBegun(this.#request.messages.slice(best?.match.length));
  }

  /** The work of a turn, while no other request works on the group. */
  async #sent(group: Group, named?: () => void): Promise<Outcome> {
    const left = (id: string, error: unknown): void => this.#left(id, error);
    return retried(group, () => this.#worked(group, named), { line: () => this.#found?.line, left });
  }

  /** @param named - called when the line is known; what follows is then done behind the request's bytes */
  async #worked(group: Group, named?: () => void): Promise<Outcome> {
    const [house, request, printed] = [this.#house, this.#asked.own, this.#printed];
    const best = await bestInStore(house, group, request, printed, (id, error) => this.#left(id, error));
    this.#isSought = true;
    this.#found = best;
    const isSummary = request.kind === "compaction";
    // A summary that is asked for with the tools has its history before the prompt.
    const isApart = isSummary && (best !== undefined || request.tools.length === 0);
    const found = isApart
      ? this.#summarised(group, best)
      : await lineOf(house, group, request, { printed, tenant: this.#tenant, best, mayHaveTool: this.#decision.isDue });
    if (!found) return this.#decision.own();
    this.#found = found;
    house.open.used(found.line, group);
    if (!this.#isKept) found.line.awaiting.add(this);
    // A summary of what no line has is about none: its client's own results stay.
    if (!isApart || found.match.length > 0) await this.#asked.answer(house, found, () => this.#isSent);
    if (!isSummary) found.line.keepsReasoning = request.keepsReasoning === true;
    // The request went out while its line was still looked for.
    if (this.#isSent) this.#mark();
    named?.();
    if (isApart && !best) return this.#decision.own();
    const work = (): Promise<Outcome> => this.#kept(found, isSummary);
    if (!named) return work();
    await within(leftToBytes, this.#answered.promise).catch(() => undefined);
    return this.#house.crew.run(work);
  }

  /** Keeps what is new, and composes. */
  async #kept(found: Found, isSummary: boolean): Promise<Outcome> {
    const { line } = found;
    const last = this.#request.messages.length - (isSummary ? 1 : 0);
    const isNew = await this.#appendTail(found, last);
    line.attempts = isNew ? 1 : line.attempts + 1;
    this.#attempt = line.attempts;
    if (!isSummary) this.#base = line.chain.length;
    return this.#decision.byLog(line);
  }

  /** The line that a request for a summary is about: the one it repeats, or the newest. */
  #summarised(group: Group, best: Found | undefined): Found | undefined {
    if (best) {
      best.line.chain.confirm(this.#printed, best.match);
      return best;
    }
    const line = group.lines.at(-1);
    return line && { line, match: { length: 0, echoes: [] } };
  }

  async #appendTail({ line, match }: Found, last: number): Promise<boolean> {
    if (match.length < line.chain.length || match.length >= last) return false;
    const added = addedOf(this.#asked, this.#printed, { match, last, line });
    const { append = 250 } = this.#house.options.mostWait ?? {};
    // The group waits for the log, and the request no longer than it may.
    const timer = setTimeout(() => this.#late.reject(new Slow(append)), append);
    try {
      await line.append(added, originalsOf(this.#asked.own, line));
      this.#asked.kept();
    } finally {
      clearTimeout(timer);
    }
    return true;
  }

  /** The bytes of a request whose line's work failed. */
  #bypass(error: unknown): Outcome {
    const reason = reasonOf(error);
    this.#found ??= this.#group && rememberedOf(this.#house, this.#group, this.#asked.own, this.#printed);
    const line = this.#found?.line;
    if (line) this.#asked.failed(line, error);
    this.#house.failed({ type: "request-bypassed", reason, error, ...(line && { sessionId: line.id }) });
    const isLost = !line && !this.#isSought;
    const isUnread = this.#house.isComposing && (isLost || this.#group?.isUnread(this.#printed.at(0)) !== false);
    return this.#decision.failed(this.#found ?? {}, reason, isUnread);
  }

  /** A body without what the provider refused, where that was the gateway's own doing; each kind of mend once. */
  async again(status: number, body: string): Promise<Buffer | undefined> {
    try {
      const sent = { outcome: this.#outcome, line: this.#found?.line, group: this.#group, base: this.#base };
      const outcome = await this.#mending.after({ status, body }, sent);
      if (!outcome) return undefined;
      this.#outcome = outcome;
      this.#mark(true);
      return outcome.body;
    } catch (error) {
      this.#notKept(error);
      return undefined;
    }
  }

  /** Keeps the answer. Never rejects. */
  async keep(sent: SentAnswer): Promise<void> {
    this.#isKept = true;
    this.#answered.resolve(undefined);
    try {
      await within(
        this.#house.mostKeeping,
        this.#waiting(() => this.#keptOn(sent), lengthOfTexts(sent.answer)),
      );
    } catch (error) {
      this.#notKept(error);
    } finally {
      this.#found?.line.awaiting.delete(this);
      this.#release();
    }
  }

  async #keptOn(sent: SentAnswer): Promise<void> {
    const { groups, crew } = this.#house;
    const group = this.#group ?? (await groups.of(groupKey(this.#request, this.#tenant, this.#printed.at(0))));
    const work = (): Promise<void> => this.#keep(group, sent);
    const { mode } = this.#outcome;
    const paced = mode === "composed" || mode === "asked" ? work : () => crew.run(work);
    await group.runOn(paced, () => this.#found?.line);
  }

  async #keep(group: Group, sent: SentAnswer): Promise<void> {
    const request = this.#request;
    if (request.kind === "side") this.#found ??= await sideLineOf(this.#house, group, request, this.#tenant);
    const line = this.#found?.line;
    if (!line) return;
    this.#house.open.used(line, group);
    const session = await line.session(originalsOf(this.#asked.own, line));
    const { answer } = sent;
    await this.#mending.answered(line, session, sent, this.#outcome.plan);
    const values = answer.message ? [answer.message, ...(answer.others ?? [])] : [];
    const isWhole = answer.isComplete && isTaken(sent);
    const isNext = request.kind === "turn" && isWhole && this.#base === line.chain.length;
    const { plan, reason, isBare, asked: question, cleared } = this.#outcome;
    const { secret } = this.#house.options;
    const added = isNext ? answersOf(request.api, values, { secret, plan, isBare, cleared }) : [];
    const isKept = added.length > 0;
    const facts = {
      ...{ time: this.#time, attempt: this.#attempt, note: this.note, mends: this.#mending.names },
      bytesOut: this.body.length,
      epoch: Math.max(0, plan),
      reason,
      asked: question,
      isKept,
      toolCalls: added.reduce((sum, { message }) => sum + toolCalls(message).length, 0),
    };
    this.#decision.answered(line, this.#outcome, this.#mending.names, sent);
    // A record says that an answer is kept: the answer is first.
    if (isKept) await line.append(added);
    await keepRecord(session, this.#asked.own, sent, facts);
    if (isKept) line.attempts = 0;
    if (request.kind === "compaction" && isWhole) group.compacted = line;
    await group.trim();
  }

  #left(sessionId: string, error: unknown): void {
    this.#house.failed({ type: "session-left", reason: reasonOf(error), error, sessionId });
  }

  #notKept(error: unknown): void {
    const line = this.#found?.line;
    const reason = reasonOf(error);
    this.#house.failed({ type: "request-not-kept", reason, error, ...(line && { sessionId: line.id }) });
  }
}
