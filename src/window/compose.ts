/** composeWindow: the window for hosts that store their own messages, and for servers that store nothing. */
import { WindrowError } from "../errors.ts";
import { countFor, initialCalibration, observe } from "../tokens/calibrate.ts";
import type { CalibrationState } from "../tokens/calibrate.ts";
import { modelOf } from "../tokens/models.ts";
import { foreignHint } from "../message/foreign.ts";
import { checkMessageJson, defined } from "../message/json.ts";
import type { Message } from "../message/message.ts";
import { Composer } from "./composer.ts";
import { hashName } from "../message/hash.ts";
import { hashMessage } from "./hash.ts";
import { callKinds } from "./compose-options.ts";
import { aboveZero, anyOf, checkGiven, kinds, listOf, usageReport, withTexts } from "./options.ts";
import type { Kind } from "./options.ts";
import { windowState } from "./state-kinds.ts";
import { profileOf } from "./provider/profile.ts";
import { budgetFor, counterFor, sizedBy } from "./settings.ts";
import { strategyOf } from "./by-name.ts";
import type { ComposeInput, Composed, WindowState } from "./window.ts";

const inputKinds = {
  ...callKinds,
  pinned: listOf(withTexts("id", "text")),
  messages: kinds.list,
  strategy: anyOf(kinds.text, kinds.object),
  model: anyOf(kinds.text, kinds.object),
  profile: anyOf(kinds.text, kinds.object),
  counter: anyOf(kinds.text, kinds.counter),
  usage: usageReport,
  ingestCap: aboveZero,
  mask: kinds.action,
  recallTools: listOf(kinds.text),
  state: windowState,
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
  const strategy = sizedBy(strategyOf(input.strategy ?? "adaptive"), input.budget);
  const model = input.model === undefined ? undefined : modelOf(input.model);
  const budget = budgetFor(strategy.settings, { budget: input.budget, model });
  if (budget === undefined) {
    const message = "composeWindow needs a `budget` in tokens, or a `model` whose contextWindow gives one.";
    throw new WindrowError("bad-option", message, { option: "budget" });
  }
  const { calibration, warning } = calibrated(input, model?.contextWindow);
  const composer = new Composer({
    strategy,
    profile: profileOf(input.profile ?? model?.profile ?? "openai-chat"),
    counter: counterFor(strategy.settings, input.counter),
    ...defined({ mask: input.mask, recallTools: input.recallTools, ingestCap: input.ingestCap }),
    ...(input.state && { state: stateFor(input.messages, input.state) }),
  });
  input.messages.forEach((message, index) => composer.push(index + 1, message));
  const { system, tools, dynamic, pinned, toolsBudget } = input;
  const composed = composer.compose({
    budget: Number.isFinite(budget) ? calibratedBudget(calibration, budget) : budget,
    ...defined({ system, tools, dynamic, pinned, toolsBudget }),
  });
  // Callers that give no usage have no use for the count.
  if (!("usage" in input) && input.state?.counted === undefined) return composed;
  const state = { ...composed.state, counted: { tokens: composed.tokens, calibration } };
  if (warning === undefined) return { ...composed, state };
  const note = [composed.report.note, warning].filter((text) => text !== undefined).join(" ");
  return { ...composed, state, report: { ...composed.report, note } };
}

/** How counts compare with what the provider reported, the usage of the last window's request among it. */
function calibrated(
  { usage, state }: ComposeInput,
  contextWindow: number | undefined,
): { readonly calibration: CalibrationState; readonly warning?: string } {
  const { tokens, calibration } = state?.counted ?? { tokens: 0, calibration: initialCalibration };
  if (usage?.input === undefined || tokens === 0) return { calibration };
  const { state: observed, warning } = observe(calibration, {
    estimated: tokens,
    reported: usage.input,
    ...defined({ contextWindow }),
  });
  return { calibration: observed, ...defined({ warning }) };
}

/**
 * The budget in tokens of the counter.
 *
 * @throws WindrowError `budget-too-small` where the provider reports more beside the messages than the budget
 */
function calibratedBudget(calibration: CalibrationState, budget: number): number {
  const counted = countFor(calibration, budget);
  if (counted >= 1 || calibration.observations === 0) return Math.max(1, counted);
  const { estimated, reported } = calibration;
  const message =
    `The usage says ${reported} tokens for a window that counts ${estimated}, which leaves nothing of the budget of ` +
    `${budget}. Raise the budget; or where that figure is not of that one request, compose without \`usage\` and ` +
    "without `state.counted`.";
  throw new WindrowError("budget-too-small", message, { budget, estimated, reported });
}

function checkMessage(message: Message, index: number): void {
  const { role, parts } = (message ?? {}) as Partial<Message>;
  if (typeof role !== "string" || !Array.isArray(parts) || !parts.every(isPart)) {
    const fault = `Message ${index} is no object with \`role\` and a list of \`parts\`.`;
    throw new WindrowError("bad-message", `${fault}${foreignHint(message)}`, { index });
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
  const { horizon: _, forced: __, ...rest } = state;
  return { ...rest, edits: [], inserts: [], opened: 0, openedHash: "" };
}
