/** The texts of commands in English. */
import { durationLabel } from "./text.ts";
import type { Words } from "./words.ts";

const bench = "not known from a store; measured with and without Windrow";

function sessionCount(count: string): string {
  return `${count} ${count === "1" ? "session" : "sessions"}`;
}

/** The texts of commands in English. */
export const english: Words = {
  duration: durationLabel,
  view: {
    session: "Session",
    status: "Status",
    model: "Model",
    strategy: "Strategy",
    profile: (name) => `profile ${name}`,
    budget: (tokens) => `budget ${tokens} tokens`,
    task: "Task",
    user: "User",
    started: "Started",
    ended: "Ended",
    notYet: "not yet",
    duration: "Duration",
    soFar: (duration) => `${duration} so far`,
    location: "Location",
    error: "Error",
    damaged: "Damaged",
    damagedSpans: (spans) => `${spans} spans of the log were skipped`,
    missing: "Missing",
    missingRecords: (records) => `${records} records at the end of its logs; windrow doctor says which`,
    inDoubt: "In doubt",
    inDoubtWhy: (calls, running) => {
      const why = running ? "running still, or their process died" : "the session ended without it";
      return `${calls} (tool runs without a recorded result: ${why}; never run again)`;
    },
    since: (time) => `since ${time}`,
    statistics: "Statistics",
    modelCalls: "Model calls",
    toolCalls: "Tool calls",
    historyTokens: "Tokens of history",
    usage: "Usage",
    messages: "Messages",
    summaries: "Summaries",
    tools: "Tools",
    epochs: "Epochs",
    showingLast: (count) => ` (showing last ${count})`,
    success: "Success",
    failure: "Error",
    noResult: "No result",
    epoch: (reason, message, before, after, edits) =>
      `${reason} at message ${message}: ${before} -> ${after} tokens; ${edits}`,
    noEdits: "no edits",
    window: "Window",
    windowSize: (messages, tokens, budget, epoch) =>
      `${messages} messages, ${tokens}${budget === undefined ? " tokens, no budget" : ` of ${budget} tokens`}, epoch ${epoch}`,
    opensEpoch: (reason) => `; this call opens it: ${reason}`,
    notCounted: (what) => `; not on disk and not counted: ${what}`,
  },
  usage: {
    none: "none was reported",
    input: (tokens, cached) => `${tokens} input tokens (${cached} cached)`,
    output: (tokens) => `${tokens} output tokens`,
    unpriced: (calls, models) =>
      `no known price for ${calls} ${calls === "1" ? "call" : "calls"}${models === "" ? "" : ` of ${models}`}`,
  },
  codingAgentView: {
    uuid: "Task UUID",
    repository: "Repository",
    completed: "Completed",
    llmCalls: "LLM calls",
    totalTokens: "Total tokens",
    compressions: "Compressions",
  },
  stats: {
    sessions: "Sessions",
    standings: { running: "running", died: "died", closed: "closed" },
    disk: "Disk",
    perSession: "Per session",
    sessionCount,
    average: "Average per session",
    historyTokens: "Tokens of history",
    modelCalls: "Model calls",
    toolCalls: "Tool calls",
    epochs: "Epochs",
    summaries: "Summaries",
    usage: "Usage",
    input: "Input tokens",
    cached: (share) => ` (${share} cached)`,
    output: "Output tokens",
    money: "Money",
    listPrices: " at list prices",
    memories: "Memories that lack ended sessions",
    due: (due, failing) => `${due} due${failing === undefined ? "" : `, ${failing} of them failed`}`,
    lacking: (withoutUsage, unpriced, models) => {
      const parts = [
        ...(withoutUsage === undefined ? [] : [`${sessionCount(withoutUsage)} without usage`]),
        ...(unpriced === undefined
          ? []
          : [`calls of ${sessionCount(unpriced)} without a known price${models === "" ? "" : ` (${models})`}`]),
      ];
      return `Not in it: ${parts.join("; ")}`;
    },
    userSessions: (count, percent) => `${sessionCount(count)} (${percent})`,
    userTokens: (tokens) => `${tokens} tokens of history`,
  },
  codingAgentStats: {
    title: "Context Storage Statistics",
    filter: "Only",
    total: "Total contexts",
    running: "Running",
    closed: "Closed, can be resumed",
    completed: "Completed",
    disk: "Disk usage",
    noDisk: "not known for this store",
    compressed: (size) => ` (${size} after compression)`,
    perTask: "Per task",
    largest: "Largest",
    byDay: "By day",
    byMonth: "By month",
    sessions: (count) => `${count} ${count === "1" ? "task" : "tasks"}`,
    average: "Average per task",
    messages: "Messages",
    tokens: "Tokens",
    duration: "Duration",
    compressions: "Compressions",
    byUser: "By user",
    noUser: "(no user)",
    tasks: (count, percent) => `${count} ${count === "1" ? "task" : "tasks"} (${percent})`,
    userTokens: (tokens) => `${tokens} tokens`,
    userDuration: (duration) => `${duration} on average`,
    more: (count) => `and ${count} more (--json has all)`,
    results: "Results",
    failedShare: "Failed",
    summarySuccess: "Summaries made",
    of: (part, whole) => `${part} of ${whole}`,
    goals: "Goals",
    goalNames: {
      "memory-reduction": "Memory saved",
      "disk-per-month": "Disk in 30 days",
      "failed-share": "Failed tasks",
      "summary-success": "Summaries made",
      "run-time-increase": "Run time, against the 30 days before",
    },
    target: (target) => `goal ${target}`,
    met: "met",
    missed: "missed",
    unknown: {
      "memory-reduction": bench,
      "disk-per-month": "not known for this store",
      "failed-share": "no task has ended",
      "summary-success": "none was asked for",
      "run-time-increase": "no tasks to compare",
    },
  },
  top: {
    head: ["Session", "User", "Task", "Status", "Holder", "Calls", "Tools", "Tokens", "Window", "Last activity"],
    totals: (running, died, closed, tokens, time) =>
      `${running} running, ${died === undefined ? "" : `${died} died, `}${closed === undefined ? "" : `${closed} closed, `}${tokens} tokens; ${time}`,
    none: "No session is running.",
    more: (count) => `and ${count} more (--limit)`,
    narrow: (names) => `The terminal is too narrow for ${names}; --json has all.`,
    holders: { held: "held", gone: "died", none: "closed" },
    ago: (duration) => `${duration} ago`,
  },
  doctor: {
    states: { notice: "notice", mended: "mended", damage: "damage" },
    keptAs: (path) => ` Kept as ${path}.`,
    place: (offset, length) => ` at ${offset}${length === undefined ? "" : `, ${length} bytes`}`,
    more: (count) => `and ${count} more (--json shows all)`,
    before: "before: ",
    after: "after:  ",
    nothingLost: "Nothing was lost by mending.",
    lost: "The counts do NOT add up: keep this folder as it is and report it.",
    records: (count) =>
      `At least ${count === "1" ? "1 record is" : `${count} records are`} lost in this store, and not to be found in it any more.`,
    open: (open, toMend, toRestore, byHand, next) =>
      `${open} to see to: ${toMend} that --mend can mend, ${toRestore} that only a backup can, ${byHand} by hand.${next === undefined ? "" : ` Next: ${next}`}`,
    beingWritten: (command) =>
      `What is left to mend belongs to sessions that a live process writes. When it is done:\n  ${command}`,
    runRestore: (command) => `From a backup (what is there now is put aside first):\n  ${command}`,
    byHand: "By hand: each says above what to do.",
    noDamage: "No damage is left.",
    nothingWrong: "Nothing is wrong.",
    counted: (sessions, records, good, bad) =>
      `${sessions} ${sessions === "1" ? "session" : "sessions"}, ${records} ${records === "1" ? "record" : "records"} in ${good} bytes; ${bad} bytes that hold none`,
  },
};
