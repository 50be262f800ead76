/**
 * Repair of histories. Real ones hold aborted calls, results without calls, repeated ids and empty messages. The reader
 * turns any history into steps that a provider accepts, and reports each repair. It looks ahead no further than the
 * next assistant message, so a longer history never changes the steps of a shorter one. Lines of one call each, none with an id, that
 * follow on each other are one step: their results come behind the last of them. So are the pieces of one answer.
 */
import { toolCalls, toolResults } from "./message.ts";
import type { Message, Part, ToolCallPart, ToolResultPart } from "./message.ts";
import { answersOf, noteOfResult, strayCall } from "./answers.ts";
import type { OpenCall } from "./answers.ts";
import { isPiece } from "./step.ts";
import type { NumberedMessage, Step } from "./step.ts";
import { tidyMessage } from "./tidy.ts";
import { spellings } from "./wire-form.ts";

/**
 * - `closed-call`: a call without a result got a synthetic error result;
 * - `late-result`: a result that came after its call had been closed is shown as a labelled user message;
 * - `orphan-result`: a result without a call, likewise;
 * - `duplicate-result`: a second result for one call is left out;
 * - `renamed-call`: a call id used before got a suffix, its results too;
 * - `empty-message`: nothing to send is left out;
 * - `mended-text`: empty text parts, lone surrogates or arguments cut off in the middle were mended;
 * - `moved-message`: a message between a call and its result stands behind the result.
 */
export type RepairKind =
  | "closed-call"
  | "late-result"
  | "orphan-result"
  | "duplicate-result"
  | "renamed-call"
  | "empty-message"
  | "mended-text"
  | "moved-message";

/** One repair of a history. */
export interface Repair {
  readonly kind: RepairKind;
  /** The `seq` of the repaired message. */
  readonly seq: number;
  readonly callId?: string;
}

interface OpenStep {
  /** The message of the calls; several where calls without ids stand on lines of their own. */
  readonly assistants: NumberedMessage[];
  readonly calls: OpenCall[];
  /** Messages that arrived while calls were open. They follow the step. */
  readonly waiting: Step[];
  /** Parts beside the results of a message. They stay in the step, because a message is never split. */
  readonly beside: NumberedMessage[];
}

/** How a history is read. */
export interface ReadingOptions {
  /**
   * Whether a system message belongs to the step that it follows, so that both leave together. Default false: it is a step
   * of its own.
   */
  readonly joinSystem?: boolean;
}

/** Reads a history message by message and returns valid steps. */
export class StepReader {
  readonly #closed: Step[] = [];
  /** The calls of this history by every spelling of their ids: one spelling never names two calls. */
  readonly #known = new Map<string, { readonly hostId: string; answered: boolean }>();
  readonly #repairs: Repair[] = [];
  #open: OpenStep | undefined;
  readonly #joinSystem: boolean;
  /** The newest whole step, as long as a system message may join it. */
  #held: Step | undefined;

  constructor({ joinSystem = false }: ReadingOptions = {}) {
    this.#joinSystem = joinSystem;
  }

  /** Takes the next message; `seq` must rise. */
  push(seq: number, message: Message): void {
    this.take({ seq, message });
  }

  /** As {@link StepReader.push}. A message that needs no repair stands in its step as this very object. */
  take(numbered: NumberedMessage): void {
    const { seq, message } = numbered;
    const tidy = tidyMessage(message);
    if (!tidy) return this.#note("empty-message", seq);
    if (tidy !== message) this.#note("mended-text", seq);
    const spoken = tidy.parts.filter((part) => part.type !== "tool-result");
    const says = spoken.some((part) => part.type !== "reasoning") || (spoken.length > 0 && isPiece(tidy));
    if (tidy.role === "assistant" && says) {
      const same = spoken.length === tidy.parts.length;
      this.#assistant(same && tidy === message ? numbered : { seq, message: same ? tidy : { ...tidy, parts: spoken } });
    }
    this.#rest(tidy === message ? numbered : { seq, message: tidy });
  }

  /** Attaches the results to their calls. Other parts stay beside them, or form a message of their own. */
  #rest(numbered: NumberedMessage): void {
    const { seq, message } = numbered;
    const own = message.role === "assistant" ? [] : message.parts.filter((part) => part.type !== "tool-result");
    const parts: Part[] = own.map((part) => (part.type === "tool-call" ? strayCall(part) : part));
    let attached = false;
    for (const result of toolResults(message)) {
      const note = this.#result(numbered, result);
      if (note === "attached") attached = true;
      else if (note) parts.push(note);
    }
    const role = message.role === "system" || message.role === "user" ? message.role : "user";
    const same =
      role === message.role && parts.length === message.parts.length && own.every((part, at) => part === parts[at]);
    if (parts.length > 0) {
      const synthetic = own.length === 0 ? ({ status: "synthetic" } as const) : {};
      const shown = same ? numbered : { seq, message: { ...message, role, parts, ...synthetic } };
      if (attached && this.#open) this.#open.beside.push(shown);
      else this.#message(shown);
    }
    if (attached) this.#closeAnswered(seq);
  }

  /** The closed steps in order: no later message changes them. */
  get closed(): readonly Step[] {
    return this.#closed;
  }

  /** The steps behind the closed ones, for a window composed now: the open step, its unanswered calls closed. */
  tail(): readonly Step[] {
    const open = this.#open ? this.#finished(this.#open, () => undefined) : [];
    return this.#held ? joined([this.#held, ...open]) : open;
  }

  /** The repairs so far, oldest first. */
  get repairs(): readonly Repair[] {
    return this.#repairs;
  }

  #assistant(numbered: NumberedMessage): void {
    const { seq, message } = numbered;
    const standing = this.#open && goesOn(this.#open, message) ? this.#open : undefined;
    if (!standing) this.#close();
    const hostIds = new Set(toolCalls(message).map(({ callId }) => callId));
    const renamed: { readonly call: ToolCallPart; readonly hostId: string }[] = [];
    const parts = message.parts.map((part): Part => {
      if (part.type !== "tool-call") return part;
      const callId = this.#freeId(part.callId, seq, hostIds);
      const call = callId === part.callId ? part : { ...part, callId };
      if (call !== part) this.#note("renamed-call", seq, part.callId);
      const known = { hostId: part.callId, answered: false };
      for (const spelled of spellings(callId)) this.#known.set(spelled, known);
      renamed.push({ call, hostId: part.callId });
      return call;
    });
    const isSame = renamed.every(({ call, hostId }) => call.callId === hostId);
    const caller = isSame ? numbered : { seq, message: { ...message, parts } };
    const open = standing ?? { assistants: [], calls: [], waiting: [], beside: [] };
    open.assistants.push(caller);
    open.calls.push(...renamed.map(({ call, hostId }) => ({ caller, part: call, hostId })));
    this.#open = open;
    if (open.calls.length === 0 && !isPiece(message)) this.#close();
  }

  /** An id that names no other call in any spelling, of those before or of the same answer. */
  #freeId(callId: string, seq: number, hostIds: ReadonlySet<string>): string {
    const isOther = (id: string): boolean => this.#known.has(id) || (id !== callId && hostIds.has(id));
    const isFree = (id: string): boolean => ![...spellings(id)].some(isOther);
    let candidate = callId;
    for (let count = 1; !isFree(candidate); count++) {
      candidate = count === 1 ? `${callId}-${seq}` : `${callId}-${seq}-${count}`;
    }
    return candidate;
  }

  /**
   * Attaches a result to its call. Returns the message to show for a result without a call, undefined for a second
   * result.
   */
  #result(numbered: NumberedMessage, part: ToolResultPart): "attached" | Part | undefined {
    const { seq } = numbered;
    const own = this.#callsOf(part.callId);
    const call = own.find((candidate) => !candidate.result) ?? this.#unnamed(numbered, part);
    if (call) {
      call.result = { numbered, part };
      this.#known.get(call.part.callId)!.answered = true;
      return "attached";
    }
    const known = this.#known.get(part.callId);
    if (own.length > 0 || known?.answered) {
      this.#note("duplicate-result", seq, part.callId);
      return undefined;
    }
    this.#note(known ? "late-result" : "orphan-result", seq, part.callId);
    if (known) known.answered = true;
    return noteOfResult(part, known !== undefined);
  }

  /** The open calls of an id, as the host wrote it or, if there is none, as windows show it. */
  #callsOf(callId: string): readonly OpenCall[] {
    const calls = this.#open?.calls ?? [];
    const own = calls.filter(({ hostId }) => hostId === callId);
    const known = this.#known.get(callId);
    return own.length > 0 ? own : calls.filter(({ part }) => this.#known.get(part.callId) === known);
  }

  /** The id that the host gave to the call which windows show under `callId`; `callId` itself where they show none. */
  hostIdOf(callId: string): string {
    return this.#callsOf(callId)[0]?.hostId ?? this.#known.get(callId)?.hostId ?? callId;
  }

  /**
   * The call that a result answers where neither names the other, as in hosts without call ids: both have their message's id in
   * its place. It is the oldest of that name.
   */
  #unnamed({ message }: NumberedMessage, part: ToolResultPart): OpenCall | undefined {
    if (part.callId !== message.id || !this.#open) return undefined;
    const isIt = ({ caller, hostId, result, part: call }: OpenCall): boolean =>
      !result && hostId === caller.message.id && (part.name === undefined || part.name === call.name);
    return this.#open.calls.find(isIt);
  }

  #closeAnswered(seq: number): void {
    const open = this.#open;
    if (!open || open.calls.some((candidate) => !candidate.result)) return;
    for (const step of open.waiting) this.#note("moved-message", step.messages[0]?.seq ?? seq);
    this.#close();
  }

  #message(numbered: NumberedMessage): void {
    const step: Step = { kind: numbered.message.role === "system" ? "system" : "user", messages: [numbered] };
    // An answer in pieces that calls nothing ends where another message begins.
    if (this.#open?.calls.length === 0) this.#close();
    if (this.#open) this.#open.waiting.push(step);
    else this.#settle(step);
  }

  #settle(step: Step): void {
    if (!this.#joinSystem) this.#closed.push(step);
    else if (this.#held && isBehind(step, this.#held)) this.#held = withSystem(this.#held, step);
    else {
      if (this.#held) this.#closed.push(this.#held);
      this.#held = step;
    }
  }

  #close(): void {
    if (!this.#open) return;
    const steps = this.#finished(this.#open, (callId, seq) => this.#note("closed-call", seq, callId));
    const { assistants } = this.#open;
    for (const { seq } of assistants.slice(withItems(assistants).length)) this.#note("empty-message", seq);
    for (const step of steps) this.#settle(step);
    this.#open = undefined;
  }

  #finished(open: OpenStep, onClosed: (callId: string, seq: number) => void): readonly Step[] {
    const assistants = withItems(open.assistants);
    const messages = open.assistants.some(({ message }) => isPiece(message))
      ? [...assistants, ...answersOf(asAnswered(open.calls), onClosed)]
      : assistants.flatMap((assistant) => {
          const own = open.calls.filter(({ caller }) => caller === assistant);
          return [assistant, ...answersOf(own, onClosed)];
        });
    if (messages.length === 0) return open.waiting;
    return [{ kind: "assistant", messages: [...messages, ...open.beside] }, ...open.waiting];
  }

  #note(kind: RepairKind, seq: number, callId?: string): void {
    this.#repairs.push(callId === undefined ? { kind, seq } : { kind, seq, callId });
  }
}

/**
 * Repairs a whole history at once.
 *
 * @returns messages a provider accepts, in order, and what was mended
 */
export function repairMessages(messages: readonly Message[]): {
  readonly messages: readonly Message[];
  readonly repairs: readonly Repair[];
} {
  const reader = new StepReader();
  messages.forEach((message, index) => reader.push(index + 1, message));
  const steps = [...reader.closed, ...reader.tail()];
  return { messages: steps.flatMap((step) => step.messages.map(({ message }) => message)), repairs: reader.repairs };
}

/** Whether a message makes calls, and each has the message's own id in place of one. */
function isUnnamedCall(message: Message): boolean {
  const calls = toolCalls(message);
  return calls.length > 0 && calls.every(({ callId }) => callId === message.id);
}

/** Whether a message belongs to the answer that is open: all are calls without ids, or all are pieces. */
function goesOn({ assistants, calls, waiting, beside }: OpenStep, message: Message): boolean {
  if (waiting.length > 0 || beside.length > 0 || calls.some(({ result }) => result)) return false;
  const all = [...assistants.map((assistant) => assistant.message), message];
  return all.every(isUnnamedCall) || all.every(isPiece);
}

/** Messages without those at the end that are reasoning alone: no item follows it. */
function withItems(assistants: readonly NumberedMessage[]): readonly NumberedMessage[] {
  const last = assistants.findLastIndex(({ message }) => message.parts.some((part) => part.type !== "reasoning"));
  return last === assistants.length - 1 ? assistants : assistants.slice(0, last + 1);
}

/** Calls in the order in which their results came. */
function asAnswered(calls: readonly OpenCall[]): readonly OpenCall[] {
  const place = ({ result }: OpenCall): number => result?.numbered.seq ?? Number.MAX_SAFE_INTEGER;
  return calls.toSorted((left, right) => place(left) - place(right));
}

/** Whether a step is a system message right behind another step; one behind messages that left stays by itself. */
function isBehind({ kind, messages }: Step, before: Step): boolean {
  const last = before.messages.reduce((most, { seq }) => Math.max(most, seq), 0);
  return kind === "system" && (messages[0]?.seq ?? Infinity) <= last + 1;
}

function withSystem(step: Step, { messages }: Step): Step {
  return { ...step, messages: [...step.messages, ...messages] };
}

/** Steps in which a system message belongs to the step that it follows. */
function joined(steps: readonly Step[]): readonly Step[] {
  const found: Step[] = [];
  for (const step of steps) {
    const before = found.at(-1);
    if (before && isBehind(step, before)) found[found.length - 1] = withSystem(before, step);
    else found.push(step);
  }
  return found;
}
