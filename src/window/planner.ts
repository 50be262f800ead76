/** The planner: runs a strategy's passes over a view until it fits, and says so when nothing can make it fit. */
import { WindrowError } from "../errors.ts";
import { toolResults } from "../message/message.ts";
import { countPart } from "../tokens/counter.ts";
import { isUsers, taskIn } from "./task.ts";
import { dropOldest } from "./passes/drop-oldest.ts";
import { truncateStep } from "./passes/truncate-tool-results.ts";
import { EditIndex, noteStep, sumTokens } from "./view.ts";
import type { Work } from "../turns.ts";
import type { Edit, Pass, PassContext, Strategy, View, ViewStep } from "./window.ts";

/** Steps marked with what may not leave: system messages, the task, the current user message, the newest step. */
export function protect(steps: readonly ViewStep[], strategy: Strategy): View {
  const lastAssistant = steps.findLastIndex((step) => step.kind === "assistant");
  const lastUser = steps.findLastIndex(isUsers);
  const task = strategy.keepTask === true ? taskIn(steps) : strategy.keepFirstUser ? steps.findIndex(isUsers) : -1;
  const newest = Math.max(lastUser, lastAssistant);
  const marked = steps.map((step, index): ViewStep => {
    const waiting = index > lastAssistant && isUsers(step);
    const kept = index === task || index === lastUser || index === newest || waiting;
    const stays = kept || step.kind === "system";
    return stays === step.protected ? step : { ...step, protected: stays };
  });
  return viewOf(marked);
}

/** A view over steps. */
export function viewOf(steps: readonly ViewStep[]): View {
  return { steps, tokens: steps.reduce((sum, step) => sum + step.tokens, 0) };
}

/**
 * Edits that bring the view to the target, or at least under the limit.
 *
 * @throws WindrowError `over-budget` with the size of each block where even the floor (current user message, newest step
 * with its results cut to stubs) is larger than the limit
 */
export function* plan(
  view: View,
  strategy: Strategy,
  context: PassContext,
  blocks: Readonly<Record<string, number>>,
): Work<readonly Edit[]> {
  return (yield* planned(view, strategy, context, blocks, false)) ?? [];
}

/** Edits that bring the view under the limit and leave protected steps as they are, or undefined where that cannot be. */
export function planSparing(view: View, strategy: Strategy, context: PassContext): Work<readonly Edit[] | undefined> {
  return planned(view, strategy, context, {}, true);
}

function* planned(
  view: View,
  strategy: Strategy,
  context: PassContext,
  blocks: Readonly<Record<string, number>>,
  sparing: boolean,
): Work<readonly Edit[] | undefined> {
  let edits: readonly Edit[] = [];
  let current = view;
  const run = function* (pass: Pass, target: number): Work<void> {
    const given = { ...context, target };
    const found = pass.planning ? yield* pass.planning(current, given) : pass.plan(current, given);
    yield;
    if (found.length === 0) return;
    edits = mergeEdits(edits, found);
    current = applyToView(current, found, context);
    yield;
  };
  for (const pass of strategy.passes) yield* run(pass, context.target);
  if (current.tokens <= context.limit) return edits;
  if (sparing) return undefined;

  // Nothing that a strategy likes to keep outweighs law 4: first its room for more, then the task, then results.
  yield* run(dropOldest(), context.limit);
  // An excerpt can come out some tokens larger than it was meant to; a second cut takes that off.
  for (let tries = 0; tries < 3 && current.tokens > context.limit; tries++) yield* run(shrinkNewest, context.limit);
  if (current.tokens > context.limit) {
    const { steps } = current;
    const last = steps.findLastIndex((step) => step.kind === "assistant" || isUsers(step));
    const running = currentSteps(current);
    current = viewOf(
      steps.map((step, index) => {
        return { ...step, protected: index === last || step.kind === "system" || running.has(index) };
      }),
    );
    yield* run(dropOldest(), context.limit);
  }
  if (current.tokens <= context.limit) return edits;
  const floor = current.steps.filter((step) => step.protected);
  throw new WindrowError(
    "over-budget",
    `The window cannot fit ${context.limit + sum(Object.values(blocks))} tokens: ` +
      Object.entries({ ...blocks, ...floorBlocks(current) })
        .map(([name, tokens]) => `${name} ${tokens}`)
        .join(", ") +
      ". Raise the budget, or shorten the largest of these.",
    { budget: context.limit + sum(Object.values(blocks)), ...blocks, ...floorBlocks(current), steps: floor.length },
  );
}

/** The indexes of the running turn's floor: the newest user message, and the newest step where it stands last. */
function currentSteps({ steps }: View): ReadonlySet<number> {
  const newest = steps.at(-1)?.kind === "assistant" ? [steps.length - 1] : [];
  return new Set([steps.findLastIndex(isUsers), ...newest]);
}

function floorBlocks(view: View): Record<string, number> {
  const names = {
    user: "currentUser",
    note: "notes",
    insert: "notes",
    assistant: "newestStep",
    system: "systemMessages",
  } as const;
  const blocks: Record<string, number> = { currentUser: 0, newestStep: 0, notes: 0 };
  for (const step of view.steps) {
    const name = names[step.kind];
    blocks[name] = (blocks[name] ?? 0) + step.tokens;
  }
  return blocks;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Cuts the results of protected steps, the largest first, until the view meets the target. */
const shrinkNewest: Pass = {
  name: "truncate-tool-results",
  plan(view, context) {
    const edits: Edit[] = [];
    let excess = view.tokens - context.target;
    const sized = view.steps
      .filter((step) => step.protected && step.kind === "assistant")
      .flatMap((step) =>
        step.messages.map((numbered) => ({ step, numbered, tokens: sumTokens(context.counter, [numbered]) })),
      )
      .filter(({ numbered }) => toolResults(numbered.message).length > 0)
      .sort((left, right) => right.tokens - left.tokens);
    for (const { step, numbered } of sized) {
      if (excess <= 0) break;
      const results = toolResults(numbered.message);
      const size = sum(results.map((result) => countPart(context.counter, result)));
      const room = Math.max(0, Math.floor((size - excess) / results.length) - 48);
      for (const edit of truncateStep({ ...step, messages: [callerOf(step), numbered] }, context, room)) {
        edits.push({ ...edit, reason: "the newest results alone are larger than the budget" });
        excess -= edit.tokensBefore - edit.tokensAfter;
      }
    }
    return edits;
  },
};

function callerOf(step: ViewStep): ViewStep["messages"][number] {
  const [caller] = step.messages;
  if (!caller) throw new WindrowError("bad-message", "A step holds at least one message.");
  return caller;
}

/** A view with edits applied; what they drop is gone, what they replace is a note. */
export function applyToView(view: View, edits: readonly Edit[], context: PassContext): View {
  const index = new EditIndex(edits);
  const steps: ViewStep[] = [];
  const { notes } = index;
  let next = 0;
  for (const step of view.steps) {
    if (index.covers(step.from) && (step.kind === "note" || step.messages.every(({ seq }) => index.covers(seq))))
      continue;
    for (let note = notes[next]; note && note.from <= step.from; note = notes[++next])
      steps.push(noteStep(note, context.profile, context.counter));
    const messages = step.messages.map((numbered) => {
      const message = index.apply(numbered.seq, numbered.message);
      return message === numbered.message ? numbered : { seq: numbered.seq, message };
    });
    const same = messages.every((numbered, position) => numbered === step.messages[position]);
    steps.push(same ? step : { ...step, messages, tokens: sumTokens(context.counter, messages) });
  }
  for (const note of notes.slice(next)) steps.push(noteStep(note, context.profile, context.counter));
  return viewOf(steps);
}

/** One complete set from an older and a newer one: a wider edit swallows those inside it, a newer stub an older. */
export function mergeEdits(older: readonly Edit[], newer: readonly Edit[]): readonly Edit[] {
  const whole = newer.filter((edit) => edit.kind !== "stub" && edit.only === undefined);
  const index = new EditIndex(whole);
  const original = new Map(
    older.filter((edit) => edit.kind === "stub").map((edit) => [stubKey(edit), edit.tokensBefore]),
  );
  const replaced = new Set(newer.filter((edit) => edit.kind === "stub").map(stubKey));
  const bare = newer.some((candidate) => candidate.only === "reasoning");
  const merged: Edit[] = [];
  // What an older drop took out is no step of the view any more, so the edit that swallows it has not counted it.
  const swallowed = new Map<Edit, number>();
  for (const edit of older) {
    const wider = isPlainDrop(edit) ? index.rangeOf(edit.from) : undefined;
    if (wider) swallowed.set(wider, (swallowed.get(wider) ?? 0) + edit.tokensBefore);
    if (edit.only === "reasoning") {
      if (!bare) merged.push(edit);
    } else if (
      edit.kind === "stub" ? !replaced.has(stubKey(edit)) && !index.covers(edit.from) : !index.covers(edit.from)
    ) {
      merged.push(edit);
    }
  }
  for (const edit of newer) {
    if (edit.kind === "stub" && index.covers(edit.from)) continue;
    const before = edit.kind === "stub" ? original.get(stubKey(edit)) : undefined;
    const tokensBefore = before ?? edit.tokensBefore + (swallowed.get(edit) ?? 0);
    merged.push(tokensBefore === edit.tokensBefore ? edit : { ...edit, tokensBefore });
  }
  return joined(merged.toSorted((left, right) => left.from - right.from || left.to - right.to));
}

/** Neighbours that one pass dropped for one reason as one edit: a strategy that drops on every call keeps a small set. */
function joined(edits: readonly Edit[]): readonly Edit[] {
  const found: Edit[] = [];
  for (const edit of edits) {
    const last = found.at(-1);
    const next = last && isPlainDrop(last) && isPlainDrop(edit) && edit.from === last.to + 1;
    if (next && edit.pass === last.pass && edit.reason === last.reason) {
      found[found.length - 1] = { ...last, to: edit.to, tokensBefore: last.tokensBefore + edit.tokensBefore };
    } else found.push(edit);
  }
  return found;
}

function isPlainDrop({ kind, only }: Edit): boolean {
  return kind === "drop" && only === undefined;
}

function stubKey(edit: Edit): string {
  return `${edit.from}/${edit.callId ?? ""}`;
}
