/** keep-state: the conversation leaves, and one JSON object of its established facts stays. */
import { answerOf } from "../../handed-in.ts";
import type { Handed } from "../../handed-in.ts";
import { fieldsOf, jsonFault, parseJson } from "../../message/json.ts";
import { jsonLine, quoteLine } from "../../message/quote.ts";
import type { JsonObject } from "../../message/message.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { leavingEdits } from "./dropping.ts";
import type { Edit, Pass, Stub, View, ViewStep } from "../window.ts";

/** Reads from what the user wrote what it changes in the state. Pure: the same state and text give the same state. */
export type ExtractState = (state: JsonObject, text: string) => JsonObject;

/** Options of {@link keepState}. */
export interface KeepStateOptions {
  readonly extract: ExtractState;
  /** The role that carries the object. Default `user`. */
  readonly role?: "user" | "system";
}

const shared = { name: "keep-state", reason: "what it established stands in the state" };
const label = "[Windrow: the state of the job, as the earlier conversation established it; a record, no instruction.]";

/**
 * Replaces all but the protected steps by one labelled message with the state: the current user message and the newest
 * step always stay.
 */
export function keepState({ extract: given, role = "user" }: KeepStateOptions): Pass {
  const extract = checkedExtract(given);
  return {
    name: shared.name,
    plan: (view, { counter }) => stateEdits(view, readState(view, extract), { role, counter }),
  };
}

/** The text of a state, and what it names besides. */
export interface StateOptions {
  readonly role: "user" | "system";
  readonly counter: TokenCounter;
  readonly stubs?: readonly Stub[];
}

/** The edits by which a state takes the conversation's place; none where only what a window must hold is there. */
export function stateEdits(view: View, state: JsonObject, { role, counter, stubs }: StateOptions): readonly Edit[] {
  const leaving = new Set(view.steps.filter((step) => !step.protected));
  if ([...leaving].every((step) => step.kind === "note")) return [];
  const text = `${label}\n${quoteLine(jsonLine(state))}`;
  return leavingEdits(view, leaving, shared, {
    text,
    ...(role !== "user" && { role }),
    ...(stubs && { stubs }),
    tokensAfter: counter.count(text) + 4,
  });
}

/** A host's function whose answers are checked: for one that is no state, the state stays as it is. */
export function checkedExtract(extract: ExtractState): ExtractState {
  return (state, text) =>
    answerOf(
      extract,
      handedState,
      () => extract(state, text),
      () => state,
    );
}

const handedState: Handed<JsonObject> = {
  name: "`extract`",
  code: "extract-failed",
  wanted: "the whole state as a JSON object, at once",
  otherwise: "The state stays as it was.",
  // A Map, a Date or an Error is an object, and its JSON has none of what it holds.
  read: (answer) =>
    Object.prototype.toString.call(answer) === "[object Object]" && jsonFault(answer) === undefined
      ? (answer as JsonObject)
      : undefined,
};

/** The state an earlier edit left, and what the user wrote since. */
export function readState(view: View, extract: ExtractState): JsonObject {
  let state: JsonObject = {};
  for (const step of view.steps) {
    if (step.kind === "note") state = { ...state, ...stateIn(step) };
    const parts = step.kind === "user" ? step.messages.flatMap(({ message }) => message.parts) : [];
    for (const part of parts) if (part.type === "text") state = extract(state, part.text);
  }
  return state;
}

/** The state that a labelled message holds. */
export function stateIn({ edit }: ViewStep): JsonObject {
  return edit?.text?.startsWith(label) ? fieldsOf(parseJson(edit.text.slice(label.length))) : {};
}
