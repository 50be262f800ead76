/** The validator: the rules by which providers refuse a window. Each rule is a switch of the profile. */
import { WindrowError } from "../../errors.ts";
import { toolCalls, toolResults } from "../../message/message.ts";
import type { Message, ToolCallPart, ToolResultPart } from "../../message/message.ts";
import { isPiece } from "../../message/step.ts";
import { sharedPrefix } from "../../message/shared-prefix.ts";
import { wellFormedPart } from "../../message/tidy.ts";
import { inForm } from "../../message/wire-form.ts";
import { formOf } from "./profile.ts";
import type { Profile } from "./profile.ts";
import { isForeign, isReasoning, saysReasoning, wantsAnswer } from "./encode.ts";
import { thoughtSignature } from "../../message/parts.ts";

/** A rule for which a provider would refuse the window. */
export interface Fault {
  readonly rule: keyof Profile["rules"] | "noMessages";
  /** The explanation of the fault, for people. */
  readonly message: string;
  /** Index in the window. */
  readonly index: number;
}

type Report = (rule: Fault["rule"], index: number, message: string) => void;

/** Checks a whole window, system message included. An empty answer means the provider accepts its shape. @throws WindrowError `bad-option` */
export function validateWindow(messages: readonly Message[], profile: Profile): readonly Fault[] {
  if (!Array.isArray(messages) || profile?.rules === undefined) {
    const message =
      'validateWindow takes a window\'s messages and a profile, such as profileOf("anthropic") of windrow/window.';
    throw new WindrowError("bad-option", message);
  }
  return new WindowValidator(profile).faultsOf(messages);
}

/** Checks windows one after the other. What a window shares with the one before, from its beginning on, is checked once. */
export class WindowValidator {
  readonly #profile: Profile;
  #last: readonly Message[] = [];
  #faults: Fault[] = [];
  /** The ids of calls, and where each came first. */
  readonly #calls = new Map<string, number>();
  /** The places, rising, before which every call is answered. */
  readonly #settled: number[] = [0];

  constructor(profile: Profile) {
    this.#profile = profile;
  }

  /** The faults of the next window. */
  faultsOf(messages: readonly Message[]): readonly Fault[] {
    const from = this.#back(sharedPrefix(this.#last, messages));
    this.#last = messages;
    const history = messages.findIndex((message) => message.role !== "system");
    const unanswered = this.#check(messages, from, history);
    return [...this.#outer(messages, history), ...this.#faults, ...unanswered];
  }

  /** Forgets what was found behind the last settled place up to `shared`; gives that place. */
  #back(shared: number): number {
    while ((this.#settled.at(-1) ?? 0) > shared) this.#settled.pop();
    const from = this.#settled.at(-1) ?? 0;
    this.#faults = this.#faults.filter(({ index }) => index < from);
    for (const [callId, place] of this.#calls) if (place >= from) this.#calls.delete(callId);
    return from;
  }

  /** The faults of a window's two ends. */
  #outer(messages: readonly Message[], history: number): readonly Fault[] {
    const { rules } = this.#profile;
    const [first, end, last] = [messages[history], messages.at(-1), messages.length - 1];
    const fault = (isBroken: boolean | undefined, rule: Fault["rule"], index: number, message: string) =>
      isBroken ? [{ rule, index, message }] : [];
    const isLate = rules.firstIsUser && first && first.role !== "user";
    const isBare = rules.reasoningNeedsItem && end && isBarePiece(end);
    const isOpen = rules.lastIsUser && first && end?.role === "assistant";
    return [
      ...fault(!first, "noMessages", 0, "the window holds no message beside the system block"),
      ...fault(isLate, "firstIsUser", history, `the first message is the ${first?.role}'s, not the user's`),
      ...fault(isBare, "reasoningNeedsItem", last, "no text and no call follows the reasoning"),
      ...fault(isOpen, "lastIsUser", last, "the last message is the assistant's, not the user's or a result"),
    ];
  }

  /** Checks the messages from a settled place on; gives the faults of calls that nothing answers. */
  #check(messages: readonly Message[], from: number, history: number): readonly Fault[] {
    const { rules } = this.#profile;
    const fault: Report = (rule, index, message) => void this.#faults.push({ rule, index, message });
    let waiting: readonly ToolCallPart[] = [];
    let open = new Set<string>();
    for (let index = from; index < messages.length; index += 1) {
      const message = messages[index] as Message;
      if (open.size === 0 && waiting.length === 0 && index > from) this.#settled.push(index);
      if (rules.systemFirst && message.role === "system" && history !== -1 && index > history) {
        fault("systemFirst", index, "a system message stands behind the history's first message");
      }
      const before = messages[index - 1];
      if (wantsAnswer(this.#profile, before, message)) {
        fault("answerBeforeUser", index, "the user speaks behind results that no answer follows");
      }
      const goesOn = before !== undefined && isPiece(before) && isPiece(message);
      if (rules.reasoningNeedsItem && before && !goesOn && isBarePiece(before)) {
        fault("reasoningNeedsItem", index, "it stands where the item of the reasoning before it belongs");
      }
      for (const own of ownFaults(message, this.#profile)) fault(own.rule, index, own.message);
      const results = toolResults(message);
      if (rules.resultsInOrder) waiting = checkOrder(results, waiting, index, fault);
      for (const result of results) {
        if (!open.delete(result.callId) && rules.resultNeedsCall) {
          fault("resultNeedsCall", index, `result of ${result.callId} has no open call before it`);
        }
      }
      if (message.role !== "tool" && results.length === 0 && !goesOn) {
        for (const one of this.#unanswered(open, index)) this.#faults.push(one);
        open = new Set();
      }
      for (const part of message.parts) {
        if (part.type !== "tool-call") continue;
        if (!this.#calls.has(part.callId)) this.#calls.set(part.callId, index);
        else if (rules.uniqueCallIds) fault("uniqueCallIds", index, `call id ${part.callId} is used twice`);
        open.add(part.callId);
      }
      if (message.role === "assistant") {
        waiting = rules.resultsInOrder ? [...(goesOn ? waiting : []), ...toolCalls(message)] : [];
      }
    }
    return this.#unanswered(open, messages.length);
  }

  #unanswered(open: ReadonlySet<string>, index: number): readonly Fault[] {
    if (!this.#profile.rules.callNeedsResult) return [];
    return [...open].map((callId): Fault => {
      return { rule: "callNeedsResult", index, message: `call ${callId} is not answered before message ${index}` };
    });
  }
}

type OwnReport = (rule: Fault["rule"], message: string) => void;

const known = new WeakMap<Profile, WeakMap<Message, readonly Omit<Fault, "index">[]>>();

/** The faults of a message by itself. Looked at once for as long as it lives: a window mostly holds the same ones. */
function ownFaults(message: Message, profile: Profile): readonly Omit<Fault, "index">[] {
  let byMessage = known.get(profile);
  if (!byMessage) known.set(profile, (byMessage = new WeakMap()));
  const found = byMessage.get(message);
  if (found) return found;
  const faults: Omit<Fault, "index">[] = [];
  const fault: OwnReport = (rule, text) => void faults.push({ rule, message: text });
  if (profile.rules.noEmptyContent) checkContent(message, fault);
  if (profile.rules.wellFormedText && message.parts.some((part) => wellFormedPart(part) !== part)) {
    fault("wellFormedText", "a text holds half of a surrogate pair");
  }
  if (profile.rules.wireForm && inForm(formOf(profile), message) !== message) {
    fault("wireForm", `${profile.name} does not take an id, a name, arguments or a field as they stand`);
  }
  if (message.role === "assistant") checkAnswer(message, profile, fault);
  byMessage.set(message, faults);
  return faults;
}

/** A message of results belongs to the first call of its tool that still waits. Gives the calls that wait on. */
function checkOrder(
  results: readonly ToolResultPart[],
  waiting: readonly ToolCallPart[],
  index: number,
  fault: Report,
): readonly ToolCallPart[] {
  const [first] = results;
  const next = waiting.find(({ name }) => first?.name === undefined || name === first.name);
  if (first && next && next.callId !== first.callId && waiting.some(({ callId }) => callId === first.callId)) {
    fault("resultsInOrder", index, `the result of ${first.callId} stands where that of ${next.callId} belongs`);
  }
  return waiting.filter(({ callId }) => results.every((result) => result.callId !== callId));
}

/** Checks an answer of the model: reasoning that its reader accepts, and signatures. */
function checkAnswer(message: Message, profile: Profile, fault: OwnReport): void {
  const { rules } = profile;
  const { parts } = message;
  const reasoning = parts.filter(isReasoning);
  if (rules.ownReasoning && reasoning.some((part) => isForeign(part, message, profile))) {
    fault("ownReasoning", `the reasoning is another model's, which ${profile.name} cannot read`);
  }
  if (rules.signedReasoning && parts.some((part) => part.type === "reasoning" && part.signature === undefined)) {
    fault("signedReasoning", "reasoning stands without its signature");
  }
  if (rules.reasoningNeedsItem && !isPiece(message) && parts.at(-1)?.type === "reasoning") {
    fault("reasoningNeedsItem", "no text and no call follows the reasoning");
  }
  const call = parts.find((part) => part.type === "tool-call");
  if (!call) return;
  if (rules.callNeedsReasoning && !parts.some(saysReasoning)) {
    fault("callNeedsReasoning", "the message has calls and no reasoning");
  }
  if (rules.callNeedsSignature && thoughtSignature(call) === undefined) {
    fault("callNeedsSignature", `call ${call.callId} has no thought signature`);
  }
}

function checkContent(message: Message, fault: OwnReport): void {
  if (message.parts.every((part) => part.type === "reasoning") && !isBarePiece(message))
    fault("noEmptyContent", "the message has no content");
  if (message.parts.some((part) => part.type === "text" && part.text.trim() === "")) {
    fault("noEmptyContent", "a text part has no visible text");
  }
}

/** Whether a message is the reasoning of an answer, and its item is another piece. */
function isBarePiece(message: Message): boolean {
  return isPiece(message) && message.parts.length > 0 && message.parts.every(({ type }) => type === "reasoning");
}
