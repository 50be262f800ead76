/**
 * Log lines: the time, the level, the first eight characters of the session's id, and what
 * happened. Sessions and the monitor write the same lines, so that one `grep uuid:550e8400` follows a session anywhere.
 *
 *   2024-01-15 10:30:01 INFO [uuid:550e8400] Task started: github/notfolder/coding_agent#27
 */
import { inform } from "../../handed-in.ts";
import { printable } from "../../printable.ts";
import { knownSecrets } from "../../mask/text.ts";
import type { SecretRules } from "../../mask/text.ts";
import { maskEvent } from "../../mask/masked-event.ts";
import { plain, taskName } from "../look/title.ts";
import { checkGiven, kinds } from "../../window/options.ts";
import type { EpochReason } from "../../window/window.ts";

/**
 * Something that happened: any event of a session or a monitor. `type` is its name, `sessionId` the session it is
 * about; the other fields are those of the event.
 */
export interface LoggedEvent {
  readonly type: string;
  readonly sessionId?: string;
}

/** How much matters: `DEBUG` for what happens on every message, `WARNING` for what was mended, `ERROR` for what failed. */
export type LogLevel = "DEBUG" | "INFO" | "WARNING" | "ERROR";

/** Every level, the least first. */
export const logLevels: readonly LogLevel[] = ["DEBUG", "INFO", "WARNING", "ERROR"];

/** The level and the text of a line. */
interface Words {
  readonly level: LogLevel;
  readonly text: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Reasons of an epoch that may take nothing out of the window. */
const renewing: ReadonlySet<unknown> = new Set<EpochReason>(["system-changed", "tools-changed", "history-changed"]);

/** The text of each event. An event that is not here is logged by its name and its plain fields. */
const words: Readonly<Record<string, (fields: Fields) => readonly Words[]>> = {
  "session-opened": ({ resumed, task, taskKey }) =>
    info(resumed === true ? "Task resumed" : "Task started", typeof task === "string" ? task : taskName(taskKey)),
  "session-recovered": ({ recovery }) =>
    said("WARNING", `Recovered ${count(recovery, "damaged span")} that a crash left`),
  "message-appended": ({ seq, tokens }) => said("DEBUG", `Message #${plain(seq)}: ${plain(tokens)} tokens`),
  "tool-started": ({ toolName }) => info("Tool execution", plain(toolName)),
  "tool-finished": ({ callId, durationMs }) =>
    said("DEBUG", `Tool finished: ${plain(callId)} after ${plain(durationMs)} ms`),
  "window-composed": ({ call, report }) => {
    const tokens = field(report, "tokens");
    const what = call === undefined ? "LLM call" : `LLM call #${plain(call)}`;
    return info(what, tokens === undefined ? "" : `${plain(tokens)} tokens`);
  },
  "epoch-opened": ({ report }) => {
    const opened = field(report, "opened");
    const [before, after, reason] = ["tokensBefore", "tokensAfter", "reason"].map((name) => field(opened, name));
    const isRenewed = renewing.has(reason) && before === after;
    return isRenewed ? info("Window begun anew", plain(reason)) : compressed(before, after);
  },
  "epoch-undone": ({ undone }) => info("Context compression undone", `epoch ${plain(undone)}`),
  "summary-committed": ({ epoch, originalTokens, summaryTokens }) =>
    originalTokens === undefined
      ? info("Summary committed", `epoch ${plain(epoch)}`)
      : compressed(originalTokens, summaryTokens),
  "summary-failed": ({ reason, failures, open }) => {
    const pause = open === true ? "; none is tried for a while" : "";
    return said("ERROR", `Summary failed: ${plain(reason)} (${plain(failures)} in a row${pause})`);
  },
  "call-masked": ({ toolName }) =>
    said("WARNING", `Tool call with a masked value in its arguments: ${plain(toolName)}`),
  "usage-ignored": ({ warning }) => said("WARNING", `Usage ignored: ${plain(warning)}`),
  "session-offloaded": ({ memory, messages }) => info("Memory", `${plain(messages)} messages to ${plain(memory)}`),
  "offload-failed": ({ memory, reason }) => said("WARNING", `Memory ${plain(memory)} took nothing: ${plain(reason)}`),
  "bootstrap-failed": ({ memory, reason }) => said("WARNING", `Memory ${plain(memory)} told nothing: ${plain(reason)}`),
  "mask-rule-failed": ({ rule }) => said("WARNING", `The mask rule ${plain(rule)} failed and was left out for a text`),
  "user-config-failed": ({ user, reason }) => said("WARNING", `Settings of ${plain(user)} not had: ${plain(reason)}`),
  "session-closed": ({ reason }) =>
    reason === "asked" ? said("DEBUG", "Session closed") : info("Session closed", plain(reason)),
  "usage-recorded": ({ purpose, usage }) => {
    const [input, output] = [field(usage, "input"), field(usage, "output")].map((tokens) => plain(tokens ?? 0));
    return said("DEBUG", `Usage (${plain(purpose)}): ${input} tokens in, ${output} out`);
  },
  "session-unlocked": ({ reason }) => said("WARNING", `Unlocked by force: ${plain(reason)}`),
  "alert-raised": ({ level, message }) =>
    level === "critical"
      ? said("ERROR", `Critical alert: ${plain(message)}`)
      : said("WARNING", `Alert: ${plain(message)}`),
  "alert-cleared": ({ message }) => info("Alert over", plain(message)),
  "append-failed": ({ error }) => said("ERROR", `Append failed: ${plain(field(error, "message"))}`),
  "session-finished": ({ status, error }) => ended(status, error),
  "session-failed": ({ error }) => ended("failed", error),
  "session-timed-out": ({ error }) => ended("timeout", error),
  "session-overdue": ({ error }) => said("WARNING", `Task overdue: ${plain(error)}`),
  "session-moved": () => info("Move to completed ended after a crash"),
  "monitor-failed": ({ error }) => said("ERROR", `Monitor failed: ${plain(field(error, "message"))}`),
  "scan-finished": ({ looked, failed, timedOut, overdue }) => {
    const counts = `${plain(failed)} failed, ${plain(timedOut)} timed out, ${plain(overdue)} overdue`;
    return said("DEBUG", `Scan: ${plain(looked)} running, ${counts}`);
  },
};

/**
 * An event as a line of a log, without its line end. Of an opened epoch and of a summary two lines, joined by one.
 *
 * @param time - when it happened; written in UTC, to the second
 */
export function logLine(event: LoggedEvent, time: Date): string {
  return logEntries(event, time).map(lineOf).join("\n");
}

/** How {@link logTo} writes. */
export interface LogOptions {
  readonly level?: LogLevel;
  readonly now?: () => Date;
  readonly mask?: SecretRules;
}

/**
 * A listener that writes a line for each event, for `SessionManager.open({ on })` and for `monitor`.
 *
 * @param write - is given one line at a time, without its line end: `console.error` will do
 * @param options - `level`: the least that is written, default `INFO`; `now`: the clock; `mask`: of the secrets that no
 * line holds, default the rules for secrets of a known form
 * @throws WindrowError `bad-option` if `write` is no function
 */
export function logTo(
  write: (line: string) => void,
  { level = "INFO", now = () => new Date(), mask = knownSecrets }: LogOptions = {},
): (event: LoggedEvent) => void {
  checkGiven("logTo", { write }, { write: kinds.action });
  return (event) => {
    for (const entry of logEntries(maskEvent(event, mask), now(), level))
      inform(write, lineOf(entry), "a line of a log");
  };
}

/** A line of a log in its parts, for programs. */
export interface LogEntry {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly level: LogLevel;
  /** Absent where it is about no session. */
  readonly sessionId?: string;
  readonly text: string;
}

/**
 * The log entries of an event: two for an opened epoch and for a summary, none below the level.
 *
 * @param least - the least level that is told. Default `DEBUG`: all
 */
export function logEntries(event: LoggedEvent, time: Date, least: LogLevel = "DEBUG"): readonly LogEntry[] {
  const known = words[event.type];
  const fields = event as unknown as Fields;
  const lines = known ? known(fields) : said("DEBUG", otherwise(event.type, fields));
  const { sessionId } = event;
  return lines
    .filter(({ level }) => logLevels.indexOf(level) >= logLevels.indexOf(least))
    .map(({ level, text }) => ({
      time: time.toISOString(),
      level,
      ...(sessionId !== undefined && { sessionId }),
      text: text.replaceAll(/\s*[\r\n]+\s*/g, " "),
    }));
}

/** An entry as a line without its line end, printable: no text of a session begins a line of its own. */
export function lineOf({ time, level, sessionId, text }: LogEntry): string {
  const about = sessionId === undefined ? "" : ` [uuid:${sessionId.slice(0, 8)}]`;
  return printable(`${time.slice(0, 19).replace("T", " ")} ${level}${about} ${text}`);
}

function said(level: LogLevel, text: string): readonly Words[] {
  return [{ level, text }];
}

function info(what: string, detail = ""): readonly Words[] {
  return said("INFO", detail === "" ? what : `${what}: ${detail}`);
}

function compressed(before: unknown, after: unknown): readonly Words[] {
  return [
    ...info("Context compression triggered"),
    ...info("Compression completed", `${plain(before)} -> ${plain(after)} tokens`),
  ];
}

function ended(status: unknown, error: unknown): readonly Words[] {
  if (status === "completed") return info("Task completed successfully");
  const why = typeof error === "string" && error !== "" ? `: ${error}` : "";
  return said("ERROR", `${status === "timeout" ? "Task timed out" : "Task failed"}${why}`);
}

function otherwise(type: string, fields: Fields): string {
  const told = Object.entries(fields).filter(
    ([name, value]) =>
      name !== "type" && name !== "sessionId" && ["string", "number", "boolean"].includes(typeof value),
  );
  return [type, ...told.map(([name, value]) => `${name}=${plain(value)}`)].join(" ");
}

function count(list: unknown, what: string): string {
  const length = Array.isArray(list) ? list.length : 0;
  return `${length} ${what}${length === 1 ? "" : "s"}`;
}

function field(of: unknown, name: string): unknown {
  return typeof of === "object" && of !== null ? (of as Fields)[name] : undefined;
}
