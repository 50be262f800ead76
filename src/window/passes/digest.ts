/** digest: everything older than a short tail becomes one message of verbatim lines, chosen without a model. */
import { quoteNotice } from "../../message/quote.ts";
import type { ReadCall } from "../action/action.ts";
import { countAhead } from "../../tokens/estimate.ts";
import { candidatesOf, textsOf } from "../digest/candidates.ts";
import type { Work } from "../../turns.ts";
import { choosing } from "../digest/choose.ts";
import { fileStub, filesOf, renderFiles } from "../digest/file-index.ts";
import type { IndexedFile } from "../digest/file-index.ts";
import { Inventory } from "../digest/inventory.ts";
import { keyOf } from "../digest/line.ts";
import type { Passage } from "../digest/line.ts";
import { indexingBy } from "../digest/log-index.ts";
import type { Indexing } from "../digest/log-index.ts";
import type { Reader } from "../digest/reading.ts";
import { renderPassages, titleOf } from "../digest/render.ts";
import { elasticTarget } from "../digest/room.ts";
import { heatsOf, recencyOf } from "../digest/worth.ts";
import { runsOf } from "./dropping.ts";
import type { Range } from "./dropping.ts";
import { RecallMarks } from "../stub/recalled.ts";
import { isPath, noteText, recallId, stubsOf } from "../stub/stub.ts";
import { isUsers } from "../task.ts";
import { noteTokens } from "../view.ts";
import type { Edit, Pass, PassContext, View, ViewStep } from "../window.ts";

/** Options of {@link digest}. */
export interface DigestOptions {
  /** Share of the target for the newest steps, whole. Default 0.15: references are mostly near. */
  readonly tailShare?: number;
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
/** Share of the target for naming what left by tool, and for naming files; and the least tokens for each. */
const indexShare = 0.02;
const filesShare = 0.025;
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

const shared = { pass: "digest", reason: "older steps became a digest" } as const;

function* planDigest(
  view: View,
  context: PassContext,
  options: DigestOptions,
  indexing: Indexing,
): Work<readonly Edit[]> {
  const plan = view.tokens > context.target ? planOf(view, context, options) : undefined;
  if (!plan) return [];
  const messages = view.steps.filter(({ kind }) => kind !== "note").flatMap((step) => step.messages);
  const index = yield* indexing(context.log ?? { messages }, context);
  const recency = recencyOf(view);
  const heats = heatsOf(index.reader, recency);
  const { reader, texts, statements } = index;
  const { passages, whole } = candidatesOf(reader, plan.kept);
  const shownTexts = textsOf(plan.kept);
  const standing = [...(context.standing ?? []), ...(plan.task ? textsOf([plan.task]) : [])];
  const choose = yield* choosing(passages, {
    texts,
    recency,
    heat: (subject) => Math.min(mostHeat, heatPerCall * (heats.get(subject) ?? 0)),
    isDone: (line) => reader.isDone(line),
    shownLines: new Set(shownTexts.flatMap((text) => text.split("\n")).map(keyOf)),
    shownTexts,
    whole,
    stated: { statements, standing: index.standing(standing) },
    title: titleOf,
  });
  yield;
  const files = filesOf(reader.named, plan.last + 1, (path) => heats.get(path) ?? 0);
  const note = yield* fittingNote(plan, noteWriter(plan, context, reader, files), choose);
  const drops = plan.runs.filter((run) => run !== plan.place);
  return [note, ...drops.map((run): Edit => ({ kind: "drop", ...run, ...shared, tokensBefore: 0, tokensAfter: 0 }))];
}

/** What leaves, where the digest of it stands, and how much room it has. */
interface DigestPlan {
  readonly leaving: ReadonlySet<ViewStep>;
  readonly kept: readonly ViewStep[];
  readonly task: ViewStep | undefined;
  /** The ranges that leave: the digest stands in the place of one, the others leave nothing behind. */
  readonly runs: readonly Range[];
  readonly place: Range;
  /** The newest message that leaves, and the newest of all. */
  readonly last: number;
  readonly seen: number;
  /** Tokens that the digest may have; of them, those for naming tools, and for naming files. */
  readonly room: number;
  readonly indexCap: number;
  readonly filesCap: number;
}

/** Undefined where nothing leaves. */
function planOf(view: View, context: PassContext, options: DigestOptions): DigestPlan | undefined {
  const { tailShare = 0.15, elastic = false } = options;
  const targetFor = (kept: number): number => (elastic ? elasticTarget(view, context, kept) : context.target);
  const leaving = leavingSteps(view, Math.floor(targetFor(0) * tailShare), context);
  const runs = runsOf(view, leaving);
  const [first, last] = [runs[0], runs.at(-1)];
  if (!first || !last) return undefined;
  const task = view.steps.find((step) => step.protected && isUsers(step));
  const kept = view.steps.filter((step) => !leaving.has(step));
  const keptTokens = kept.reduce((sum, { tokens }) => sum + tokens, 0);
  const target = targetFor(keptTokens);
  return {
    leaving,
    kept,
    task,
    runs,
    // The task stands before the digest, also where earlier messages left.
    place: runs.find(({ from }) => from > (task?.to ?? 0)) ?? first,
    last: last.to,
    seen: view.steps.at(-1)?.to ?? last.to,
    room: target - keptTokens,
    indexCap: Math.max(leastIndex, Math.floor(target * indexShare)),
    filesCap: Math.max(leastIndex, Math.floor(target * filesShare)),
  };
}

/** The largest digest that its room takes: counts are not quite additive, so that one too large is chosen again. */
function* fittingNote(
  { room: most }: DigestPlan,
  writer: NoteWriter,
  choose: (room: number) => Work<readonly Passage[]>,
): Work<Edit> {
  let room = most - writer.headTokens - 8;
  for (let tries = 0; tries < 4 && room > 0; tries++) {
    const note = yield* writer.noteOf(yield* choose(room));
    const excess = note.tokensAfter - most;
    if (excess <= 0) return note;
    room -= excess + 8;
  }
  return yield* writer.noteOf([]);
}

/** Writes digests: a label, what left by tool and by file, a legend, and the lines that were chosen. */
interface NoteWriter {
  /** The most tokens that a digest has without lines. */
  readonly headTokens: number;
  readonly noteOf: (chosen: readonly Passage[]) => Work<Edit>;
}

function noteWriter(
  { leaving, runs, place, last, seen, indexCap, filesCap }: DigestPlan,
  context: PassContext,
  reader: Reader,
  files: readonly IndexedFile[],
): NoteWriter {
  const { counter, profile, sessionName } = context;
  const tokensBefore = [...leaving].reduce((sum, { logTokens }) => sum + logTokens, 0);
  const count = runs.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const label = noteText({ from: runs[0]?.from ?? last, to: last, count, tokens: tokensBefore, sessionName });
  const named = inventoryOf(leaving, context).render(counter, indexCap);
  const legend = `Files stand below as of ${recallId(seen)}; … is a gap, … 12 one before line 12. ${quoteNotice}`;
  const headOf = (listed: string): string =>
    [label, named.text, listed, legend].filter((line) => line !== "").join("\n");
  const doubts = new Map([...reader.files].flatMap(([path, { doubt }]) => (doubt > 0 ? [[path, doubt] as const] : [])));
  return {
    // Files whose lines are chosen leave the index, so all of them are the most it takes.
    headTokens: counter.count(headOf(renderFiles(files, counter, filesCap).text)),
    *noteOf(chosen) {
      const titled = new Set(chosen.flatMap(({ file, subject }) => (file ? [subject] : [])));
      const untitled = files.filter(({ path }) => !titled.has(path));
      const listed = renderFiles(untitled, counter, filesCap);
      const lines = chosen.length === 0 ? [] : [renderPassages(chosen, doubts)];
      // The log may hold half of a surrogate pair, which providers refuse.
      const text = [headOf(listed.text), ...lines].join("\n").toWellFormed();
      yield* countAhead(counter, text);
      const stubs = [...named.stubs, ...listed.stubs];
      const note = { kind: "replace", ...place, text, stubs, ...shared, tokensBefore, tokensAfter: 0 } as const;
      // Its message is counted once: it is known by this object.
      return Object.assign(note, { tokensAfter: noteTokens(note, profile, counter) });
    },
  };
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
