/** Outcomes: the bytes that a request is sent with, and what they are. */
import { isWindrowError } from "../../errors.ts";
import type { Clearing, WireRequest, Written } from "../gateway.ts";
import type { Tally } from "./clearing.ts";
import type { Found } from "./find.ts";
import type { Line } from "./line.ts";
import { plansBehind } from "./tail.ts";
import { bare, bared, bodyOf, written } from "./window.ts";
import { Slow } from "./within.ts";

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

/** The client's own bytes. */
export function seen({ call }: WireRequest): Outcome {
  return { body: call.body, mode: "observed", plan: 0 };
}

/** The line's last window with what the request has behind it; the client's own bytes where it has none. */
export function windowed(request: WireRequest, line: Line, mode: Outcome["mode"]): Outcome {
  const { window } = line;
  if (!window) return seen(request);
  const list = written(window, request, { from: line.chain.reasonsFrom(window.epoch) });
  return { body: bodyOf(request, list), list, mode, plan: window.epoch };
}

/** The same messages without reasoning, where the model takes them so. */
export function withoutReasoning(request: WireRequest, outcome: Outcome, list: readonly Written[]): Outcome {
  if (request.keepsReasoning) return outcome;
  const rest = bared(list, request);
  return { ...outcome, body: bodyOf(request, rest), list: rest, isBare: true };
}

/** The circumstances of a request whose line's work failed. */
interface Bypass {
  readonly isUnread: boolean;
  readonly reason: string;
  readonly alone: () => readonly Written[] | undefined;
}

/**
 * A request whose line's work failed: the last window with what is behind it, else its own bytes. Those of a line that had
 * epochs are without reasoning, which belongs to windows that nobody can make now, and in a window of their own.
 *
 * @param isUnread - whether a line of it may be in the store and could not be read; `alone`: that window, where there is one
 */
export function bypassed(request: WireRequest, found: Found | undefined, { isUnread, reason, alone }: Bypass): Outcome {
  const failed = { mode: "bypassed", reason } as const;
  try {
    const { line, match } = found ?? {};
    if (line?.window && (match?.length ?? 0) >= line.window.covers) {
      const outcome = windowed(request, line, "bypassed");
      // Reasoning of an answer that is not kept yet may stay where it is to this window.
      const others = plansBehind(request, line, match?.length ?? 0).filter((plan) => plan !== outcome.plan);
      const isWhole = others.length === 0 || !outcome.list;
      return { ...(isWhole ? outcome : withoutReasoning(request, outcome, outcome.list)), reason };
    }
    if (line?.isPlanned === true || isUnread) {
      const list = alone() ?? bare(request);
      const body = bodyOf(request, list);
      const isBare = request.keepsReasoning !== true;
      if (body !== request.call.body) return { body, list, ...failed, plan: -1, isBare };
    }
  } catch {
    // The client's own bytes are left.
  }
  return { ...seen(request), ...failed };
}

/** The word for why a request was bypassed. */
export function reasonOf(error: unknown): string {
  if (error instanceof Slow) return "slow";
  return isWindrowError(error) ? error.code : "error";
}
