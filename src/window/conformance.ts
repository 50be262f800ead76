/**
 * The rules for strategies and passes, as cases for any test runner. Give yours to {@link strategyConformance} or
 * {@link passConformance} and register the cases. `composeWindow` and a SessionManager take a strategy that passes
 * them.
 */
import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance.ts";
import { isWindrowError } from "../errors.ts";
import type { Message } from "../message/message.ts";
import { repairMessages } from "../message/repair.ts";
import { codingSession, sampleHistories } from "../message/samples.ts";
import type { Sample } from "../message/samples.ts";
import { countMessage } from "../tokens/counter.ts";
import { estimate } from "../tokens/estimate.ts";
import { atOnce, isWork } from "../turns.ts";
import { composeWindow } from "./compose.ts";
import { EditIndex, isRange } from "./edits.ts";
import { editList } from "./state-kinds.ts";
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
  return profiles.flatMap((profile) =>
    casesOf(group, checks, `, ${profile.name}`, [], (check, sample) => check(make, sample, profile)),
  );
}

/**
 * The cases for one pass: its plans are sound, the same every time, and change nothing that the pass was given; and a
 * strategy of this pass alone holds what every strategy must. A pass that reads the profile runs each case with two.
 * The last case fails a pass that edits none of the samples.
 *
 * @param make - a new pass for every case
 * @param samples - histories beside those of the suite, for a pass that finds no work in them. Default: none
 */
export function passConformance(make: () => Pass, samples: readonly Sample[] = []): readonly ConformanceCase[] {
  const { name } = make();
  const group = `pass ${name}`;
  const cases = (when: string, laws: typeof checks, trigger: Strategy["trigger"], lowWater: number) =>
    casesOf(`${group}, ${when}`, laws, "", samples, (check, sample) => {
      let readsProfile = false;
      const alone = (): Strategy => {
        const pass = watched(make(), () => (readsProfile = true));
        return { name: group, passes: [pass], trigger, lowWater, keepFirstUser: true };
      };
      for (const profile of profiles) if (readsProfile || profile === profiles[0]) check(alone, sample, profile);
    });
  const eager: Strategy = { name, passes: [make()], trigger: { messages: 0 }, lowWater: 1e-6, keepFirstUser: false };
  const isEdited = ({ messages }: Sample): boolean =>
    profiles.some((profile) =>
      compose(eager, messages, 40_000, profile)?.state.edits.some(({ pass }) => pass === name),
    );
  return [
    ...cases("at the budget", checks, { ratio: 1 }, 0.5),
    ...cases("on every call", { "grows only at its end": grows }, { messages: 0 }, 1),
    { group, name: "edits", run: async () => assert([...sampleHistories(), ...samples].some(isEdited), noEdit) },
  ];
}

const noEdit = "made no edit in any sample: hand in `samples` that it works on";

/** A case for each law and each sample. */
function casesOf(
  group: string,
  laws: typeof checks,
  suffix: string,
  own: readonly Sample[],
  run: (check: Check, sample: Sample) => void,
): readonly ConformanceCase[] {
  const samples = [...sampleHistories(), { name: "a long coding session", messages: codingSession(48, 20) }, ...own];
  return Object.entries(laws).flatMap(([law, check]) =>
    samples.map((sample) => ({
      group,
      name: `${law}: ${sample.name}${suffix}`,
      run: async () => run(check, sample),
    })),
  );
}

/** Plans of one case that are looked at from all sides: the same view comes again and again. */
const closely = 12;

/** The pass, with an eye on what it is given and what it answers. */
function watched(pass: Pass, onProfileRead: () => void): Pass {
  let plans = 0;
  return {
    name: pass.name,
    ...(pass.read && { read: pass.read.bind(pass) }),
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
  // A composition does without the edits of a pass that throws, or answers others than it may; a case does not.
  const failures: unknown[] = [];
  const passes = strategy.passes.map((pass): Pass => {
    const plan: Pass["plan"] = (view, context) => {
      try {
        const answer = pass.plan(view, context);
        const edits = isWork(answer) ? atOnce(answer) : answer;
        assert(editList.fits(edits), `${pass.name} answers something else than a list of edits`);
        assert.deepEqual(editFaults(pass.name, view, edits), []);
        return edits;
      } catch (error) {
        failures.push(error);
        throw error;
      }
    };
    return { name: pass.name, plan, ...(pass.read && { read: pass.read.bind(pass) }) };
  });
  const input = { messages, budget, strategy: { ...strategy, passes }, profile, counter: estimate };
  let composed: Composed | undefined;
  try {
    composed = composeWindow({ ...input, ...(state && { state }) });
  } catch (error) {
    if (!isWindrowError(error)) throw error;
    assert(error.code === "over-budget" || error.code === "budget-too-small", error.message);
  }
  if (failures.length > 0) throw failures[0];
  return composed;
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
    const sorted = places.toSorted((left, right) => left - right);
    assert.deepEqual(places, sorted, "the order changed");
  }
}

function grows(make: () => Strategy, { messages }: Sample, profile: Profile): void {
  for (const budget of [1_500, 6_000]) {
    let before: Composed | undefined;
    const calls = messages.flatMap((message, index) => (message.role === "assistant" ? [index] : []));
    for (const [at, call] of [...calls, messages.length, messages.length].entries()) {
      const state = before && (JSON.parse(JSON.stringify(before.state)) as WindowState);
      const composed = compose(make(), messages.slice(0, call), budget, profile, state);
      if (!composed) break;
      if (before && !composed.report.opened) {
        const texts = composed.messages.map((message) => JSON.stringify(message));
        const earlier = before.messages.map((message) => JSON.stringify(message));
        assert.deepEqual(texts.slice(0, earlier.length), earlier, "the prefix changed without an epoch");
      }
      if (at > calls.length) assert(!composed.report.opened, "asked again on the same messages, it answers edits");
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
 * unprotected steps or change one part that is there, and do not overlap.
 */
function editFaults(pass: string, view: View, edits: readonly Edit[]): readonly string[] {
  const messages = new Map(view.steps.flatMap((step) => step.messages.map(({ seq, message }) => [seq, message])));
  const ranges = edits.filter(isRange);
  const seen = new Set<string>();
  const ofEdits = edits.flatMap((edit) => {
    const { kind, from, to, reason, text, tokensBefore, tokensAfter } = edit;
    const parts = kind === "stub" ? changedParts(edit, messages.get(from)) : [0];
    const isOver = ranges.some((other) => other !== edit && isRange(edit) && other.from <= to && other.to >= from);
    const rules: readonly (readonly [isBroken: boolean, says: string])[] = [
      [edit.pass !== pass, `names the pass "${edit.pass}" and not "${pass}"`],
      [reason === "", "says no reason"],
      [!Number.isInteger(from) || !Number.isInteger(to) || from < 1 || to < from, "is no range of the log"],
      [[tokensBefore, tokensAfter].some((count) => !Number.isInteger(count) || count < 0), "counts no whole tokens"],
      [kind !== "drop" && text === undefined, "has no text"],
      [text?.isWellFormed() === false, "is cut inside a character"],
      [isOver, "overlaps"],
      [parts.length !== 1, `changes ${parts.length} parts`],
      [kind === "stub" && seen.size === seen.add(`${from} ${parts.join()}`).size, "comes twice"],
    ];
    return rules.flatMap(([isBroken, says]) => (isBroken ? [`The ${kind} of ${from} to ${to} ${says}.`] : []));
  });
  return [...ofEdits, ...view.steps.flatMap((step) => stepFaults(step, ranges))];
}

/** The places of a message's parts that an edit changes. */
function changedParts(edit: Edit, message: Message | undefined): readonly number[] {
  const applied = message ? new EditIndex([edit]).apply(edit.from, message).parts : [];
  return [...applied.keys()].filter((place) => applied[place] !== message?.parts[place]);
}

function stepFaults(step: ViewStep, ranges: readonly Edit[]): readonly string[] {
  const seqs = step.kind === "note" ? [step.from, step.to] : step.messages.map(({ seq }) => seq);
  const out = seqs.filter((seq) => ranges.some(({ from, to }) => seq >= from && seq <= to)).length;
  const at = `The step of ${step.from} to ${step.to}`;
  return [
    ...(out > 0 && out < seqs.length ? [`${at} is split.`] : []),
    ...(out > 0 && step.protected ? [`${at} is protected and leaves.`] : []),
  ];
}
