/** composeWindow: the window for hosts that store their own messages, and for servers that store nothing. */
import { WindrowError } from "../errors.ts";
import { modelOf } from "../tokens/models.ts";
import { checkMessageJson } from "../message/json.ts";
import type { Message } from "../message/message.ts";
import { Composer } from "./composer.ts";
import { hashName } from "../message/hash.ts";
import { hashMessage } from "./hash.ts";
import { composeKinds } from "./compose-options.ts";
import { aboveZero, anyOf, checkGiven, kinds, listOf } from "./options.ts";
import type { Kind } from "./options.ts";
import { profileOf } from "./provider/profile.ts";
import { budgetFor, counterFor } from "./apply-settings.ts";
import { strategyOf } from "./by-name.ts";
import type { ComposeInput, Composed, WindowState } from "./window.ts";

const inputKinds = {
  ...composeKinds,
  messages: kinds.list,
  strategy: anyOf(kinds.text, kinds.object),
  model: anyOf(kinds.text, kinds.object),
  profile: anyOf(kinds.text, kinds.object),
  counter: kinds.counter,
  ingestCap: aboveZero,
  mask: kinds.action,
  recallTools: listOf(kinds.text),
  state: kinds.object,
} as const satisfies Record<keyof ComposeInput, Kind>;

/**
 * Composes the window for the next call of a history. Pure and synchronous: the input is not changed, and the same
 * input gives the same bytes. The `state` it returns is all there is to remember; it goes into the next call.
 *
 * @example
 * let state;
 * const window = composeWindow({ messages, system, budget: 32_000, profile: "anthropic", state });
 * state = window.state;
 *
 * @throws WindrowError `bad-option`, `bad-message` (JSON that is nested too deep or holds itself), `unknown-strategy`,
 * `unknown-profile`, `unknown-model`, `unknown-counter`, `budget-too-small`, `over-budget`
 */
export function composeWindow(input: ComposeInput): Composed {
  checkGiven("composeWindow", input, inputKinds);
  if (input.messages === undefined) throw new WindrowError("bad-option", "composeWindow: `messages` is a list.");
  input.messages.forEach(checkMessage);
  const strategy = strategyOf(input.strategy ?? "adaptive");
  const model = input.model === undefined ? undefined : modelOf(input.model);
  const budget = budgetFor(strategy.settings, { budget: input.budget, model });
  const composer = new Composer({
    strategy,
    profile: profileOf(input.profile ?? model?.profile ?? "openai-chat"),
    counter: counterFor(strategy.settings, input.counter),
    ...(input.mask && { mask: input.mask }),
    ...(input.recallTools && { recallTools: input.recallTools }),
    ...(input.ingestCap !== undefined && { ingestCap: input.ingestCap }),
    ...(input.state && { state: stateFor(input.messages, input.state) }),
  });
  input.messages.forEach((message, index) => composer.push(index + 1, message));
  return composer.compose({
    budget: budget ?? NaN,
    ...(input.system !== undefined && { system: input.system }),
    ...(input.tools !== undefined && { tools: input.tools }),
    ...(input.dynamic !== undefined && { dynamic: input.dynamic }),
    ...(input.pinned !== undefined && { pinned: input.pinned }),
    ...(input.toolsBudget !== undefined && { toolsBudget: input.toolsBudget }),
  });
}

function checkMessage(message: Message, index: number): void {
  const { role, parts } = (message ?? {}) as Partial<Message>;
  if (typeof role !== "string" || !Array.isArray(parts) || !parts.every(isPart)) {
    throw new WindrowError("bad-message", `Message ${index} is no object with \`role\` and a list of \`parts\`.`, {
      index,
    });
  }
  checkMessageJson(message, index);
}

function isPart(part: unknown): boolean {
  return typeof part === "object" && part !== null && "type" in part;
}

/**
 * The state, without its edits where they are about other messages. Edits name messages by their place, so a history that
 * the host rewrote would lose the wrong ones.
 */
function stateFor(messages: readonly Message[], state: WindowState): WindowState {
  const last = messages[state.opened - 1];
  const same = state.opened === 0 || (last !== undefined && hashName(hashMessage(last)) === state.openedHash);
  if (same) return state;
  const { horizon: _, ...rest } = state;
  return { ...rest, edits: [], inserts: [], opened: 0, openedHash: "" };
}
