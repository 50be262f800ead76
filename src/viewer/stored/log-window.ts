/** The window of a call that names none: the log up to its answer, as it is. */
import type { CallRow, ViewerWindow, WindowEntry } from "../viewer.ts";
import type { LogColumns } from "./log-columns.ts";

/** The window of a call that served no turn, such as a summary's: nothing of its request is on disk. */
export function unknownWindow({ call, lastSeq, purpose }: CallRow): ViewerWindow {
  const problem = `This call was no turn of the conversation (${purpose}): its request is not on disk.`;
  return bareWindow({ call, lastSeq, entries: [], tokens: 0, system: 0, problem });
}

/** The log as the window of a call. */
export function logWindow(row: CallRow, columns: LogColumns): ViewerWindow {
  const { call, lastSeq } = row;
  const entries: WindowEntry[] = [];
  let tokens = 0;
  let system = 0;
  for (let seq = 1; seq <= Math.min(lastSeq, columns.read); seq++) {
    const role = columns.role(seq);
    const own = columns.tokens(seq);
    const isLeading = role === "system" && (entries.at(-1)?.kind ?? "system") === "system";
    entries.push({ seq, role, tokens: own, kind: isLeading ? "system" : "message", key: `m${seq}` });
    tokens += own;
    if (isLeading) system += own;
  }
  const problem = "The call's record names no window: this is the log up to there.";
  return bareWindow({ call, lastSeq, entries, tokens, system, problem });
}

/** The figures of a window without an epoch. */
interface Bare extends Pick<ViewerWindow, "call" | "lastSeq" | "entries" | "tokens"> {
  readonly system: number;
  readonly problem: string;
}

function bareWindow({ call, lastSeq, entries, tokens, system, problem }: Bare): ViewerWindow {
  return {
    call,
    lastSeq,
    epoch: null,
    tokens,
    budget: null,
    blocks: { system, tools: 0, pinned: 0, digest: 0, stubs: 0, history: tokens - system, rest: 0 },
    verified: { isVerified: false, recorded: null, rebuilt: "", problem },
    tools: [],
    missing: [],
    entries,
    fates: entries.length > 0 ? [{ from: 1, to: lastSeq, fate: "whole", pass: "", reason: "" }] : [],
    cache: null,
    repairs: [],
  };
}
