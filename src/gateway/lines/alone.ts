/** A window of a request's own messages, for one that was composed before and whose log does not answer in time. */
import { composeWindow } from "../../window/compose.ts";
import type { WireRequest, Written } from "../gateway.ts";
import { Chain } from "./chain.ts";
import type { House } from "./house.ts";
import { decodeTail } from "./tail.ts";
import { sentWindow, unboundProfile, written } from "./window.ts";

/** The share of the budget that is used where no figure of the provider's corrects the count. */
const share = 0.75;

/**
 * The messages without reasoning that is bound to others, edited as far as they are more than the budget. The log knows nothing of these edits, and ids in
 * stubs are those of its messages.
 *
 * @returns undefined where no window can be made
 */
export function windowAlone(house: House, request: WireRequest): readonly Written[] | undefined {
  const { api, messages, model, system, tools, keepsReasoning } = request;
  const budget = house.isComposing ? house.budgetFor(model) : undefined;
  if (budget === undefined || request.fixed !== undefined) return undefined;
  const { strategy = "adaptive", counter } = house.options;
  const chain = new Chain();
  const decoded = decodeTail(api, messages, 0).map((message, place) => {
    const id = `windrow:alone:${place}`;
    chain.push({ id, print: "" });
    return { ...message, id };
  });
  try {
    const composed = composeWindow({
      messages: decoded,
      budget: Math.floor(budget * share),
      strategy,
      profile: keepsReasoning ? unboundProfile(api) : api.profile,
      tools,
      ...(system !== undefined && { system }),
      ...(counter !== undefined && { counter }),
    });
    return written(sentWindow(composed, chain, api), request, { from: Infinity });
  } catch {
    return undefined;
  }
}
