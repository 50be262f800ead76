/** Requests whose provider is asked to clear old tool results, in the place of a window of the gateway's own. */
import { counterFor } from "../../window/apply-settings.ts";
import type { SentAnswer, WireRequest } from "../gateway.ts";
import { clearingOf } from "./clearing.ts";
import type { House } from "./house.ts";
import type { Line } from "./line.ts";
import { seen } from "./outcome.ts";
import type { Outcome } from "./outcome.ts";

/** The mend of a request whose provider did not take the question. */
export const editsRemoved = "edits-removed";

/**
 * A turn with what its provider is asked to clear; the client's own bytes where it fits its budget, and where the client asks
 * for such an edit itself.
 *
 * @param limit - most tokens that are left, where that is less than the budget
 */
export function asked(house: House, line: Line, request: WireRequest, limit: number): Outcome {
  const { counter } = house.options;
  const budget = Math.min(house.budgetFor(request.model) ?? house.unlimited, limit);
  const plan = clearingOf(request, line.tallied, {
    budget,
    counter: counterFor(undefined, counter),
    held: Math.max(line.cleared, line.chain.cleared),
    isExcluded: (tool) => house.isRecallTool(tool),
  });
  const { tally } = plan;
  if (plan.cleared === 0) return { ...seen(request), tally };
  const written = request.api.edits?.ask(request, plan.asked);
  if (!written) return seen(request);
  return { ...seen(request), ...written, mode: "asked", asked: plan.asked, cleared: plan.cleared, tally };
}

/** Whether a provider is to be asked about a request: its turn of a main conversation, by an API that has such edits. */
export function isAskable(house: House, { api, model }: WireRequest, tenant: string): boolean {
  if (!api.edits) {
    house.tellOnce({ type: "edits-unavailable", reason: api.name });
    return false;
  }
  return !house.hasRefused(tenant, model);
}

/** A request that was answered, and how it was sent. */
interface AnsweredQuestion {
  readonly outcome: Outcome;
  readonly mends: readonly string[];
  readonly tenant: string;
  readonly sent: SentAnswer;
}

/** Notes what an answer says about a question: its figures, or that the provider does not take it. */
export function noteAnswer(
  house: House,
  line: Line,
  request: WireRequest,
  { outcome, mends, tenant, sent }: AnsweredQuestion,
): void {
  const { answer, status } = sent;
  if (status < 200 || status >= 300) return;
  // What was cleared in vain is not cleared from now on.
  if (outcome.cleared !== undefined) line.cleared = outcome.cleared;
  if (outcome.tally) line.tallied.observe(outcome.tally, answer.usage, answer.appliedEdits);
  if (mends.includes(editsRemoved)) house.refuse(tenant, request.model);
}
