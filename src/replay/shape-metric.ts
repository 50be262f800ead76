/** Requests that a provider would refuse, by one rule for all providers. */
import { toolCalls, toolResults } from "../message/message.ts";
import type { Message } from "../message/message.ts";
import { sharedPrefix } from "../message/shared-prefix.ts";
import { groupSteps } from "../message/step.ts";

/**
 * Whether requests are broken, one after the other. A request is broken when it has a result without its call, a call
 * without its result, a history that begins with someone other than the user, an empty message, or no message at all.
 * What a request shares with the one before is looked at once.
 */
export class BrokenRequests {
  #last: readonly Message[] = [];
  /** The places in the last request, rising, before which nothing is wrong and no call waits. */
  readonly #sound: number[] = [0];
  /** The first place where something is wrong. */
  #wrong = Infinity;
  /** Whether a call waits at the end. */
  #waits = false;
  /** The place of the first message that is not the system's. */
  #begin = Infinity;

  /** Whether the next request is broken. */
  isBroken(window: readonly Message[]): boolean {
    const same = sharedPrefix(this.#last, window);
    if (this.#wrong >= same) this.#look(window, same);
    this.#last = window;
    return this.#wrong < Infinity || this.#waits || this.#begin === Infinity;
  }

  /** Looks at a request from the last sound place on that it shares with the one before. */
  #look(window: readonly Message[], same: number): void {
    while ((this.#sound.at(-1) ?? 0) > same) this.#sound.pop();
    const from = this.#sound.at(-1) ?? 0;
    if (this.#begin >= from) this.#begin = Infinity;
    this.#wrong = Infinity;
    let open = new Set<string>();
    for (let at = from; at < window.length; at += 1) {
      const message = window[at] as Message;
      if (open.size === 0 && at > from) this.#sound.push(at);
      if (isEmpty(message)) this.#wrong = at;
      else if (message.role !== "system") {
        if (this.#begin === Infinity && message.role !== "user") this.#wrong = at;
        this.#begin = Math.min(this.#begin, at);
        const results = toolResults(message);
        const answersOnly = message.role === "tool" || results.length > 0;
        if (results.some((result) => !open.delete(result.callId)) || (!answersOnly && open.size > 0)) this.#wrong = at;
        if (message.role === "assistant") open = new Set(toolCalls(message).map((call) => call.callId));
      }
      if (this.#wrong < Infinity) return;
    }
    this.#waits = open.size > 0;
  }
}

function isEmpty(message: Message): boolean {
  return message.parts.every((part) => (part.type === "text" || part.type === "reasoning") && !/\S/.test(part.text));
}

/** The parts of a history that no policy may leave out: the system messages, the task, and the newest step. */
export function essentials(history: readonly Message[]): readonly Message[] {
  const system = history.filter((message) => message.role === "system");
  const task = history.find((message) => message.role === "user");
  const newest =
    groupSteps(history)
      .at(-1)
      ?.messages.map(({ message }) => message) ?? [];
  return [...new Set([...system, ...(task ? [task] : []), ...newest])];
}
