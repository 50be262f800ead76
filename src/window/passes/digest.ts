/** digest: everything older than a short tail becomes one message of verbatim lines, chosen without a model. */
import { quoteNotice } from "../../message/quote.ts";
import type { ReadCall } from "../action/action.ts";
import { countAhead } from "../../tokens/estimate.ts";
import { candidatesOf, textsOf } from "../digest/candidates.ts";
import type { Work } from "../../turns.ts";
import { choosing } from "../digest/choose.ts";
import { fileStub, filesOf, renderFiles } from "../digest/file-index.ts";
import { Inventory } from "../digest/inventory.ts";
import { keyOf } from "../digest/line.ts";
import type { Passage } from "../digest/line.ts";
import { indexingBy } from "../digest/log-index.ts";
import type { Indexing } from "../digest/log-index.ts";
import { renderPassages, titleOf } from "../digest/render.ts";
import { elasticTarget } from "../digest/room.ts";
import { heatsOf, recencyOf } from "../digest/worth.ts";
import { runsOf } from "./dropping.ts";
import { RecallMarks } from "../stub/recalled.ts";
import { isPath, noteText, recallId, stubsOf } from "../stub/stub.ts";
import { isUsers } from "../task.ts";
import { noteTokens } from "../view.ts";
import type { Edit, Pass, PassContext, View, ViewStep } from "../window.ts";

/** Options of {@link digest}. */
export interface DigestOptions {
  /** Share of the target for the newest steps, whole. Default 0.15: references are mostly near. */
  readonly tailShare?: number;
  /** Share of the target for naming what left, by tool; at least 80 tokens. Default 0.02. */
  readonly indexShare?: number;
  /** Share of the target for naming the files that calls had to do with; at least 80 tokens. Default 0.025. */
  readonly filesShare?: number;
  /** Tokens of history after which a line is worth a third of what it was. Default 80,000. */
  readonly memory?: number;
  /** Whether it may leave the window above the target where the room holds few calls. Default false. */
  readonly elastic?: boolean;
  /**
   * By a tool's name: what its calls read or change of a file, for tools whose arguments do not show it by their shape.
   * Most do: a path beside a text, an old and a new text, a command.
   */
  readonly tools?: Readonly<Record<string, ReadCall>>;
}

/** The newest steps with results that stay, and the share of the budget that they may have together. */
const newestResults = 2;
const newestShare = 0.25;
/** Heat of a file for each call that names it, and at most. */
const heatPerCall = 0.6;
const mostHeat = 3;
/** Least tokens for naming what left. */
const leastIndex = 80;

/**
 * Replaces all steps behind the newest by one labelled message: what they were about, with the ids that bring them back,
 * and the lines of them that are worth most for their tokens, those of files as the files stood when it was made. A line
 * that stands elsewhere in the window is not shown again.
 */
export function digest(options: DigestOptions = {}): Pass {
  const indexing = indexingBy(options.tools ?? {});
  return {
    name: "digest",
    plan: (view, context) => planDigest(view, context, options, indexing),
    *read(log, context) {
      yield* indexing(log, context);
    },
  };
}

function* planDigest(
  view: View,
  context: PassContext,
  options: DigestOptions,
  indexing: Indexing,
): Work<readonly Edit[]> {
  if (view.tokens <= context.target) return [];
  const { tailShare = 0.15, indexShare = 0.02, filesShare = 0.025, memory = 80_000, elastic = false } = options;
  const { counter, profile, sessionName } = context;
  const aim = elastic ? elasticTarget(view, context, 0) : context.target;
  const leaving = leavingSteps(view, Math.floor(aim * tailShare), context);
  const runs = runsOf(view, leaving);
  const [first, last] = [runs[0], runs.at(-1)];
  if (!first || !last) return [];
  const task = view.steps.find((step) => step.protected && isUsers(step));
  // The task stands before the digest, also where earlier messages left.
  const place = runs.find(({ from }) => from > (task?.to ?? 0)) ?? first;
  const kept = view.steps.filter((step) => !leaving.has(step));
  const keptTokens = kept.reduce((sum, step) => sum + step.tokens, 0);
  const target = elastic ? elasticTarget(view, context, keptTokens) : context.target;
  const tokensBefore = [...leaving].reduce((sum, step) => sum + step.logTokens, 0);
  const count = runs.reduce((sum, run) => sum + run.to - run.from + 1, 0);
  const label = noteText({ from: first.from, to: last.to, count, tokens: tokensBefore, sessionName });
  const named = inventoryOf(leaving, context).render(counter, Math.max(leastIndex, Math.floor(target * indexShare)));
  const seen = view.steps.at(-1)?.to ?? last.to;
  const legend = `Files stand below as of ${recallId(seen)}; … is a gap, … 12 one before line 12. ${quoteNotice}`;
  const headOf = (files: string): string => [label, named.text, files, legend].filter((line) => line !== "").join("\n");

  const log = context.log ?? {
    messages: view.steps.filter(({ kind }) => kind !== "note").flatMap(({ messages }) => messages),
  };
  const index = yield* indexing(log, context);
  const { reader } = index;
  const recency = recencyOf(view, memory);
  const heats = heatsOf(reader, recency);
  const files = filesOf(reader.named, last.to + 1, (path) => heats.get(path) ?? 0);
  const filesCap = Math.max(leastIndex, Math.floor(target * filesShare));
  const doubts = new Map([...reader.files].flatMap(([path, { doubt }]) => (doubt > 0 ? [[path, doubt] as const] : [])));
  const { passages, whole } = candidatesOf(reader, kept);
  const shownTexts = textsOf(kept);
  const choose = yield* choosing(passages, {
    texts: index.texts,
    recency,
    heat: (subject) => Math.min(mostHeat, heatPerCall * (heats.get(subject) ?? 0)),
    isDone: (line) => reader.isDone(line),
    shownLines: new Set(shownTexts.flatMap((text) => text.split("\n")).map(keyOf)),
    shownTexts,
    whole,
    stated: {
      statements: index.statements,
      standing: index.standing([...(context.standing ?? []), ...(task ? textsOf([task]) : [])]),
    },
    title: titleOf,
  });
  yield;
  const shared = { pass: "digest", reason: "older steps became a digest" };
  const noteOf = function* (chosen: readonly Passage[]): Work<Edit> {
    const titled = new Set(chosen.flatMap(({ file, subject }) => (file ? [subject] : [])));
    const listed = renderFiles(
      files.filter(({ path }) => !titled.has(path)),
      counter,
      filesCap,
    );
    const shown = [headOf(listed.text), ...(chosen.length === 0 ? [] : [renderPassages(chosen, doubts)])].join("\n");
    // The log may hold half of a surrogate pair, which providers refuse.
    const text = shown.toWellFormed();
    yield* countAhead(counter, text);
    const stubs = [...named.stubs, ...listed.stubs];
    const note = { kind: "replace", ...place, text, stubs, ...shared, tokensBefore, tokensAfter: 0 } as const;
    // Its message is counted once: it is known by this object.
    return Object.assign(note, { tokensAfter: noteTokens(note, profile, counter) });
  };
  let note: Edit | undefined;
  // Files whose lines are chosen leave the index, so all of them are the most it takes.
  let room = target - keptTokens - counter.count(headOf(renderFiles(files, counter, filesCap).text)) - 8;
  // Counts are not quite additive: a digest that came out too large is chosen again with that much less room.
  for (let tries = 0; tries < 4 && room > 0 && !note; tries++) {
    const found = yield* noteOf(yield* choose(room));
    const excess = keptTokens + found.tokensAfter - target;
    if (excess <= 0) note = found;
    room -= excess + 8;
  }
  return [
    note ?? (yield* noteOf([])),
    ...runs
      .filter((run) => run !== place)
      .map((run): Edit => ({ kind: "drop", ...run, ...shared, tokensBefore: 0, tokensAfter: 0 })),
  ];
}

/**
 * Steps behind the newest that fill the tail, and every labelled message: those become part of the new one.
 *
 * The newest two with results stay, too, where they are a small part of the budget. Where the window is over its limit,
 * a digest that stands may shrink though no step leaves.
 */
function leavingSteps(view: View, tail: number, { budget, limit }: PassContext): ReadonlySet<ViewStep> {
  const leaving = new Set<ViewStep>();
  let left = tail;
  let full = false;
  let results = 0;
  for (let at = view.steps.length - 1; at >= 0; at--) {
    const step = view.steps[at] as ViewStep;
    if (step.kind === "note") {
      leaving.add(step);
      continue;
    }
    left -= step.tokens;
    if (step.messages.length > 1) results++;
    full ||= left < 0 && (results > newestResults || tail - left > budget * newestShare);
    if (full && !step.protected) leaving.add(step);
  }
  return view.tokens > limit || [...leaving].some((step) => step.kind !== "note") ? leaving : new Set();
}

function inventoryOf(leaving: ReadonlySet<ViewStep>, { mask, recallTools }: PassContext): Inventory {
  const steps = [...leaving].sort((left, right) => left.from - right.from);
  const inventory = new Inventory();
  const marks = new RecallMarks(recallTools);
  for (const step of steps) {
    for (const { message } of step.messages) marks.note(message);
    const named = step.messages.filter(({ message }) => !marks.isAnswer(message));
    for (const stub of step.edit?.stubs ?? (step.kind === "note" ? [] : stubsOf(named, mask))) {
      // Files are read from the log again at each epoch.
      if (step.kind !== "note" || stub.tool !== fileStub || !isPath(stub.subject)) inventory.add(stub);
    }
  }
  return inventory;
}
