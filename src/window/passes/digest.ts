/** digest: everything older than a short tail becomes one message of verbatim lines, chosen without a model. */
import { resultText } from "../../message/message.ts";
import { chooseLines, wordsOf } from "../digest/choose.ts";
import { readSteps } from "../digest/lines.ts";
import type { Reading } from "../digest/lines.ts";
import { renderLines } from "../digest/render.ts";
import { renderNote } from "../note.ts";
import { runsOf } from "../runs.ts";
import { stubsOf } from "../stub.ts";
import type { DigestLine, Edit, Pass, PassContext, View, ViewStep } from "../window.ts";

/** Options of {@link digest}. */
export interface DigestOptions {
  /** Share of the target for the newest steps, whole. Default 0.12: references are mostly near. */
  readonly tailShare?: number;
  /** Share of the target for naming what left. Default 0.06. */
  readonly indexShare?: number;
  /** Messages after which a line is worth a third. Default 450. */
  readonly memory?: number;
}

/**
 * Replaces all steps behind the newest by one labelled message: what they were about, with the ids that bring them back,
 * and the lines of them that are worth most for their tokens. A line that stands elsewhere in the window, or that a later
 * call took out of its file, is not shown.
 */
export function digest({ tailShare = 0.12, indexShare = 0.06, memory = 450 }: DigestOptions = {}): Pass {
  return {
    name: "digest",
    plan(view: View, context: PassContext): readonly Edit[] {
      const leaving = leavingSteps(view, Math.floor(context.target * tailShare));
      if (leaving.size === 0) return [];
      const { counter, target } = context;
      const kept = view.steps.filter((step) => !leaving.has(step));
      const keptTokens = kept.reduce((sum, step) => sum + step.tokens, 0);
      const runs = runsOf(view, leaving);
      const [first] = runs;
      const last = runs.at(-1);
      if (!first || !last) return [];

      const tokensBefore = [...leaving].reduce((sum, step) => sum + step.logTokens, 0);
      const stubs = view.steps.flatMap((step) =>
        leaving.has(step) ? (step.edit?.stubs ?? (step.kind === "note" ? [] : stubsOf(step.messages))) : [],
      );
      const count = runs.reduce((sum, run) => sum + run.to - run.from + 1, 0);
      const index = renderNote(
        { from: first.from, to: last.to, count, tokens: tokensBefore, stubs },
        counter,
        Math.floor(target * indexShare),
      );
      const reading = readSteps(view.steps);
      const keptTexts = textsOf(kept);
      const candidates = candidateLines(leaving, reading, keptTexts);
      const newest = view.steps.at(-1)?.to ?? last.to;
      const recency = (seq: number): number => Math.exp((seq - newest) / memory);
      const heats = heatOf(reading, newest, memory / 2);
      const shown = new Set(keptTexts.flatMap(wordsOf));
      let room = target - keptTokens - counter.count(index.text) - 8;
      let lines: readonly DigestLine[] = [];
      let text = index.text;
      for (let tries = 0; tries < 4 && room > 0; tries++) {
        lines = chooseLines(candidates, { room, counter, recency, heat: (subject) => heats.get(subject) ?? 0, shown });
        text = lines.length === 0 ? index.text : `${index.text}\n${renderLines(lines)}`;
        const excess = keptTokens + counter.count(text) + 4 - target;
        if (excess <= 0) break;
        room -= excess + 8;
        lines = [];
        text = index.text;
      }
      const shared = { pass: "digest", reason: "older steps became a digest" };
      return runs.map((run, position): Edit =>
        position === 0
          ? {
              kind: "replace",
              ...run,
              text,
              stubs: index.stubs,
              lines,
              ...shared,
              tokensBefore,
              tokensAfter: counter.count(text) + 4,
            }
          : { kind: "drop", ...run, ...shared, tokensBefore: 0, tokensAfter: 0 },
      );
    },
  };
}

function leavingSteps(view: View, tail: number): ReadonlySet<ViewStep> {
  const leaving = new Set<ViewStep>();
  let left = tail;
  let full = false;
  for (const step of view.steps.toReversed()) {
    if (step.kind === "note") {
      leaving.add(step);
      continue;
    }
    left -= step.tokens;
    full ||= left < 0;
    if (full && !step.protected) leaving.add(step);
  }
  return [...leaving].some((step) => step.kind !== "note") ? leaving : new Set();
}

/** The lines to choose from, newest first: each text once, and none that stands in the window or is out of date. */
function candidateLines(
  leaving: ReadonlySet<ViewStep>,
  reading: Reading,
  kept: readonly string[],
): readonly DigestLine[] {
  const seen = new Set(kept.flatMap((text) => text.split("\n")).map((line) => line.trim()));
  const left = new Set([...leaving].flatMap((step) => step.messages.map(({ seq }) => seq)));
  const older = [...leaving].flatMap((step) => step.edit?.lines ?? []);
  const fresh = reading.lines.filter((line) => left.has(line.seq));
  const newestFirst = [...older, ...fresh].toSorted((one, other) => other.seq - one.seq || one.at - other.at);
  return newestFirst.filter((line) => {
    const key = line.text.trim();
    if (seen.has(key) || isStale(line, key, reading)) return false;
    // Brackets and the like may stand in every passage.
    if (key.length > 3) seen.add(key);
    return true;
  });
}

function isStale(line: DigestLine, key: string, { removed, replaced }: Reading): boolean {
  if ((removed.get(line.subject)?.get(key) ?? 0) > line.seq) return true;
  const whole = replaced.get(line.subject);
  return whole !== undefined && whole.seq > line.seq && !whole.kept.has(key);
}

function heatOf({ named }: Reading, newest: number, memory: number): ReadonlyMap<string, number> {
  const heats = new Map<string, number>();
  for (const [subject, seqs] of named) {
    if (subject === "") continue;
    heats.set(subject, Math.min(2, 0.4 * seqs.reduce((sum, seq) => sum + Math.exp((seq - newest) / memory), 0)));
  }
  return heats;
}

function textsOf(steps: readonly ViewStep[]): readonly string[] {
  return steps.flatMap((step) =>
    step.messages.flatMap(({ message }) =>
      message.parts.flatMap((part) => {
        if (part.type === "text") return [part.text];
        return part.type === "tool-result" ? [resultText(part)] : [];
      }),
    ),
  );
}
