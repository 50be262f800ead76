/**
 * The composer: between two epochs the window only grows at its end, byte for byte; when it must change otherwise, all
 * changes are planned at once and an epoch opens.
 */
import { WindrowError } from "../errors.ts";
import type { Message, ToolDefinition } from "../message/message.ts";
import { StepReader } from "../message/repair.ts";
import type { Repair } from "../message/repair.ts";
import type { NumberedMessage, Step } from "../message/step.ts";
import { countTools } from "../tokens/counter.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { checkBudget } from "./budget.ts";
import { hashMessage, hashMessages, hashName, hashText } from "./hash.ts";
import { mergeEdits, plan, protect } from "./planner.ts";
import type { Profile } from "./profile.ts";
import { EditIndex, noteStep, tokensOf, viewStep } from "./view.ts";
import { validateWindow } from "./validate.ts";
import type { Composed, Edit, EpochReason, Report, Strategy, ViewStep, WindowState } from "./window.ts";

/** What a composer is made for. */
export interface ComposerOptions {
  readonly strategy: Strategy;
  readonly profile: Profile;
  readonly counter: TokenCounter;
  /** The state of the last composition, to go on from. */
  readonly state?: WindowState;
}

/** What one composition is given beside the history. */
export interface ComposeOptions {
  readonly budget: number;
  readonly system?: string;
  readonly tools?: readonly ToolDefinition[];
  readonly dynamic?: string;
}

/** A window's messages as the log numbers them; 0 is none of the log's. */
export interface Shown {
  readonly messages: readonly NumberedMessage[];
  readonly repairs: readonly Repair[];
}

/** The state of a history nothing was composed from. */
export const initialState: WindowState = {
  version: 1,
  epoch: 0,
  edits: [],
  opened: 0,
  openedHash: "",
  systemHash: "",
  toolsHash: "",
  length: 0,
  prefixHash: "",
};

/** What stands first where the history does not begin with the user (providers want the user first). */
const startMessage: Message = {
  id: "windrow:start",
  role: "user",
  status: "synthetic",
  parts: [{ type: "text", text: "[Windrow: the conversation begins here.]" }],
};

/** Composes windows over one history that it is fed message by message. */
export class Composer {
  readonly #strategy: Strategy;
  readonly #profile: Profile;
  readonly #counter: TokenCounter;
  #state: WindowState;
  #index: EditIndex;
  /** The history's messages that are not out of the window whole. */
  #raw: NumberedMessage[] = [];
  #reader = new StepReader();
  #taken = 0;
  /** The leading system messages of the history. */
  #system: NumberedMessage[] = [];
  #steps: ViewStep[] = [];
  #notes: Edit[] = [];
  #last = 0;
  #lastHash = 0;

  constructor({ strategy, profile, counter, state = initialState }: ComposerOptions) {
    this.#strategy = strategy;
    this.#profile = profile;
    this.#counter = counter;
    this.#state = state;
    this.#index = new EditIndex(state.edits);
    this.#notes = [...this.#index.notes];
  }

  /** The edits in force and what they were made under. */
  get state(): WindowState {
    return this.#state;
  }

  /** Whether a message with this `seq` left the window whole: it need not be read again to compose on. */
  covers(seq: number): boolean {
    return this.#index.covers(seq);
  }

  /** The `seq` of the newest message it was fed. */
  get last(): number {
    return this.#last;
  }

  /** Feeds the next message of the history; `seq` rises. */
  push(seq: number, message: Message): void {
    if (seq > this.#last) {
      this.#last = seq;
      this.#lastHash = hashMessage(message);
    }
    if (this.#index.covers(seq)) return;
    this.#raw.push({ seq, message });
    this.#reader.push(seq, message);
  }

  /**
   * The window for the next call. The same history and options give the same bytes.
   *
   * @throws WindrowError `budget-too-small`, `over-budget` (with the size of each block), `bad-option`
   */
  compose(options: ComposeOptions): Composed {
    const budget = checkBudget(options.budget);
    this.#take();
    const before = this.#layout(options);
    const changed = this.#changed(before);
    const full = this.#full(before, budget);
    const reason = full ?? changed;
    if (reason === undefined) return this.#finish(before, budget, undefined);

    let planned = full ? this.#plan(before, budget) : [];
    if (planned.length === 0 && !changed) return this.#finish(before, budget, undefined);
    let edits = mergeEdits(this.#state.edits, planned);
    this.#reopen(this.#withoutReasoning(edits, changed !== undefined), this.#state.epoch + 1);
    let after = this.#layout(options);
    // Repair reads what is left anew and may write a few tokens more than was planned for.
    for (let tries = 0; after.tokens > budget && tries < 3; tries++) {
      const more = this.#plan(after, budget);
      planned = mergeEdits(planned, more);
      edits = mergeEdits(edits, more);
      this.#reopen(this.#withoutReasoning(edits, changed !== undefined), this.#state.epoch);
      after = this.#layout(options);
    }
    if (after.tokens > budget) throw overBudget(after, budget);
    return this.#finish(after, budget, {
      reason,
      tokensBefore: before.tokens,
      tokensAfter: after.tokens,
      edits: planned,
    });
  }

  /**
   * The window's messages by their place in the log, the edits in force applied: what an explanation compares with the
   * log. The log's own system messages are among them unless another system prompt took their place.
   */
  shown(): Shown {
    this.#take();
    const { systemHash, length } = this.#state;
    const own = hashName(hashMessages(this.#system.map(({ message }) => message)));
    const history = this.#view().flatMap((step) => step.messages);
    const start = history[0]?.message.role === "user" ? [] : [{ seq: 0, message: startMessage }];
    const system = length === 0 || own === systemHash ? this.#system : [];
    return { messages: [...system, ...start, ...history], repairs: this.#reader.repairs };
  }

  #take(): void {
    for (; this.#taken < this.#reader.closed.length; this.#taken++) {
      const step = this.#reader.closed[this.#taken] as Step;
      if (step.kind === "system" && this.#steps.length === 0 && this.#precedesNotes(step)) {
        this.#system.push(...step.messages);
        continue;
      }
      const shown = viewStep(step, this.#index, this.#profile, this.#counter);
      if (!shown) continue;
      while (this.#notes[0] && this.#notes[0].from < shown.from) {
        this.#steps.push(noteStep(this.#notes.shift() as Edit, this.#counter));
      }
      this.#steps.push(shown);
    }
  }

  /** The steps of the window as they stand, the one still open included. */
  #view(): readonly ViewStep[] {
    const tail: ViewStep[] = [];
    for (const step of this.#reader.tail()) {
      const shown = viewStep(step, this.#index, this.#profile, this.#counter);
      if (shown) tail.push(shown);
    }
    const notes = this.#notes.map((edit) => noteStep(edit, this.#counter));
    return [...this.#steps, ...notes, ...tail];
  }

  #precedesNotes({ messages }: Step): boolean {
    return (
      this.#notes.length === this.#index.notes.length && (this.#notes[0]?.from ?? Infinity) > (messages[0]?.seq ?? 0)
    );
  }

  #layout(options: ComposeOptions): Layout {
    const own = this.#system.map(({ message }) => message);
    const system = options.system === undefined ? own : [systemMessage(options.system)];
    const steps = this.#view();
    const history = steps.flatMap((step) => step.messages.map(({ message }) => message));
    if (history[0]?.role !== "user") history.unshift(startMessage);
    const dynamic = options.dynamic?.trim() ? [dynamicMessage(options.dynamic)] : [];
    const count = (messages: readonly Message[]): number =>
      messages.reduce((total, message) => total + tokensOf(this.#counter, message), 0);
    const blocks = {
      system: count(system),
      tools: countTools(this.#counter, options.tools ?? []),
      notes: steps.reduce((total, step) => total + (step.kind === "note" ? step.tokens : 0), 0),
      history: 0,
      dynamic: count(dynamic),
    };
    blocks.history = count(history) - blocks.notes;
    return {
      system,
      steps,
      history,
      dynamic,
      blocks,
      tokens: blocks.system + blocks.tools + blocks.notes + blocks.history + blocks.dynamic,
      systemHash: hashName(hashMessages(system)),
      toolsHash: hashName(hashText(JSON.stringify(options.tools ?? []))),
    };
  }

  /** Whether what stood before differs from what was sent before, for a cause outside the window. */
  #changed(layout: Layout): EpochReason | undefined {
    const { systemHash, toolsHash, length, prefixHash } = this.#state;
    if (length === 0) return undefined;
    if (layout.systemHash !== systemHash) return "system-changed";
    if (layout.toolsHash !== toolsHash) return "tools-changed";
    return hashName(hashMessages(layout.history, 0, 0, length)) === prefixHash ? undefined : "history-changed";
  }

  #full(layout: Layout, budget: number): EpochReason | undefined {
    if (layout.tokens > budget) {
      if (this.#strategy.passes.length > 0) return "over-budget";
      throw overBudget(layout, budget);
    }
    return this.#triggered(layout, budget) ? "trigger" : undefined;
  }

  #triggered(layout: Layout, budget: number): boolean {
    const { messages, turns, tokens, ratio, mode = "any" } = this.#strategy.trigger;
    const conditions = [
      messages === undefined ? undefined : layout.history.length > messages,
      turns === undefined ? undefined : layout.steps.filter((step) => step.kind === "user").length > turns,
      tokens === undefined ? undefined : layout.tokens > tokens,
      ratio === undefined ? undefined : layout.tokens > ratio * budget,
    ].filter((condition) => condition !== undefined);
    if (conditions.length === 0) return false;
    return mode === "all" ? conditions.every(Boolean) : conditions.some(Boolean);
  }

  #plan(layout: Layout, budget: number): readonly Edit[] {
    const history = layout.blocks.notes + layout.blocks.history;
    const fixed = layout.tokens - history;
    const overhead = history - layout.steps.reduce((total, step) => total + step.tokens, 0);
    const start = overhead > 0 ? overhead : tokensOf(this.#counter, startMessage);
    const limit = budget - fixed - start;
    const { system, tools, dynamic } = layout.blocks;
    if (limit <= 0) {
      throw new WindrowError(
        "budget-too-small",
        `The budget of ${budget} tokens leaves nothing for the conversation: system ${system}, tools ${tools}, dynamic ` +
          `${dynamic}. Raise the budget or shorten these.`,
        { budget, system, tools, dynamic },
      );
    }
    const target = Math.max(1, Math.min(limit, Math.floor(budget * this.#strategy.lowWater) - fixed - start));
    const context = { target, limit, counter: this.#counter, profile: this.#profile };
    return plan(protect(layout.steps, this.#strategy), this.#strategy, context, { system, tools, dynamic });
  }

  /** Signed reasoning is bound to what stood before it: behind the first edit it goes whole. */
  #withoutReasoning(edits: readonly Edit[], moved: boolean): readonly Edit[] {
    if (this.#profile.reasoning !== "prefix-bound") return edits;
    const rest = edits.filter((edit) => edit.only !== "reasoning");
    const from = moved ? 1 : rest.reduce((least, edit) => Math.min(least, edit.from), Infinity);
    const tokensBefore = this.#raw.reduce((total, { seq, message }) => {
      if (seq < from) return total;
      return message.parts.reduce((part, { type, ...body }) => {
        return type === "reasoning" && "text" in body ? part + this.#counter.count(body.text) : part;
      }, total);
    }, 0);
    return [
      ...rest,
      {
        kind: "drop",
        only: "reasoning",
        from,
        to: this.#last,
        pass: "drop-reasoning",
        reason: "reasoning is only good behind the prefix it was written on",
        tokensBefore,
        tokensAfter: 0,
      },
    ];
  }

  #reopen(edits: readonly Edit[], epoch: number): void {
    const raw = this.#raw;
    this.#state = { ...this.#state, epoch, edits, opened: this.#last, openedHash: hashName(this.#lastHash) };
    this.#index = new EditIndex(edits);
    this.#notes = [...this.#index.notes];
    this.#raw = [];
    this.#steps = [];
    this.#system = [];
    this.#taken = 0;
    this.#reader = new StepReader();
    for (const { seq, message } of raw) this.push(seq, message);
    this.#take();
  }

  #finish(layout: Layout, budget: number, opened: Report["opened"]): Composed {
    const messages = [...layout.system, ...layout.history, ...layout.dynamic];
    this.#state = {
      ...this.#state,
      systemHash: layout.systemHash,
      toolsHash: layout.toolsHash,
      length: layout.history.length,
      prefixHash: hashName(hashMessages(layout.history)),
    };
    const repairs: Record<string, number> = {};
    for (const { kind } of this.#reader.repairs) repairs[kind] = (repairs[kind] ?? 0) + 1;
    const report: Report = {
      strategy: this.#strategy.name,
      profile: this.#profile.name,
      counter: this.#counter.name,
      budget,
      tokens: layout.tokens,
      blocks: layout.blocks,
      epoch: this.#state.epoch,
      ...(opened && { opened }),
      counts: countFates(this.#last, this.#state.edits),
      repairs,
      faults: validateWindow(messages, this.#profile),
      windowHash: hashName(hashMessages(messages)),
    };
    return { messages, tokens: layout.tokens, report, state: this.#state };
  }
}

/** A window's blocks, before anything is decided. */
interface Layout {
  readonly system: readonly Message[];
  readonly steps: readonly ViewStep[];
  readonly history: readonly Message[];
  readonly dynamic: readonly Message[];
  readonly blocks: Report["blocks"];
  readonly tokens: number;
  readonly systemHash: string;
  readonly toolsHash: string;
}

function countFates(last: number, edits: readonly Edit[]): Report["counts"] {
  let replaced = 0;
  let dropped = 0;
  let stubbed = 0;
  for (const edit of edits) {
    if (edit.kind === "stub") stubbed++;
    else if (edit.only === undefined && edit.kind === "replace") replaced += edit.to - edit.from + 1;
    else if (edit.only === undefined) dropped += edit.to - edit.from + 1;
  }
  return { kept: last - replaced - dropped - stubbed, stubbed, replaced, dropped };
}

function overBudget(layout: Layout, budget: number): WindrowError {
  const { blocks } = layout;
  return new WindrowError(
    "over-budget",
    `The window needs ${layout.tokens} tokens and the budget is ${budget}: system ${blocks.system}, tools ${blocks.tools}, ` +
      `history ${blocks.history}, notes ${blocks.notes}, dynamic ${blocks.dynamic}. Raise the budget or take a strategy that edits.`,
    { budget, ...blocks },
  );
}

function systemMessage(text: string): Message {
  return { id: "windrow:system", role: "system", parts: [{ type: "text", text }] };
}

function dynamicMessage(text: string): Message {
  return { id: "windrow:dynamic", role: "user", status: "synthetic", parts: [{ type: "text", text }] };
}
