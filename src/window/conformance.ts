/**
 * The rules for strategies and passes, as cases for any test runner. Give yours to {@link strategyConformance} or
 * {@link passConformance} and register the cases. `composeWindow` and a SessionManager take a strategy that passes
 * them.
 */
import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance.ts";
import { isWindrowError } from "../errors.ts";
import { toolResults } from "../message/message.ts";
import type { Message } from "../message/message.ts";
import { repairMessages } from "../message/repair.ts";
import { codingSession, sampleHistories } from "../message/samples.ts";
import type { Sample } from "../message/samples.ts";
import { countMessage } from "../tokens/counter.ts";
import { estimate } from "../tokens/estimate.ts";
import { atOnce, isWork } from "../turns.ts";
import { composeWindow } from "./compose.ts";
import { EditIndex } from "./edits.ts";
import { explainWindow } from "./explain.ts";
import { anthropic, openaiChat } from "./provider/profile.ts";
import type { Profile } from "./provider/profile.ts";
import { validateWindow } from "./provider/validate.ts";
import type { Composed, Edit, Pass, PassContext, Strategy, View, ViewStep, WindowState } from "./window.ts";

const budgets = [300, 1_500, 6_000, 40_000];

const profiles = [anthropic, openaiChat] as const;

type Check = (make: () => Strategy, sample: Sample, profile: Profile) => void;

const checks: Readonly<Record<string, Check>> = {
  "fits or says what does not, and accounts for it": fits,
  "grows only at its end": grows,
};

/**
 * The cases for one strategy.
 *
 * @param make - a new strategy for every case
 */
export function strategyConformance(make: () => Strategy): readonly ConformanceCase[] {
  const group = `strategy ${make().name}`;
  return eachSample(checks, (law, check, sample) =>
    profiles.map((profile) => ({
      group,
      name: `${law}: ${sample.name}, ${profile.name}`,
      run: async () => check(make, sample, profile),
    })),
  );
}

/**
 * The cases for one pass: its plans are sound, the same every time, and change nothing that the pass was given; and a
 * strategy of this pass alone holds what every strategy must. A pass that reads the profile runs each case with two.
 *
 * @param make - a new pass for every case
 */
export function passConformance(make: () => Pass): readonly ConformanceCase[] {
  const group = `pass ${make().name}`;
  const cases = (when: string, laws: typeof checks, trigger: Strategy["trigger"], lowWater: number) =>
    eachSample(laws, (law, check, sample) => ({
      group: `${group}, ${when}`,
      name: `${law}: ${sample.name}`,
      run: async () => {
        let readsProfile = false;
        const alone = (): Strategy => {
          const pass = watched(make(), () => (readsProfile = true));
          return { name: group, passes: [pass], trigger, lowWater, keepFirstUser: true };
        };
        const [first, ...others] = profiles;
        check(alone, sample, first);
        if (readsProfile) for (const profile of others) check(alone, sample, profile);
      },
    }));
  return [
    ...cases("at the budget", checks, { ratio: 1 }, 0.5),
    ...cases("on every call", { "grows only at its end": grows }, { messages: 0 }, 1),
  ];
}

function eachSample<T>(
  laws: typeof checks,
  casesOf: (law: string, check: Check, sample: Sample) => T | readonly T[],
): readonly T[] {
  const samples: readonly Sample[] = [
    ...sampleHistories(),
    { name: "a long coding session", messages: codingSession(48, 20) },
  ];
  return Object.entries(laws).flatMap(([law, check]) => samples.flatMap((sample) => casesOf(law, check, sample)));
}

/** Plans of one case that are looked at from all sides: the same view comes again and again. */
const closely = 12;

/** The pass, with an eye on what it is given and what it answers. */
function watched(pass: Pass, onProfileRead: () => void): Pass {
  let plans = 0;
  return {
    name: pass.name,
    plan(view, { profile, ...rest }) {
      const context: PassContext = {
        ...rest,
        get profile() {
          onProfileRead();
          return profile;
        },
      };
      const close = plans++ < closely;
      const before = close ? JSON.stringify(view) : "";
      const planned = (): readonly Edit[] => {
        const answer = pass.plan(view, context);
        return isWork(answer) ? atOnce(answer) : answer;
      };
      const edits = planned();
      assert.deepEqual(editFaults(pass.name, view, edits), []);
      if (close) {
        assert.equal(JSON.stringify(view), before, "the view was changed");
        assert.deepEqual(planned(), edits, "same in, not the same out");
      }
      return edits;
    },
  };
}

function compose(
  strategy: Strategy,
  messages: readonly Message[],
  budget: number,
  profile: Profile,
  state?: WindowState,
): Composed | undefined {
  try {
    return composeWindow({ messages, budget, strategy, profile, counter: estimate, ...(state && { state }) });
  } catch (error) {
    if (!isWindrowError(error)) throw error;
    assert(error.code === "over-budget" || error.code === "budget-too-small", error.message);
    return undefined;
  }
}

function fits(make: () => Strategy, { messages }: Sample, profile: Profile): void {
  const before = JSON.stringify(messages);
  const order = new Map(repairMessages(messages).messages.map(({ id }, index) => [id, index]));
  let least: number | undefined;
  for (const budget of budgets) {
    const composed = compose(make(), messages, budget, profile);
    assert.equal(JSON.stringify(messages), before, "the input was changed");
    assert(composed || least === undefined, `it fitted less than ${budget} tokens`);
    if (!composed) continue;
    assert.deepEqual(validateWindow(composed.messages, profile), [], "the provider would refuse the window");
    const tokens = composed.messages.reduce((sum, message) => sum + countMessage(estimate, message), 0);
    assert(tokens <= budget, `${tokens} tokens at a budget of ${budget}`);
    assert.deepEqual(compose(make(), messages, budget, profile), composed, "same in, not the same out");
    for (const edit of composed.state.edits) assert(edit.pass !== "", "an edit names its pass");
    const { kept, stubbed, replaced, dropped } = composed.report.counts;
    assert.equal(kept + stubbed + replaced + dropped, messages.length, "every message has a fate");
    assert(replaced + dropped <= (least ?? Infinity), `more left at ${budget} tokens than at fewer`);
    least = replaced + dropped;
    accounts(composed, messages, profile);
    const places = composed.messages.flatMap(({ id, role }) => (role === "system" ? [] : (order.get(id) ?? [])));
    assert.deepEqual(
      places,
      places.toSorted((left, right) => left - right),
      "the order changed",
    );
    const user = messages.findLast((message) => message.role === "user");
    const text = user?.parts.find((part) => part.type === "text")?.text;
    if (text?.trim() && text.isWellFormed()) {
      assert(
        JSON.stringify(composed.messages).includes(JSON.stringify(text).slice(1, -1)),
        "the current user message left",
      );
    }
  }
}

function grows(make: () => Strategy, { messages }: Sample, profile: Profile): void {
  for (const budget of [1_500, 6_000]) {
    let before: Composed | undefined;
    const calls = messages.flatMap((message, index) => (message.role === "assistant" ? [index] : []));
    for (const call of [...calls, messages.length]) {
      const state = before && (JSON.parse(JSON.stringify(before.state)) as WindowState);
      const composed = compose(make(), messages.slice(0, call), budget, profile, state);
      if (!composed) break;
      if (before && !composed.report.opened) {
        const prefix = composed.messages.slice(0, before.messages.length).map((message) => JSON.stringify(message));
        assert.deepEqual(
          prefix,
          before.messages.map((message) => JSON.stringify(message)),
          "the prefix changed without an epoch",
        );
      }
      before = composed;
    }
  }
}

/** The differences that an explanation lists add up to the difference between the log and the window. */
function accounts(composed: Composed, messages: readonly Message[], profile: Profile): void {
  const { items, tokensBefore, tokensAfter } = explainWindow(composed.state, messages, { profile });
  assert.equal(tokensAfter, composed.tokens, "the explanation is of another window");
  const saved = items.reduce((sum, item) => sum + item.tokensBefore - item.tokensAfter, 0);
  assert.equal(tokensBefore - saved, tokensAfter, "tokens are unaccounted for");
  for (const { fate, pass, id, ...tokens } of items) {
    assert(tokens.tokensAfter >= tokens.tokensBefore || pass !== "", `${id} is ${fate}, and no pass says so`);
  }
}

/**
 * Faults of the edits a pass planned for a view, as sentences. Sound edits name their pass and a reason, take whole
 * unprotected steps or stub a result that is there, and do not overlap.
 */
function editFaults(pass: string, view: View, edits: readonly Edit[]): readonly string[] {
  const whole = edits.filter((edit) => edit.kind !== "stub" && edit.only === undefined);
  return [...edits.flatMap((edit) => formFaults(pass, edit)), ...rangeFaults(view, whole), ...stubFaults(view, edits)];
}

function formFaults(pass: string, edit: Edit): readonly string[] {
  const at = `The ${edit.kind} of ${edit.from} to ${edit.to}`;
  const faults: string[] = [];
  if (edit.pass !== pass) faults.push(`${at} names the pass "${edit.pass}" and not "${pass}".`);
  if (edit.reason === "") faults.push(`${at} says no reason.`);
  if (!Number.isInteger(edit.from) || !Number.isInteger(edit.to) || edit.from < 1 || edit.to < edit.from) {
    faults.push(`${at} is no range of the log.`);
  }
  for (const tokens of [edit.tokensBefore, edit.tokensAfter]) {
    if (!Number.isInteger(tokens) || tokens < 0) faults.push(`${at} counts ${tokens} tokens.`);
  }
  if (edit.kind !== "drop" && edit.text === undefined) faults.push(`${at} has no text.`);
  if (edit.text?.isWellFormed() === false) faults.push(`${at} is cut inside a character.`);
  return faults;
}

function rangeFaults(view: View, whole: readonly Edit[]): readonly string[] {
  const faults: string[] = [];
  const sorted = whole.toSorted((left, right) => left.from - right.from);
  sorted.forEach((edit, index) => {
    if (edit.from <= (sorted[index - 1]?.to ?? 0))
      faults.push(`The ${edit.kind} of ${edit.from} to ${edit.to} overlaps.`);
  });
  for (const step of view.steps) {
    const seqs = step.kind === "note" ? [step.from, step.to] : step.messages.map(({ seq }) => seq);
    const out = seqs.filter((seq) => sorted.some(({ from, to }) => seq >= from && seq <= to)).length;
    if (out === 0) continue;
    if (out < seqs.length) faults.push(`The step of ${step.from} to ${step.to} is split.`);
    if (step.protected) faults.push(`The step of ${step.from} to ${step.to} is protected and leaves.`);
  }
  return faults;
}

function stubFaults(view: View, edits: readonly Edit[]): readonly string[] {
  const steps = new Map<number, ViewStep>();
  for (const step of view.steps) for (const { seq } of step.messages) steps.set(seq, step);
  const seen = new Set<string>();
  return edits.flatMap((edit) => {
    if (edit.kind !== "stub") return [];
    const at = `The stub in ${edit.from}`;
    if (edit.part !== undefined) return partFaults(at, edit, steps.get(edit.from));
    const message = steps
      .get(edit.from)
      ?.messages.find(
        ({ seq, message: { parts } }) => seq === edit.from && parts.some(({ type }) => type === "tool-result"),
      );
    const results = message ? toolResults(message.message) : [];
    const own = edit.callId === undefined ? results : results.filter(({ callId }) => callId === edit.callId);
    if (own.length !== 1) return [`${at} stands for ${own.length} results; callId says which.`];
    const key = `${edit.from} ${edit.callId ?? own[0]?.callId ?? ""}`;
    if (seen.has(key)) return [`${at} comes twice.`];
    seen.add(key);
    return [];
  });
}

function partFaults(at: string, edit: Edit, step: ViewStep | undefined): readonly string[] {
  const message = step?.messages.find(({ seq, message: { role } }) => seq === edit.from && role === "assistant");
  if (!message) return [`${at} is of no answer in the view.`];
  return new EditIndex([edit]).apply(edit.from, message.message) === message.message
    ? [`${at} changes no part of the answer.`]
    : [];
}
