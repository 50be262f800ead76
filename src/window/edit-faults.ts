/** What is wrong with the edits a pass planned: the rules that `windrow/testing` holds passes to. */
import { toolResults } from "../message/message.ts";
import type { Edit, View, ViewStep } from "./window.ts";

/**
 * Sentences that say what is wrong with edits planned for a view; none where they are sound: each names its pass and why,
 * takes whole steps that are not protected, or stubs a result that is there, and none overlap.
 */
export function editFaults(pass: string, view: View, edits: readonly Edit[]): readonly string[] {
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
