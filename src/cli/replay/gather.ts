/** Sessions that are named on the command line, or that agents left on this machine, replayed. */
import { resolve } from "node:path";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { printable } from "../../printable.ts";
import { discoverSessions } from "../../transcript/discover.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import type { CallUsage } from "../../transcript/usage/usage.ts";
import { exitStatus, reportError } from "../command.ts";
import type { CommandIo, ExitStatus } from "../command.ts";
import { Progress } from "../text/progress.ts";
import { agentUsage, cacheFolder, homeOf } from "../agent-usage.ts";
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

/**
 * The largest of the newest sessions that agents left on this machine.
 *
 * @param project - only those whose agent worked in this folder or below it, as their calls say
 */
export async function ownSessions(io: CommandIo, project?: string, signal?: AbortSignal): Promise<readonly string[]> {
  const options = { home: homeOf(io.env), env: io.env };
  const found = await discoverSessions(options);
  const own = project === undefined ? undefined : await pathsIn(resolve(project), io, signal);
  const wanted = own ? found.filter(({ path }) => own.has(path)) : found;
  const largest = wanted.slice(0, newestSessions).toSorted((left, right) => right.bytes - left.bytes);
  return largest.slice(0, largestSessions).map((session) => session.path);
}

/** The files of sessions that began in a folder or below it. */
async function pathsIn(folder: string, io: CommandIo, signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const { files } = await agentUsage(io, cacheFolder(io.env), () => true, signal);
  const isBelow = ({ project }: CallUsage): boolean => `${project}/`.startsWith(`${folder}/`.replace("//", "/"));
  return new Set(files.flatMap(({ path, calls }) => (calls.slice(0, 1).some(isBelow) ? [path] : [])));
}

/** Says where sessions were looked for, since none are there. */
export function nothingFound(command: string, isJson: boolean, io: CommandIo, project?: string): ExitStatus {
  const which = project === undefined ? "here" : `of ${resolve(project)} or of a folder below it`;
  const message =
    `No recorded sessions ${which}. Looked where Claude Code (~/.claude/projects, or CLAUDE_CONFIG_DIR), Codex ` +
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
