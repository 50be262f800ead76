/** Sessions that are named on the command line, or that agents left on this machine, replayed. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { printable } from "../../printable.ts";
import { discoverSessions } from "../../transcript/discover.ts";
import type { FoundSession } from "../../transcript/discover.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import { readUsage } from "../../transcript/usage/read.ts";
import { exitStatus, reportError } from "../command.ts";
import type { CommandIo, ExitStatus } from "../command.ts";
import { Progress } from "../text/progress.ts";
import { count } from "../text/text.ts";
import { resultsOf } from "./results.ts";
import type { ReplayWork } from "./results.ts";
import { sourcesOf } from "./sources.ts";
import type { ReplaySource } from "./sources.ts";
import type { NamedSession } from "./view.ts";

/** The number of newest sessions, of those that agents left on this machine, from which the largest are chosen. */
const newestSessions = 50;
/** The number of largest ones that are replayed when no file is named. */
const largestSessions = 10;

/** A file that could not be replayed. */
export interface FailedFile {
  readonly file: string;
  readonly code: string;
  readonly message: string;
}

/** Sessions as they were replayed, and what could not be. */
export interface Replayed {
  readonly sessions: readonly NamedSession[];
  readonly failed: readonly FailedFile[];
  /** Folders of sessions that were written. */
  readonly kept: readonly string[];
}

/** Replays what is named. A failure is reported as it comes, and the others are replayed. */
export async function replayed(
  names: readonly string[],
  work: Omit<ReplayWork, "sources" | "progress">,
  signal: AbortSignal | undefined,
): Promise<Replayed> {
  const { settings, io } = work;
  const progress = new Progress(io);
  const sessions: NamedSession[] = [];
  const failed: FailedFile[] = [];
  const kept: string[] = [];
  const report = (error: unknown, file: string): void => {
    progress.end();
    reportError(io, error, file);
    const { message } = error instanceof Error ? error : new Error(String(error));
    failed.push({ file, code: isWindrowError(error) ? error.code : "unforeseen", message });
  };
  const sources: ReplaySource[] = [];
  for (const name of names) {
    try {
      sources.push(...(await sourcesOf(name, settings, io, signal)));
    } catch (error) {
      report(error, name);
    }
  }
  let read = 0;
  for await (const { file, sessions: found, problems, error } of resultsOf(
    { ...work, sources, progress },
    kept,
    signal,
  )) {
    read += problems.length;
    for (const lines of problems) reportProblems(file, lines, io);
    sessions.push(...found.map((session) => ({ file, ...session })));
    if (error === undefined) continue;
    report(error, file);
    if (signal?.aborted) return { sessions: [], failed, kept };
  }
  if (read === 0 && failed.length === 0) {
    const message = `No file here is a session: ${count(sources.length)} were read.`;
    report(new WindrowError("not-a-transcript", message), names.join(" "));
  }
  progress.end();
  return { sessions, failed, kept };
}

/** The largest of the newest sessions that agents left on this machine. */
export async function ownSessions(io: CommandIo, project?: string): Promise<readonly string[]> {
  const found = await discoverSessions({ home: io.env["HOME"] ?? homedir(), env: io.env });
  const wanted = project === undefined ? found : await inProject(found, resolve(project));
  const largest = wanted.slice(0, newestSessions).toSorted((left, right) => right.bytes - left.bytes);
  return largest.slice(0, largestSessions).map((session) => session.path);
}

/** The sessions whose agent worked in a folder or below it, as their calls say. */
async function inProject(found: readonly FoundSession[], folder: string): Promise<readonly FoundSession[]> {
  const own: FoundSession[] = [];
  for (const session of found) {
    if (own.length === newestSessions) break;
    const calls = await readUsage({ ...session, modifiedMs: Date.parse(session.modifiedAt) }).catch(() => []);
    const [first] = calls;
    if (first && `${first.project}/`.startsWith(`${folder}/`)) own.push(session);
  }
  return own;
}

/** Says where sessions were looked for, since none are there. */
export function nothingFound(command: string, isJson: boolean, io: CommandIo): ExitStatus {
  const message =
    "No recorded sessions here. Looked where Claude Code (~/.claude/projects, or CLAUDE_CONFIG_DIR), Codex " +
    "(~/.codex/sessions, or CODEX_HOME) and pi (~/.pi/agent/sessions, or PI_CODING_AGENT_DIR) keep theirs. " +
    `Name one instead: windrow ${command} FILE`;
  reportError(io, new WindrowError("input-not-found", message));
  if (isJson) writeJson(io, { sessions: [], failed: [] });
  return exitStatus.failed;
}

/** Writes a document to stdout. */
export function writeJson(io: CommandIo, document: object): void {
  io.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
}

function reportProblems(file: string, problems: Transcript["problems"], io: CommandIo): void {
  for (const { line, problem } of problems.slice(0, 3))
    io.stderr.write(`${printable(`${file}:${line}: ${problem}`)}\n`);
  if (problems.length > 3)
    io.stderr.write(`${printable(file)}: ${problems.length - 3} more lines could not be read; the rest is used\n`);
}

/** A session without the tokens of each request. */
export function withoutSeries(session: NamedSession): object {
  return { ...session, results: session.results.map(({ series: _series, ...result }) => result) };
}
