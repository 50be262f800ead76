/** digest: everything older than a short tail becomes one message of verbatim lines, chosen without a model. */
import { quoteNotice } from "../../message/quote.ts";
import type { ReadCall } from "../action/action.ts";
import { candidatesOf, textsOf } from "../digest/candidates.ts";
import { atOnce } from "../../turns.ts";
import type { Work } from "../../turns.ts";
import { lineChoosing } from "../digest/choose.ts";
import { giveBack, lendFacts } from "../digest/facts.ts";
import type { Facts } from "../digest/facts.ts";
import { Inventory } from "../digest/inventory.ts";
import { keyOf } from "../digest/line.ts";
import { decodePassages, encodePassages, rememberPassages } from "../digest/passages.ts";
import type { Passage } from "../digest/passages.ts";
import { Reader } from "../digest/reading.ts";
import { renderPassages, titleOf } from "../digest/render.ts";
import { elasticTarget } from "../digest/room.ts";
import { heatsOf, recencyOf } from "../digest/worth.ts";
import { renderNote } from "../recall/note.ts";
import { runsOf } from "./runs.ts";
import { recallId, stubsOf } from "../recall/stub.ts";
import { isUsers } from "../task.ts";
import { noteTokens } from "../view.ts";
import type { Edit, Pass, PassContext, TextMask, View, ViewStep } from "../window.ts";

/** Options of {@link digest}. */
export interface DigestOptions {
  /** Share of the target for the newest steps, whole. Default 0.15: references are mostly near. */
  readonly tailShare?: number;
  /** Share of the target for naming what left, by tool; at least 80 tokens. Default 0.02. */
  readonly indexShare?: number;
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

/** Least tokens for naming what left. */
const leastIndex = 80;
/**
 * How many times `memory` a step may lie back to be looked through: the worth of a line is there a millionth of what it
 * was, and work and memory no longer grow with the log.
 */
const horizonFactor = 12;
/** Steps that are named in one go. */
const stepsPerTurn = 64;
/** Steps that are looked at in one go, where only their numbers are. */
const stepsPerLook = 4_096;
/** Heat below this is forgotten. */
const leastHeat = 0.05;

/**
 * Replaces all steps behind the newest by one labelled message: what they were about, with the ids that bring them back,
 * and the lines of them that are worth most for their tokens, those of files as the files stood when it was made. A line
 * that stands elsewhere in the window is not shown again.
 */
export function digest(options: DigestOptions = {}): Pass {
  return {
    name: "digest",
    plan: (view, context) => atOnce(planDigest(view, context, options)),
    planning: (view, context) => planDigest(view, context, options),
  };
}

function* planDigest(view: View, context: PassContext, options: DigestOptions): Work<readonly Edit[]> {
  if (view.tokens <= context.target) return [];
  const facts = lendFacts(context.counter);
  try {
    return yield* planWith(facts, view, context, options);
  } finally {
    giveBack(facts);
  }
}

function* planWith(facts: Facts, view: View, context: PassContext, options: DigestOptions): Work<readonly Edit[]> {
  const { tailShare = 0.15, indexShare = 0.02, memory = 80_000, elastic = false, tools = {} } = options;
  const { counter, limit, profile, mask } = context;
  const aim = elastic ? elasticTarget(view, context.target, limit, 0) : context.target;
  yield;
  const leaving = yield* leavingSteps(view, Math.floor(aim * tailShare), view.tokens > limit);
  yield;
  const runs = runsOf(view, leaving);
  const [first] = runs;
  const last = runs.at(-1);
  if (!first || !last) return [];
  yield;
  const task = view.steps.find((step) => step.protected && isUsers(step));
  // The task stands before the digest, also where earlier messages left.
  const place = runs.find(({ from }) => from > (task?.to ?? 0)) ?? first;

  const kept = view.steps.filter((step) => !leaving.has(step));
  yield;
  const keptTokens = kept.reduce((sum, step) => sum + step.tokens, 0);
  const target = elastic ? elasticTarget(view, context.target, limit, keptTokens) : context.target;
  yield;
  let tokensBefore = 0;
  for (const step of leaving) tokensBefore += step.logTokens;
  const count = runs.reduce((sum, run) => sum + run.to - run.from + 1, 0);
  const label = renderNote({ from: first.from, to: last.to, count, tokens: tokensBefore, stubs: [] }, counter, 0).text;
  yield;
  const inventory = yield* inventoryOf(leaving, mask);
  const index = yield* inventory.render(counter, Math.max(leastIndex, Math.floor(target * indexShare)));
  const seen = view.steps.at(-1)?.to ?? last.to;
  const legend = `Files stand below as of ${recallId(seen)}; … is a gap, … 12 one before line 12. ${quoteNotice}`;
  const head = [label, index.text, legend].filter((line) => line !== "").join("\n");

  yield;
  const reader = yield* readerOf(view, mask, tools, horizonFactor * memory);
  const recency = recencyOf(view, memory);
  yield;
  const heats = heatsOf(view, reader, recency);
  const doubts = new Map([...reader.files].flatMap(([path, { doubt }]) => (doubt > 0 ? [[path, doubt] as const] : [])));
  yield;
  const candidates = candidatesOf(reader, kept);
  yield;
  const texts = textsOf(kept);
  yield;
  const shownLines = new Set<string>();
  for (const text of texts) {
    for (const line of text.split("\n")) shownLines.add(keyOf(line));
    yield;
  }
  const choice = {
    counter,
    recency,
    heat: (subject: string) => Math.min(2, 0.4 * (heats.get(subject) ?? 0)),
    shownLines,
    shownTexts: texts,
    title: titleOf,
  };
  const choose = yield* lineChoosing(candidates, choice, facts);
  const shared = { pass: "digest", reason: "older steps became a digest" };
  const noteOf = (passages: readonly Passage[]): Edit => {
    const note = {
      kind: "replace" as const,
      ...place,
      text: passages.length === 0 ? head : `${head}\n${renderPassages(passages, doubts)}`,
      stubs: index.stubs,
      digest: {
        skip: head.split("\n").length,
        quoted: true,
        seen,
        passages: encodePassages(passages),
        doubts: Object.fromEntries(doubts),
        heats: Object.fromEntries([...heats].filter(([, heat]) => heat >= leastHeat)),
      },
      ...shared,
      tokensBefore,
    };
    rememberPassages(note.digest, note.text, passages);
    return { ...note, tokensAfter: noteTokens(note, profile, counter) };
  };
  let note: Edit | undefined;
  let room = target - keptTokens - counter.count(head) - 8;
  // Counts are not quite additive: a digest that came out too large is chosen again with that much less room.
  for (let tries = 0; tries < 4 && room > 0 && !note; tries++) {
    const found = noteOf(yield* choose(room));
    yield;
    const excess = keptTokens + found.tokensAfter - target;
    if (excess <= 0) note = found;
    room -= excess + 8;
  }
  return [
    note ?? noteOf([]),
    ...runs
      .filter((run) => run !== place)
      .map((run): Edit => ({ kind: "drop", ...run, ...shared, tokensBefore: 0, tokensAfter: 0 })),
  ];
}

/**
 * Steps behind the newest that fill the tail, and every labelled message: those become part of the new one.
 *
 * @param pressing - whether a digest that stands may shrink though no step leaves
 */
function* leavingSteps(view: View, tail: number, pressing: boolean): Work<ReadonlySet<ViewStep>> {
  const leaving = new Set<ViewStep>();
  let left = tail;
  let full = false;
  for (let at = view.steps.length - 1; at >= 0; at--) {
    const step = view.steps[at] as ViewStep;
    if (at % stepsPerLook === 0) yield;
    if (step.kind === "note") {
      leaving.add(step);
      continue;
    }
    left -= step.tokens;
    full ||= left < 0;
    if (full && !step.protected) leaving.add(step);
  }
  return pressing || [...leaving].some((step) => step.kind !== "note") ? leaving : new Set();
}

function* inventoryOf(leaving: ReadonlySet<ViewStep>, mask: TextMask): Work<Inventory> {
  const steps = [...leaving].sort((left, right) => left.from - right.from);
  const inventory = new Inventory();
  for (const [index, step] of steps.entries()) {
    for (const stub of step.edit?.stubs ?? (step.kind === "note" ? [] : stubsOf(step.messages, mask))) {
      inventory.add(stub);
    }
    if (index % stepsPerTurn === 0) yield;
  }
  return inventory;
}

/**
 * Reads the earlier digest and the steps; of the steps, those that stay and the newest.
 *
 * @param horizon - tokens of history behind which a step's lines are worth too little to be looked at
 */
function* readerOf(
  view: View,
  mask: TextMask,
  tools: Readonly<Record<string, ReadCall>>,
  horizon: number,
): Work<Reader> {
  let first = view.steps.length;
  for (let tokens = 0; first > 0 && tokens < horizon; first--) tokens += view.steps[first - 1]?.logTokens ?? 0;
  const reader = new Reader(mask, tools);
  for (const { edit } of view.steps) {
    if (edit?.digest) reader.restore(decodePassages(edit.text ?? "", edit.digest), edit.digest.doubts);
  }
  for (const [index, step] of view.steps.entries()) {
    if (index < first && !step.protected) continue;
    reader.read(step);
    yield;
  }
  return reader;
}
