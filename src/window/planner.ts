/** The planner: runs a strategy's passes over a view until it fits, and throws where nothing makes it fit. */
import { WindrowError } from "../errors.ts";
import { answerOf } from "../handed-in.ts";
import type { Handed } from "../handed-in.ts";
import { isUsers, taskIn } from "./task.ts";
import { dropOldest } from "./passes/dropping.ts";
import { cutNewest } from "./passes/cut-newest.ts";
import { isWork } from "../turns.ts";
import type { Work } from "../turns.ts";
import type { LogBehind } from "./log-reading.ts";
import type { Edit, Pass, PassContext, ReadingContext, Strategy, View, ViewStep, WindowState } from "./window.ts";
import { isRange, mergeEdits, summaryPass } from "./edits.ts";
import { editList } from "./state-kinds.ts";
import { applyToView, viewOf } from "./view.ts";

/** A view without inserts that protects system messages, the task, the current user message and the newest step. */
export function protect(shown: readonly ViewStep[], strategy: Strategy): View {
  const steps = shown.filter((step) => step.kind !== "insert");
  const lastAssistant = steps.findLastIndex((step) => step.kind === "assistant");
  const lastUser = steps.findLastIndex(isUsers);
  const task = strategy.keepTask === true ? taskIn(steps) : strategy.keepFirstUser ? steps.findIndex(isUsers) : -1;
  const newest = Math.max(lastUser, lastAssistant);
  const marked = steps.map((step, index): ViewStep => {
    const kept = index === task || index === lastUser || index === newest;
    const stays = kept || standsAlways(step);
    return stays === step.protected ? step : { ...step, protected: stays };
  });
  return viewOf(marked);
}

/**
 * Whether a step may never leave: system messages, and a turn with one that is more than text, such as a tool that is added
 * in the middle of a conversation.
 */
function standsAlways({ kind, messages }: ViewStep): boolean {
  if (kind === "system") return true;
  return messages.some(({ message }) => message.role === "system" && message.parts.some(({ type }) => type !== "text"));
}

/** A window to plan edits for: what its passes are given, and what stands beside its steps. */
export interface WindowPlan extends Omit<PassContext, "target" | "limit" | "fixed" | "edits"> {
  readonly view: View;
  readonly strategy: Strategy;
  /** Tokens of what is no history. */
  readonly blocks: Readonly<Record<"system" | "tools" | "pinned" | "dynamic", number>>;
  /** Tokens kept for a message that may have to stand first. */
  readonly start: number;
  /** The edits in force, and those that were undone. */
  readonly state: Pick<WindowState, "edits" | "reverted">;
  /** Whether the newest step stays whole, and the task too: what does not fit then is an error. */
  readonly keepNewest: boolean;
}

/**
 * Plans the edits that bring a window to its strategy's low-water mark, or at least under the budget. Ranges that were
 * undone are spared where the budget can be met without them.
 *
 * @throws WindrowError `budget-too-small`; `over-budget` with the size of each block where even the floor is too large:
 * the current user message, and the newest step with its parts cut to stubs
 */
export function* planWindow(plan: WindowPlan): Work<readonly Edit[]> {
  const { view, strategy, budget, blocks, start, keepNewest, state } = plan;
  const { reverted = [] } = state;
  if (start > 0 && !strategy.keepFirstUser && state.reverted === undefined) {
    // A window that begins with the user by itself needs no room for a message before it.
    const exact = contextOf(plan, 0);
    const planned = exact.limit > 0 ? yield* runPasses(view, strategy, exact) : undefined;
    const first = planned?.view.steps.find(({ kind }) => kind !== "system")?.messages[0]?.message;
    if (planned && first?.role === "user" && planned.view.tokens <= exact.limit) return planned.edits;
  }
  const context = contextOf(plan, start);
  const { limit } = context;
  if (limit <= 0) {
    throw new WindrowError(
      "budget-too-small",
      `The budget of ${budget} tokens leaves nothing for the conversation: ${sizesOf(blocks)}. Raise the budget or ` +
        `shorten these.`,
      { budget, ...blocks },
    );
  }
  if (reverted.length > 0) {
    const undone = (step: ViewStep): boolean => reverted.some(({ from, to }) => step.from <= to && step.to >= from);
    const steps = view.steps.map((step) => (undone(step) ? { ...step, protected: true } : step));
    const sparing = yield* runPasses({ ...view, steps }, strategy, context);
    if (sparing.view.tokens <= limit) return sparing.edits;
  }
  const planned = yield* runPasses(view, strategy, context);
  return planned.view.tokens <= limit ? planned.edits : yield* forced(planned, context, blocks, keepNewest);
}

function sizesOf(blocks: Readonly<Record<string, number>>): string {
  return Object.entries(blocks)
    .map(([name, tokens]) => `${name} ${tokens}`)
    .join(", ");
}

/** The context of the passes, with `start` tokens kept for a message before the history. */
function contextOf(plan: WindowPlan, start: number): PassContext {
  const { view: _, strategy, blocks, start: __, state, keepNewest: ___, ...rest } = plan;
  const { system, tools, pinned, dynamic } = blocks;
  const fixed = system + tools + pinned + dynamic;
  const limit = rest.budget - fixed - start;
  const target = Math.max(1, Math.min(limit, Math.floor(rest.budget * strategy.lowWater) - fixed - start));
  return { target, limit, fixed, edits: state.edits, ...rest };
}

/** A view, and the edits that were planned to make it. */
interface Plan {
  readonly view: View;
  readonly edits: readonly Edit[];
}

/** Runs one pass over a planned view. */
function* run(pass: Pass, plan: Plan, context: PassContext): Work<Plan> {
  const found = yield* answerOfPass(pass, () => pass.plan(plan.view, context), {
    wanted: "a list of edits of messages that stand in the window and are not protected, at once",
    read: (answer) =>
      editList.fits(answer) && mayLeave(answer as readonly Edit[], plan.view) ? (answer as readonly Edit[]) : undefined,
  });
  yield;
  if (!found || found.length === 0) return plan;
  return { view: applyToView(plan.view, found, context), edits: mergeEdits(plan.edits, found) };
}

/** Whether edits are about a view's messages, and take out none that are protected. */
function mayLeave(edits: readonly Edit[], { steps }: View): boolean {
  const last = steps.reduce((most, { to }) => Math.max(most, to), 0);
  // A labelled message may become part of another.
  const stay = steps
    .filter((step) => step.protected && step.kind !== "note")
    .flatMap(({ messages }) => messages.map(({ seq }) => seq));
  return edits.every((edit) => {
    const { from, to } = edit;
    return from <= to && to <= last && !(isRange(edit) && stay.some((seq) => from <= seq && seq <= to));
  });
}

/** Reads a log, before windows, for a pass that does so. */
export function* readBy(pass: Pass, log: LogBehind, context: ReadingContext): Work<void> {
  yield* answerOfPass(pass, () => pass.read?.(log, context), { wanted: "work, at once", read: () => true });
}

/** The answer of a pass, at once or by work; undefined for one that does not fit, which is reported once. */
function* answerOfPass<Answer>(
  pass: Pass,
  ask: () => unknown,
  fitting: Pick<Handed<Answer>, "wanted" | "read">,
): Work<Answer | undefined> {
  let answer: () => unknown;
  try {
    const asked = ask();
    const result = isWork(asked) ? yield* asked : asked;
    answer = () => result;
  } catch (error) {
    answer = () => {
      throw error;
    };
  }
  const handed = { name: `The pass "${pass.name}"`, code: "pass-failed", otherwise: "It changes nothing.", ...fitting };
  return answerOf<Answer | undefined>(pass, handed, answer, () => undefined);
}

/** Runs a strategy's passes over a view, in order. */
function* runPasses(view: View, strategy: Strategy, context: PassContext): Work<Plan> {
  let plan: Plan = { view, edits: [] };
  for (const pass of strategy.passes) plan = yield* run(pass, plan, context);
  return plan;
}

/**
 * The edits of a plan that fits the limit, whatever the strategy prefers. Gives up in this order: its low-water headroom,
 * the largest parts of the newest step, summaries, then the task message.
 */
function* forced(
  plan: Plan,
  context: PassContext,
  blocks: WindowPlan["blocks"],
  keepNewest: boolean,
): Work<readonly Edit[]> {
  const { limit } = context;
  const least = { ...context, target: limit };
  if (plan.view.steps.some(({ edit }) => edit?.pass === summaryPass)) {
    const sparing = yield* run(dropOldest({ keepNotes: true }), plan, least);
    const kept = keepNewest ? sparing : yield* cut(sparing, least);
    if (kept.view.tokens <= limit) return kept.edits;
  }
  const tidied = yield* run(dropOldest(), plan, least);
  if (keepNewest && tidied.view.tokens > limit) throw cannotFit(tidied.view, context, blocks);
  let current = yield* cut(tidied, least);
  if (current.view.tokens > limit) {
    const floor = yield* run(dropOldest(), { ...tidied, view: onlyFloorProtected(tidied.view) }, least);
    current = yield* cut(floor, least);
  }
  if (current.view.tokens <= limit) return current.edits;
  throw cannotFit(current.view, context, blocks);
}

function cannotFit(view: View, { budget }: PassContext, blocks: WindowPlan["blocks"]): WindrowError {
  const sizes = { ...blocks, ...floorBlocks(view) };
  return new WindrowError(
    "over-budget",
    `The window cannot fit its budget of ${budget} tokens: ${sizesOf(sizes)}. Raise the budget, or shorten the largest ` +
      `of these.`,
    { budget, ...sizes, steps: view.steps.filter((step) => step.protected).length },
  );
}

/** Cuts the newest step. Counts are not quite additive, so another cut takes off what the first left. */
function* cut(plan: Plan, context: PassContext): Work<Plan> {
  let current = plan;
  for (let tries = 0; tries < 3 && current.view.tokens > context.limit; tries++) {
    current = yield* run(cutNewest, current, context);
  }
  return current;
}

/** The view with nothing protected but system messages, the newest user message and the newest step. */
function onlyFloorProtected({ steps }: View): View {
  const last = steps.findLastIndex((step) => step.kind === "assistant" || isUsers(step));
  const lastUser = steps.findLastIndex(isUsers);
  const stays = (step: ViewStep, index: number): boolean => standsAlways(step) || index === last || index === lastUser;
  return viewOf(steps.map((step, index) => ({ ...step, protected: stays(step, index) })));
}

function floorBlocks({ steps }: View): Record<string, number> {
  const sum = (...kinds: readonly ViewStep["kind"][]): number =>
    steps.reduce((total, { kind, tokens }) => (kinds.includes(kind) ? total + tokens : total), 0);
  const systemMessages = sum("system");
  return {
    currentUser: sum("user"),
    newestStep: sum("assistant"),
    notes: sum("note", "insert"),
    ...(systemMessages > 0 && { systemMessages }),
  };
}
