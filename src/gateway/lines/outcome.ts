/** Outcomes: the bytes that a request is sent with, and what they are. */
import type { Clearing, SentAnswer, WireRequest, Written } from "../gateway.ts";
import type { Tally } from "./clearing.ts";
import type { Line } from "./line.ts";

/** How a request is sent. */
export interface Outcome {
  readonly body: Buffer;
  /** Its messages, where they are not the client's own bytes. */
  readonly list?: readonly Written[];
  /** Headers to send beside the client's. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly mode: "observed" | "composed" | "asked" | "bypassed";
  /** The epoch of its window; 0 for the client's own bytes, -1 for what no window is. */
  readonly plan: number;
  /** Whether it carries no reasoning that the client sent. Default false. */
  readonly isBare?: boolean;
  /** Why it was bypassed. */
  readonly reason?: string;
  /** The question to its provider, and how many results that clears. */
  readonly asked?: Clearing;
  readonly cleared?: number;
  /** The request as it was counted, where a provider edits. */
  readonly tally?: Tally;
}

/** The value of the response header `x-windrow`. */
export function noteOf({ mode, plan, reason, asked }: Outcome, line: Line | undefined): string {
  return [
    mode,
    ...(reason === undefined ? [] : [`reason=${reason}`]),
    ...(mode === "composed" ? [`epoch=${Math.max(0, plan)}`] : []),
    ...(asked ? [`keep=${asked.keep}`] : []),
    ...(line ? [`session=${line.id.slice(0, 8)}`, `line=${line.facts.name}`] : []),
    ...(line?.facts.hasTool === true ? ["recall=tool"] : []),
  ].join("; ");
}

/** Whether the provider took a request: an answer of success may carry an error in its middle. */
export function isTaken({ status, answer }: SentAnswer): boolean {
  return status >= 200 && status < 300 && answer.error === undefined;
}

/** Notes at a line how a request of it is sent, as {@link Line.sent}. */
export function sentAs(
  line: Line,
  { plan, isBare, body, mode }: Outcome,
  { call, messages }: WireRequest,
  isOnly = false,
): void {
  line.sent(messages.length, isBare === true ? -1 : plan, isOnly);
  line.isPlanned ||= mode !== "asked" && body !== call.body;
}
