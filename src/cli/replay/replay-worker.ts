/** The program of a worker thread that replays files, one after the other. */
import { parentPort, workerData } from "node:worker_threads";
import { isWindrowError } from "../../errors.ts";
import type { ReplayFlags, ReplaySettings } from "./options.ts";
import { readReplayFlags } from "./options.ts";
import { readSessions } from "./sources.ts";
import type { SessionFile } from "./sources.ts";
import type { SourceResult, TellProgress } from "./work.ts";
import { replayOne, replaySource } from "./work.ts";

/** An error on its way between threads: a class does not pass. */
export interface SentError {
  /** Absent: it is no error of Windrow's. */
  readonly code?: string;
  readonly message: string;
  readonly stack?: string;
}

/** A message of a worker to the thread that started it. */
export type FromWorker =
  | { readonly progress: { readonly session: string; readonly done: number; readonly total: number } }
  | { readonly result: Omit<SourceResult, "error">; readonly error?: SentError };

/** How often a worker tells its progress, in milliseconds. */
const tellEveryMs = 200;

if (parentPort) await serve(parentPort, workerData as ReplayFlags);

async function serve(port: NonNullable<typeof parentPort>, flags: ReplayFlags): Promise<void> {
  const settings = await readReplayFlags(flags);
  port.on("message", (file: SessionFile) => void answer(port, settings, file));
}

async function answer(
  port: NonNullable<typeof parentPort>,
  settings: ReplaySettings,
  file: SessionFile,
): Promise<void> {
  let told = 0;
  const tell: TellProgress = (session, { done, total }) => {
    const now = performance.now();
    if (now - told < tellEveryMs) return;
    told = now;
    port.postMessage({ progress: { session, done, total } } satisfies FromWorker);
  };
  const read = (): ReturnType<typeof readSessions> => readSessions(file, settings.limits);
  const { error, ...result } = await replaySource(file.path, read, (transcript) =>
    replayOne(transcript, settings, tell),
  );
  const answered: FromWorker = error === undefined ? { result } : { result, error: sentError(error) };
  port.postMessage(answered);
}

function sentError(error: unknown): SentError {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, stack } = error;
  return { message, ...(isWindrowError(error) && { code: error.code }), ...(stack !== undefined && { stack }) };
}
