/**
 * The composer: windows over one history, which only grow at their end until an epoch opens. Over the budget or at a
 * trigger, the planner runs the strategy's passes; their edits stay unchanged until the next epoch.
 */
import { defined } from "../message/json.ts";
import { messageText } from "../message/message.ts";
import type { Message } from "../message/message.ts";
import type { NumberedMessage } from "../message/step.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { atOnce } from "../turns.ts";
import type { Work } from "../turns.ts";
import { adviceOn, checkBudget, isTriggered, withForced } from "./budget.ts";
import { initialState, readsLog } from "./compose-options.ts";
import type { ComposeOptions, ComposerOptions, Shown } from "./compose-options.ts";
import { defaultMask } from "./stub/cut.ts";
import { defaultRecallTools } from "./stub/recalled.ts";
import { hashName } from "../message/hash.ts";
import { hashMessage, hashMessages, ListHashes } from "./hash.ts";
import { History } from "./history.ts";
import type { Layout } from "./layout.ts";
import { LogReading } from "./log-reading.ts";
import { closingTail, dynamicParts, insertsFor, slotMessage, startMessage, tailMessage } from "./pinned.ts";
import { yieldingDynamic } from "./pinned.ts";
import { withAnswers } from "./provider/encode.ts";
import type { Tried } from "./pinned.ts";
import { planWindow, protect, readBy } from "./planner.ts";
import { mergeEdits, withoutReasoning } from "./edits.ts";
import type { Profile } from "./provider/profile.ts";
import {
  changeOf,
  costOf,
  countAll,
  countFates,
  countRepairs,
  FixedBlocks,
  layoutOf,
  overBudget,
  remembering,
} from "./layout.ts";
import { resized, sizedBudget, sizingLine } from "./sizing.ts";
import { nameWholeSteps } from "./view.ts";
import { WindowValidator } from "./provider/validate.ts";
import type { Composed, Edit, EpochReason, Report, Strategy, WindowState } from "./window.ts";

/** Composes windows over one history, which is fed message by message. */
export class Composer {
  readonly #strategy: Strategy;
  readonly #profile: Profile;
  readonly #counter: TokenCounter;
  readonly #readsLog: boolean;
  readonly #blocks: FixedBlocks;
  readonly #validator: WindowValidator;
  readonly #hashes = new ListHashes();
  readonly #windowHashes = new ListHashes();
  readonly #reading: Required<Pick<ComposerOptions, "ingestCap" | "mask" | "recallTools">> &
    Pick<ComposerOptions, "sessionName">;
  #state: WindowState;
  #history: History;
  /** The log as passes read it. */
  readonly #log: LogReading;
  #last: number;
  #lastMessage: Message | undefined;
  /** The reason and the edits of the epoch that the next composition reports. */
  #pending:
    | { readonly reason: EpochReason; readonly edits: readonly Edit[]; readonly tokensBefore: number }
    | undefined;

  constructor({ strategy, profile, counter, state = initialState, unfed, ...options }: ComposerOptions) {
    const { ingestCap = Infinity, mask = defaultMask, recallTools = defaultRecallTools, sessionName } = options;
    this.#reading = { ingestCap, mask, recallTools, ...defined({ sessionName }) };
    this.#strategy = strategy;
    this.#profile = profile;
    this.#counter = counter;
    this.#readsLog = readsLog(strategy);
    this.#blocks = new FixedBlocks(counter);
    this.#validator = new WindowValidator(profile);
    [this.#state, this.#last] = [state, unfed ? state.opened : 0];
    this.#log = new LogReading(state.horizon ?? 1, unfed);
    this.#history = this.#historyOf(state);
  }

  /** The state to compose on from: the edits in force, and the blocks and hashes of the last window. */
  get state(): WindowState {
    return this.#state;
  }

  /** The `seq` of the newest message fed; at least that at which its state's epoch opened, where some are not fed. */
  get last(): number {
    return this.#last;
  }

  /**
   * The fed messages that are in the window, whole or in part, as they were given, and those from the horizon on, which
   * lack images, files and reasoning.
   */
  get messages(): readonly NumberedMessage[] {
    return this.#log.behindOthers(this.#history.raw);
  }

  /** Feeds the next message of the history; `seq` rises. */
  push(seq: number, message: Message): void {
    if (seq >= this.#last) [this.#last, this.#lastMessage] = [seq, message];
    this.#history.push(seq, message);
    const { horizon = 1 } = this.#state;
    if (this.#readsLog && seq >= horizon) this.#log.push({ seq, message }, horizon);
  }

  /** The log's id of a call that windows show under `callId`; `callId` itself where they show none. */
  hostIdOf(callId: string): string {
    return this.#history.reader.hostIdOf(callId);
  }

  /** Takes the messages that were not fed, as before an epoch. */
  completing(): Work<void> {
    return this.#log.completing(this.#state.horizon ?? 1);
  }

  /**
   * Composes the window for the next call. The same history and options give the same bytes.
   *
   * @throws WindrowError `budget-too-small`, `over-budget` (with the size of each block), `bad-option`
   */
  compose(options: ComposeOptions): Composed {
    return atOnce(this.composing(options));
  }

  /**
   * As {@link Composer.compose}, in steps, during which callers push nothing: a session composes in its turn. Aborted work
   * restores the earlier state.
   */
  *composing(options: ComposeOptions): Work<Composed> {
    const [state, { raw }] = [this.#state, this.#history];
    const goBack = (): void => this.#show(state, raw);
    let composed: Composed | undefined;
    try {
      composed = yield* yieldingDynamic(options, this.#counter, (given) => this.#composing(given), goBack);
      return composed;
    } finally {
      if (!composed) goBack();
    }
  }

  *#composing(options: Tried<ComposeOptions>): Work<Composed> {
    const most = checkBudget(options.budget);
    yield* this.#history.taking();
    this.#log.forget(this.#state.horizon ?? 1);
    for (const pass of this.#strategy.passes)
      for (const log of pass.read ? this.#log.logs : [])
        yield* readBy(pass, log, { ...this.#reading, counter: this.#counter });
    this.#refresh(options);
    const before = this.#layout(options);
    const changed = changeOf(before, this.#state, (length) => this.#hashes.nameOf(before.history, length));
    const sized = (): number => sizedBudget(this.#strategy, this.#state, before, most);
    const full = this.#full(before, sized());
    const reason = full ?? changed;
    if (reason === undefined) return this.#finish(before, sized());
    yield* this.completing();
    const { messages: log } = this.#log.behind(this.#state.horizon ?? 1);
    const read = () => ({ ...this.view(), ...this.#reading, log });
    if (full === "over-budget") this.#state = resized(this.#strategy, this.#state, read, most);
    const budget = sized();
    const [past, history] = [this.#state, this.#history];
    let planned: readonly Edit[] = [];
    let { edits } = past;
    let after = before;
    // Repair of the remaining history may add a few tokens to what was planned.
    for (let tries = 0; tries === 0 || (after.tokens > budget && tries < 4); tries++) {
      const more = full || tries > 0 ? yield* this.#plan(options, budget, after) : [];
      planned = mergeEdits(planned, more);
      // An epoch without edits still takes out the inserts of the one before.
      if (full !== "over-budget" && planned.length === 0 && !changed) return this.#finish(before, budget);
      edits = mergeEdits(edits, more);
      this.#reopen(edits, past.epoch, options, changed !== undefined);
      after = this.#layout(options);
    }
    if (after.tokens > budget) throw overBudget(after.blocks, after.tokens, budget);
    if (full === "over-budget") this.#state = withForced(this.#state, past, history.steps(), [before, after]);
    return this.#finish(after, budget, { reason, tokensBefore: before.tokens, edits: planned });
  }

  /**
   * Takes edits that were made elsewhere, such as a summary's: the next composition opens their epoch.
   *
   * @returns whether they were taken; they name whole steps of the window as it stands, or earlier edits whole
   */
  commit(edits: readonly Edit[], reason: EpochReason): boolean {
    const { steps, tokens } = this.view();
    if (!nameWholeSteps(edits, { steps, edits: this.#state.edits, last: this.#last })) return false;
    this.#pending = { reason, edits, tokensBefore: tokens };
    this.#reopen(mergeEdits(this.#state.edits, edits), this.#state.epoch);
    this.#state = { ...this.#state, length: 0 };
    return true;
  }

  /** The window's steps as they stand, with those marked that may not leave. */
  view(): ReturnType<typeof protect> {
    this.#history.take();
    return protect(this.#history.steps(), this.#strategy);
  }

  /**
   * The window's messages by their place in the log, with the edits applied; explanations compare them with the log.
   * Includes the log's own system messages unless another system prompt replaced them.
   */
  shown(): Shown {
    this.#history.take();
    const [{ systemHash, length }, system] = [this.#state, this.#history.system];
    const own = hashName(hashMessages(system.map(({ message }) => message)));
    const history = this.#history.steps().flatMap((step) => step.messages);
    const leading = length === 0 || own === systemHash ? system : [];
    const lead = this.#lead(history.map(({ message }) => message)).map((message) => ({ seq: 0, message }));
    return {
      messages: withAnswers(this.#profile, [...leading, ...lead, ...history]),
      repairs: this.#history.reader.repairs,
    };
  }

  #lastHash(): string {
    return this.#lastMessage ? hashName(hashMessage(this.#lastMessage)) : this.#state.openedHash || hashName(0);
  }

  #historyOf({ edits, inserts = [] }: WindowState): History {
    return new History({ profile: this.#profile, counter: this.#counter, ...this.#reading, edits, inserts });
  }

  /** The messages before the history: the pinned blocks, or a message that makes it begin with the user. */
  #lead(history: readonly Message[]): readonly Message[] {
    const pinned = slotMessage(this.#state.slot ?? []);
    if (pinned) return [pinned];
    return history.find(({ role }) => role !== "system")?.role === "user" ? [] : [startMessage];
  }

  /** Inserts the blocks that changed since the epoch opened at the end of the window. */
  #refresh({ pinned = [], dynamic }: ComposeOptions): void {
    if (this.#state.length === 0 && this.#state.slot === undefined && pinned.length > 0) {
      this.#state = { ...this.#state, slot: pinned };
    }
    const { sticky } = dynamicParts(dynamic, this.#profile);
    const fresh = insertsFor(this.#state, pinned, sticky, this.#last);
    if (fresh.length === 0) return;
    for (const insert of fresh) this.#history.insert(insert);
    this.#state = { ...this.#state, inserts: [...(this.#state.inserts ?? []), ...fresh] };
  }

  #layout(options: ComposeOptions): Layout {
    const { sticky, tail: given } = dynamicParts(options.dynamic, this.#profile);
    const shape = this.#history.shown();
    const ingested = this.#history.ingested();
    if (ingested.length > 0) this.#state = { ...this.#state, edits: mergeEdits(this.#state.edits, ingested) };
    const lead = this.#lead(shape.messages);
    const tail = closingTail(given, this.#profile, shape.messages.at(-1) ?? lead.at(-1));
    const fixed = this.#blocks.of({ ...options, own: this.#history.system.map(({ message }) => message), tail });
    return layoutOf({ fixed, sticky, shape, lead, pinned: lead[0] !== startMessage }, this.#counter);
  }

  #full(layout: Layout, budget: number): EpochReason | undefined {
    if (layout.tokens <= budget) return isTriggered(this.#strategy.trigger, layout, budget) ? "trigger" : undefined;
    if (this.#strategy.passes.length > 0) return "over-budget";
    throw overBudget(layout.blocks, layout.tokens, budget);
  }

  /** Plans edits for the window as a new epoch would open it: pinned blocks in their slot, and only sticky inserts. */
  #plan(options: Tried<ComposeOptions>, budget: number, layout: Layout): Work<readonly Edit[]> {
    const { blocks, sticky, fixed, answers } = layout;
    const slot = slotMessage(options.pinned ?? []);
    const stickyMessages = sticky.map((block) => tailMessage([block]));
    return planWindow({
      view: this.view(),
      strategy: this.#strategy,
      counter: this.#counter,
      profile: this.#profile,
      ...this.#reading,
      hasRecall: (options.tools ?? []).some(({ name }) => this.#reading.recallTools.includes(name)),
      budget,
      blocks: {
        system: blocks.system,
        tools: blocks.tools,
        pinned: countAll([slot], this.#counter),
        dynamic: blocks.dynamic + answers + countAll(stickyMessages, this.#counter),
      },
      // A pass may drop the first message; then another one must stand first.
      start: slot ? 0 : countAll([startMessage], this.#counter),
      state: this.#state,
      keepNewest: options.keepNewest,
      standing: [...fixed.systemMessages, ...(slot ? [slot] : [])].map(messageText),
      ...(this.#readsLog && { log: this.#log.behind(this.#log.next(this.#state.horizon ?? 1)) }),
    });
  }

  /**
   * Opens the epoch after `epoch` with these edits: pinned blocks move to their slot, and inserts are dropped.
   *
   * @param moved - whether the request before the history changed, too
   */
  #reopen(edits: readonly Edit[], epoch: number, options: Partial<ComposeOptions> = {}, moved = false): void {
    const { raw } = this.#history;
    const pinned = options.pinned ?? this.#state.slot ?? [];
    const horizon = this.#log.next(this.#state.horizon ?? 1);
    const state: WindowState = {
      ...this.#state,
      opened: this.#last,
      openedHash: this.#lastHash(),
      slot: pinned,
      ...(horizon > 1 && { horizon }),
      epoch: epoch + 1,
      previous: epoch,
      edits: withoutReasoning(edits, this.#profile, { messages: raw, last: this.#last, moved, counter: this.#counter }),
      inserts: [],
      forced: [],
    };
    this.#show(state, raw);
    this.#refresh({ ...options, pinned, budget: 1 });
  }

  /** Goes on from a state, with the messages of its window. */
  #show(state: WindowState, messages: readonly NumberedMessage[]): void {
    this.#state = state;
    this.#history = this.#historyOf(state);
    for (const { seq, message } of messages) this.#history.push(seq, message);
  }

  #finish(layout: Layout, budget: number, planned = this.#pending): Composed {
    const { fixed, history, blocks, tokens } = layout;
    const opened = planned && { ...planned, tokensAfter: tokens };
    const messages = [...fixed.systemMessages, ...history, ...fixed.dynamicMessages];
    const cost = costOf(layout, this.#state, opened !== undefined, this.#profile);
    this.#pending = undefined;
    if (this.#state.length === 0 && this.#state.epoch === 0) {
      this.#state = { ...this.#state, opened: this.#last, openedHash: this.#lastHash() };
    }
    this.#state = remembering(this.#state, layout, this.#hashes.nameOf(history));
    const report: Report = {
      strategy: this.#strategy.name,
      profile: this.#profile.name,
      counter: this.#counter.name,
      budget,
      tokens,
      blocks,
      epoch: this.#state.epoch,
      ...(opened && { opened }),
      cost,
      tools: fixed.toolCosts,
      ...defined({ note: this.#strategy.note, sizing: sizingLine(this.#state.sizing, this.#strategy.floor) }),
      ...adviceOn(this.#state, budget, this.#strategy.lowWater, () => this.#history.steps()),
      counts: countFates(this.#last, this.#state.edits),
      repairs: countRepairs(this.#history.reader.repairs),
      faults: this.#validator.faultsOf(messages),
      windowHash: this.#windowHashes.nameOf(messages),
    };
    return { messages, tokens, report, state: this.#state };
  }
}
