/** The view: the log's steps with the edits of an epoch applied. */
import { textMessage } from "../message/message.ts";
import type { Message } from "../message/message.ts";
import { isPiece } from "../message/step.ts";
import type { NumberedMessage, Step } from "../message/step.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { Profile } from "./provider/profile.ts";
import { encodeFor } from "./provider/encode.ts";
import type { Edit, Insert, PassContext, View, ViewStep } from "./window.ts";
import { sumTokens, countOnce } from "../tokens/counter.ts";
import { EditIndex, isRange, summaryPass } from "./edits.ts";

/** A step as it stands in the window; undefined where nothing of it is sent. */
export function viewStep(step: Step, edits: EditIndex, profile: Profile, counter: TokenCounter): ViewStep | undefined {
  const messages: NumberedMessage[] = [];
  let from = Infinity;
  let to = -Infinity;
  for (const numbered of step.messages) {
    const { seq, message } = numbered;
    if (seq < from) from = seq;
    if (seq > to) to = seq;
    const shown = encodeFor(profile, edits.apply(seq, message));
    // A piece may be reasoning alone; its item is the next one.
    const isBare = shown.parts.every((part) => part.type === "reasoning");
    if (isBare && !(shown.parts.length > 0 && isPiece(shown))) continue;
    messages.push(shown === message ? numbered : { seq, message: shown });
  }
  if (messages.length === 0) return undefined;
  const same = messages.length === step.messages.length && messages.every((one, at) => one === step.messages[at]);
  const tokens = sumTokens(counter, messages);
  return {
    kind: step.kind,
    from,
    to,
    messages: same ? step.messages : messages,
    tokens,
    logTokens: same ? tokens : sumTokens(counter, step.messages),
    protected: false,
  };
}

const noteMessages = new WeakMap<object, Message>();

/** The fields of an edit that make its labelled message. */
type NoteEdit = Pick<Edit, "from" | "to" | "role" | "text">;

/**
 * The labelled message of an edit: one object for as long as the edit lives, so that it is counted and
 * hashed once.
 */
function noteMessage(edit: NoteEdit, profile: Profile): Message {
  const role = edit.role === "system" && profile.rules.systemFirst ? "user" : (edit.role ?? "user");
  const known = noteMessages.get(edit);
  if (known?.role === role) return known;
  const id = `windrow:note:${edit.from}-${edit.to}`;
  const message = textMessage({ id, role, status: "synthetic" }, edit.text ?? "");
  noteMessages.set(edit, message);
  return message;
}

/** Tokens of the labelled message of an edit. */
export function noteTokens(edit: NoteEdit, profile: Profile, counter: TokenCounter): number {
  return countOnce(counter, noteMessage(edit, profile));
}

/** The labelled message of an edit, as a step of the view. */
export function noteStep(edit: Edit, profile: Profile, counter: TokenCounter): ViewStep {
  const message = noteMessage(edit, profile);
  const messages = [{ seq: edit.from, message }];
  const tokens = sumTokens(counter, messages);
  return {
    kind: "note",
    from: edit.from,
    to: edit.to,
    messages,
    tokens,
    logTokens: edit.tokensBefore,
    protected: false,
    edit,
  };
}

/** The step of a view for an insert of this epoch. */
export function insertStep({ after, id, text }: Insert, counter: TokenCounter): ViewStep {
  const message = textMessage({ id: `windrow:insert:${after}:${id}`, role: "user", status: "synthetic" }, text);
  const messages = [{ seq: after, message }];
  const tokens = sumTokens(counter, messages);
  return { kind: "insert", from: after, to: after, messages, tokens, logTokens: 0, protected: true };
}

/** A view over steps. */
export function viewOf(steps: readonly ViewStep[]): View {
  return { steps, tokens: steps.reduce((sum, step) => sum + step.tokens, 0) };
}

/** A step with edits applied; the step itself where none is about it. */
export function editedStep(step: ViewStep, index: EditIndex, counter: TokenCounter): ViewStep {
  const messages = step.messages.map((numbered) => {
    const message = index.apply(numbered.seq, numbered.message);
    return message === numbered.message ? numbered : { seq: numbered.seq, message };
  });
  const same = messages.every((numbered, position) => numbered === step.messages[position]);
  return same ? step : { ...step, messages, tokens: sumTokens(counter, messages) };
}

/** A view with edits applied: dropped steps are absent, replaced ones are a note. */
export function applyToView(view: View, edits: readonly Edit[], { profile, counter }: PassContext): View {
  const index = new EditIndex(edits);
  const steps: ViewStep[] = [];
  const notes = [...index.notes];
  for (const step of view.steps) {
    const seqs = step.kind === "note" ? [step.from] : step.messages.map(({ seq }) => seq);
    if (index.covers(step.from) && seqs.every((seq) => index.covers(seq))) continue;
    for (; notes[0] && notes[0].from <= step.from; notes.shift()) steps.push(noteStep(notes[0], profile, counter));
    steps.push(editedStep(step, index, counter));
  }
  return viewOf([...steps, ...notes.map((note) => noteStep(note, profile, counter))]);
}

/** The window that edits are checked against. */
export interface Standing {
  readonly steps: readonly ViewStep[];
  /** The edits in force. */
  readonly edits: readonly Edit[];
  /** The newest message, by `seq`. */
  readonly last: number;
}

/** Whether edits name whole steps of a window, or whole edits that took their messages out of it. */
export function nameWholeSteps(edits: readonly Edit[], { steps, edits: older, last }: Standing): boolean {
  const gone = older.filter(isRange);
  const named = (edit: Edit): number => edits.reduce((sum, one) => sum + overlap(one, edit), 0);
  const told = gone.filter(({ kind }) => kind === "replace");
  if (told.some((edit) => ![0, overlap(edit, edit)].includes(named(edit)))) return false;
  // Where the message leaves that names what a pass took out, all of that is named anew.
  const renamed = new Set(told.filter((edit) => named(edit) > 0).map(({ pass }) => pass));
  renamed.delete(summaryPass);
  if (gone.some((edit) => renamed.has(edit.pass) && named(edit) !== overlap(edit, edit))) return false;
  return edits.every((edit) => {
    const { from, to } = edit;
    const touched = steps.filter((step) => step.from <= to && step.to >= from);
    if (to > last || !touched.every((step) => from <= step.from && step.to <= to)) return false;
    return touched.length > 0 || gone.some((one) => overlap(one, edit) > 0);
  });
}

function overlap(one: Pick<Edit, "from" | "to">, other: Pick<Edit, "from" | "to">): number {
  return Math.max(0, Math.min(one.to, other.to) - Math.max(one.from, other.from) + 1);
}
