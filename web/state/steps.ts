/** Steps of the keyboard: to the epoch before or after, to the message or entry before or after. */
import type { SessionState } from "./session.ts";
import { keyPane } from "./preferences.ts";
import { entryFor, isLabelled } from "../model/origins.ts";

/** Goes to the first call of the epoch before or after the call; the way back stops first at the call's own epoch. */
export function epochBeside(state: SessionState, step: 1 | -1): void {
  const starts = [...state.starts.peek().values()];
  const call = state.call.peek();
  const found = step === 1 ? starts.find((start) => start > call) : starts.findLast((start) => start < call);
  state.toCall(found ?? (step === 1 ? state.total.peek() : 1), "go");
}

/** Selects the message before or after the selected one, in the pane that has the keys. */
export function messageBeside(state: SessionState, step: 1 | -1): void {
  const selected = state.selection.peek()?.seq;
  const window = state.window.peek().value;
  if (keyPane.peek() === "log" || !window) {
    const start = selected ?? (window?.lastSeq ?? 0) - step;
    state.select(Math.max(1, Math.min(state.messages.peek(), start + step)), "log");
    return;
  }
  const { entries } = window;
  let place = selected === undefined ? -1 : entryFor(window, selected);
  do place += step;
  while (entries[place] && (entries[place]!.seq === 0 || isLabelled(entries[place]!)));
  const entry = entries[place];
  if (entry) state.select(entry.seq, "link");
}
