/**
 * Repair of histories. Real ones hold aborted calls, results without calls, repeated ids and empty messages. The reader
 * turns any history into steps that a provider accepts, and reports each repair. It looks ahead no further than the
 * next assistant message, so a longer history never changes the steps of a shorter one. Lines of one call each, none with an id, that
 * follow on each other are one step: their results come behind the last of them.
 */
import { inlineName, inlineText, jsonLine, quoteHint, quoteText } from "./quote.ts";
import { resultText, toolCalls, toolResults } from "./message.ts";
import type { Message, Part, ToolCallPart, ToolResultPart } from "./message.ts";
import type { NumberedMessage, Step } from "./step.ts";
import { tidyMessage } from "./tidy.ts";

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

/** The text of the synthetic result for a call that never got one. */
export const interruptedText = "[interrupted: no result was recorded for this call]";

interface OpenCall {
  /** The message that makes it. */
  readonly caller: NumberedMessage;
  readonly part: ToolCallPart;
  /** The id that the host wrote, which the results use. */
  readonly hostId: string;
  result?: { readonly numbered: NumberedMessage; readonly part: ToolResultPart };
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

/** The number of shifted steps after which their memory is released. */
const stepsPerRelease = 16_384;

/** Reads a history message by message and returns valid steps. */
export class StepReader {
  #closed: Step[] = [];
  /** The number of shifted steps. */
  #shifted = 0;
  /** Call ids of this history, each with whether it was answered. */
  readonly #known = new Map<string, boolean>();
  readonly #repairs: Repair[] = [];
  #open: OpenStep | undefined;

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
    if (tidy.role === "assistant" && spoken.some((part) => part.type !== "reasoning")) {
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
    const synthetic = own.length === 0 ? ({ status: "synthetic" } as const) : {};
    const shown: Message = same ? message : { ...message, role, parts, ...synthetic };
    if (parts.length > 0 && attached && this.#open) this.#open.beside.push({ seq, message: shown });
    else if (parts.length > 0) this.#message(same ? numbered : { seq, message: shown });
    if (attached) this.#closeAnswered(seq);
  }

  /**
   * The closed steps in order, without the shifted ones: no later message changes them. Each is the same object on
   * every call.
   */
  get closed(): readonly Step[] {
    return this.#shifted === 0 ? this.#closed : this.#closed.slice(this.#shifted);
  }

  /** Removes and returns the first closed step; undefined when there is none. */
  shift(): Step | undefined {
    const step = this.#closed[this.#shifted];
    if (!step) {
      this.#closed = [];
      this.#shifted = 0;
      return undefined;
    }
    this.#shifted++;
    if (this.#shifted % stepsPerRelease === 0) {
      this.#closed.splice(0, stepsPerRelease);
      this.#shifted = 0;
    }
    return step;
  }

  /** The steps behind the closed ones, for a window composed now: the open step, its unanswered calls closed. */
  tail(): readonly Step[] {
    return this.#open ? this.#finished(this.#open, () => undefined) : [];
  }

  /** The repairs so far, oldest first. */
  get repairs(): readonly Repair[] {
    return this.#repairs;
  }

  #assistant(numbered: NumberedMessage): void {
    const { seq, message } = numbered;
    const joined = isUnnamedCall(message) && this.#open && isWaiting(this.#open) ? this.#open : undefined;
    if (!joined) this.#close();
    const renamed: { readonly call: ToolCallPart; readonly hostId: string }[] = [];
    const parts = message.parts.map((part): Part => {
      if (part.type !== "tool-call") return part;
      const callId = this.#freeId(part.callId, seq);
      const call = callId === part.callId ? part : { ...part, callId };
      if (call !== part) this.#note("renamed-call", seq, part.callId);
      this.#known.set(callId, false);
      renamed.push({ call, hostId: part.callId });
      return call;
    });
    const isSame = renamed.every(({ call, hostId }) => call.callId === hostId);
    const caller = isSame ? numbered : { seq, message: { ...message, parts } };
    const open = joined ?? { assistants: [], calls: [], waiting: [], beside: [] };
    open.assistants.push(caller);
    open.calls.push(...renamed.map(({ call, hostId }) => ({ caller, part: call, hostId })));
    this.#open = open;
    if (open.calls.length === 0) this.#close();
  }

  #freeId(callId: string, seq: number): string {
    if (!this.#known.has(callId)) return callId;
    let candidate = `${callId}-${seq}`;
    for (let count = 2; this.#known.has(candidate); count++) candidate = `${callId}-${seq}-${count}`;
    return candidate;
  }

  /**
   * Attaches a result to its call. Returns the message to show for a result without a call, undefined for a second
   * result.
   */
  #result(numbered: NumberedMessage, part: ToolResultPart): "attached" | Part | undefined {
    const { seq } = numbered;
    const own = this.#open?.calls.filter((call) => call.hostId === part.callId) ?? [];
    const call = own.find((candidate) => !candidate.result) ?? this.#unnamed(numbered, part);
    if (call) {
      call.result = { numbered, part };
      this.#known.set(call.part.callId, true);
      return "attached";
    }
    if (own.length > 0 || this.#known.get(part.callId)) {
      this.#note("duplicate-result", seq, part.callId);
      return undefined;
    }
    const late = this.#known.has(part.callId);
    this.#note(late ? "late-result" : "orphan-result", seq, part.callId);
    if (late) this.#known.set(part.callId, true);
    return noteOfResult(part, late);
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
    if (this.#open) this.#open.waiting.push(step);
    else this.#closed.push(step);
  }

  #close(): void {
    if (!this.#open) return;
    const steps = this.#finished(this.#open, (callId, seq) => this.#note("closed-call", seq, callId));
    this.#closed.push(...steps);
    this.#open = undefined;
  }

  #finished(open: OpenStep, onClosed: (callId: string, seq: number) => void): readonly Step[] {
    const messages = open.assistants.flatMap((assistant) => {
      const own = open.calls.filter(({ caller }) => caller === assistant);
      return [assistant, ...answersOf(own, onClosed)];
    });
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

/** The messages that answer a message's calls, in their order; a synthetic one for each that has no result. */
function answersOf(
  calls: readonly OpenCall[],
  onClosed: (callId: string, seq: number) => void,
): readonly NumberedMessage[] {
  const placed = new Map<Message, ToolResultPart[]>();
  const order: { readonly source: NumberedMessage; readonly parts: ToolResultPart[] }[] = [];
  for (const { caller, part, result } of calls) {
    if (!result) {
      onClosed(part.callId, caller.seq);
      const closing = closingResult(caller.message, part);
      order.push({ source: { seq: caller.seq, message: closing }, parts: [...toolResults(closing)] });
      continue;
    }
    const answer = result.part.callId === part.callId ? result.part : { ...result.part, callId: part.callId };
    const place = placed.get(result.numbered.message);
    if (place) {
      place.push(answer);
      continue;
    }
    const parts = [answer];
    placed.set(result.numbered.message, parts);
    order.push({ source: result.numbered, parts });
  }
  return order.map(({ source, parts }) => withParts(source, parts));
}

/** Whether a message makes calls, and each has the message's own id in place of one. */
function isUnnamedCall(message: Message): boolean {
  const calls = toolCalls(message);
  return calls.length > 0 && calls.every(({ callId }) => callId === message.id);
}

/** Whether calls without ids wait for their results, and nothing else has come since. */
function isWaiting({ assistants, calls, waiting, beside }: OpenStep): boolean {
  const isBare = waiting.length === 0 && beside.length === 0 && calls.every(({ result }) => result === undefined);
  return isBare && assistants.every(({ message }) => isUnnamedCall(message));
}

function withParts(numbered: NumberedMessage, parts: readonly ToolResultPart[]): NumberedMessage {
  const { seq, message } = numbered;
  const same = message.role === "tool" && message.parts.length === parts.length;
  return same && parts.every((part, index) => part === message.parts[index])
    ? numbered
    : { seq, message: { ...message, role: "tool", parts } };
}

function closingResult(assistant: Message, call: ToolCallPart): Message {
  return {
    id: `${assistant.id}:${call.callId}:interrupted`,
    role: "tool",
    status: "synthetic",
    parts: [{ type: "tool-result", callId: call.callId, name: call.name, content: interruptedText, isError: true }],
  };
}

function noteOfResult(part: ToolResultPart, late: boolean): Part {
  const what = late ? "Late result of" : "Result without its call, of";
  const name = part.name === undefined ? "a tool" : inlineName(part.name);
  const label = `[${what} ${name}, call ${inlineText(part.callId)}, ${quoteHint}]`;
  return { type: "text", text: `${label}\n${quoteText(resultText(part))}` };
}

/** A call in a message of another role gets no answer, so its text is shown instead. */
function strayCall(part: ToolCallPart): Part {
  return { type: "text", text: `[Call of ${inlineName(part.name)}] ${jsonLine(part.args)}` };
}
