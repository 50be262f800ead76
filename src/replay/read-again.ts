/** Reading again: results that bring lines of files back that had left the window. */
import { resultText, toolCalls, toolResults } from "../message/message.ts";
import type { Message, ToolCallPart, ToolResultPart } from "../message/message.ts";
import { actionsOf } from "../window/action/calls.ts";
import { outputOf } from "../window/action/output.ts";
import { nameOf } from "../window/action/paths.ts";
import { AtomReader, isLine } from "./recall-metric.ts";
import type { Atom } from "./recall-metric.ts";

/** The share of a result's lines that had left, from which it brings back what had left. */
const againShare = 0.5;
/** The fewest lines by which that is told. */
const fewestLines = 3;

/** A result that brought lines back, and the call that asked for it. */
export interface Reread {
  readonly message: Message;
  readonly result: ToolResultPart;
  readonly call: ToolCallPart;
  /** The assistant message with the call. */
  readonly asked: Message;
}

/**
 * The results that read again what had left, in their order. The call reads or searches a file that a call before the
 * cut had named too: a test run, `git status` or a poll prints lines again and reads nothing again.
 *
 * @param left - the messages that left the window, with the calls of their results
 * @param shown - texts that stand in the window behind the cut
 * @param behind - the messages after the cut
 */
export function rereadsOf(
  left: readonly Message[],
  shown: readonly Message[],
  behind: readonly Message[],
): readonly Reread[] {
  const reader = new AtomReader();
  const linesOf = (message: Message): readonly Atom[] => [...reader.of(message.parts)].filter(isLine);
  const asked = new Map<string, { readonly call: ToolCallPart; readonly message: Message }>();
  const note = (message: Message): void => {
    for (const call of toolCalls(message)) asked.set(call.callId, { call, message });
  };
  // Each line that left, with the names in the calls that had shown it.
  const gone = new Map<Atom, ReadonlySet<string>[]>();
  for (const message of left) {
    note(message);
    for (const result of toolResults(message)) {
      const call = asked.get(result.callId)?.call;
      const names = call ? new Set([...filesRead(call, result), ...reader.part(call)]) : new Set<string>();
      for (const line of [...reader.part(result)].filter(isLine)) gone.set(line, [...(gone.get(line) ?? []), names]);
    }
  }
  for (const message of shown) for (const line of linesOf(message)) gone.delete(line);
  const rereads: Reread[] = [];
  for (const message of behind) {
    note(message);
    for (const result of toolResults(message)) {
      const from = asked.get(result.callId);
      const files = from ? filesRead(from.call, result) : [];
      const lines = [...reader.part(result)].filter(isLine);
      const old = lines.filter((line) => gone.get(line)?.some((names) => files.some((name) => names.has(name))));
      if (from && old.length >= fewestLines && old.length >= againShare * lines.length)
        rereads.push({ message, result, call: from.call, asked: from.message });
      for (const line of lines) gone.delete(line);
    }
    // What was shown or written since is in the window.
    for (const line of linesOf(message)) gone.delete(line);
  }
  return rereads;
}

/** The names of the files that a call's result shows lines of. */
function filesRead(call: ToolCallPart, result: ToolResultPart): readonly string[] {
  const actions = actionsOf(call.name, call.args, {}, outputOf(resultText(result)));
  return actions.flatMap((action) =>
    action.kind === "read" || action.kind === "search" || action.kind === "look" ? [nameOf(action.path)] : [],
  );
}
