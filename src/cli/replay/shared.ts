/** Replays many files at once, each in a worker thread. */
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { errorCodes, WindrowError } from "../../errors.ts";
import type { ErrorCode } from "../../errors.ts";
import type { ReplayFlags } from "./options.ts";
import type { SessionFile } from "./sources.ts";
import type { SourceResult } from "./work.ts";
import type { FromWorker, SentError } from "./replay-worker.ts";

/** The program of a worker, beside the built command; sources that run unbuilt have none. */
const program = fileURLToPath(new URL("replay-worker.js", import.meta.url));
/** Fewer bytes are replayed sooner than a second thread has started. */
const leastBytes = 2_000_000;
/** The most threads: each holds a session and its indexes. */
const mostThreads = 8;
/** Memory for new objects in each, in MB: more makes a replay no faster, and every thread keeps what it once had. */
const resourceLimits = { maxYoungGenerationSizeMb: 8 };

/** Whether threads help: several files, and enough in them. */
export async function isShareable(files: readonly SessionFile[]): Promise<boolean> {
  if (files.length < 2 || availableParallelism() < 2 || !existsSync(program)) return false;
  let bytes = 0;
  for (const { path } of files) {
    // A file that is gone is told by its reader.
    bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
    if (bytes >= leastBytes) return true;
  }
  return false;
}

/**
 * Replays files in worker threads. Results come in the order of the files.
 *
 * @param tell - how many of the files are done; a file under way counts in parts
 */
export async function* replayShared(
  files: readonly SessionFile[],
  flags: ReplayFlags,
  tell: (done: number, total: number) => void,
  signal?: AbortSignal,
): AsyncGenerator<SourceResult> {
  const shares = new Map<number, number>();
  let finished = 0;
  const update = (): void => {
    const parts = [...shares.values()].reduce((sum, share) => sum + share, 0);
    tell(Math.floor(finished + parts), files.length);
  };
  const results = files.map(() => settled<SourceResult>());
  const lanes = new Set<Lane>();
  let next = 0;
  const run = async (lane: Lane): Promise<void> => {
    for (let index = next++; index < files.length; index = next++) {
      const file = files[index] as SessionFile;
      const share = (done: number): void => {
        shares.set(index, done);
        update();
      };
      const result =
        signal?.aborted === true
          ? { file: file.path, sessions: [], problems: [], error: abortion() }
          : await lane.replay(file, share);
      shares.delete(index);
      finished += 1;
      update();
      results[index]?.settle(result);
    }
    await lane.end();
  };
  const stop = (): void => {
    for (const lane of lanes) void lane.end();
  };
  signal?.addEventListener("abort", stop, { once: true });
  try {
    for (let count = Math.min(files.length, availableParallelism(), mostThreads); count > 0; count -= 1) {
      const lane = new Lane(flags);
      lanes.add(lane);
      void run(lane);
    }
    for (const { promise } of results) yield await promise;
  } finally {
    signal?.removeEventListener("abort", stop);
    stop();
  }
}

/** A worker thread, and the next one where that died. */
class Lane {
  readonly #flags: ReplayFlags;
  #worker: Worker | undefined;

  constructor(flags: ReplayFlags) {
    this.#flags = flags;
  }

  /** Replays one file. A thread that dies, for want of memory for example, fails this file alone. */
  replay(file: SessionFile, share: (done: number) => void): Promise<SourceResult> {
    const worker = (this.#worker ??= new Worker(program, { workerData: this.#flags, resourceLimits }));
    return new Promise((resolve) => {
      const settle = (result: SourceResult): void => {
        worker.off("message", said).off("error", failed).off("exit", ended);
        resolve(result);
      };
      const said = (message: FromWorker): void => {
        if ("progress" in message) share(message.progress.done / message.progress.total);
        else settle({ ...message.result, ...(message.error && { error: receivedError(message.error) }) });
      };
      const failed = (error: unknown): void => {
        this.#worker = undefined;
        settle({ file: file.path, sessions: [], problems: [], error });
      };
      const ended = (): void => failed(abortion());
      worker.on("message", said).on("error", failed).on("exit", ended);
      worker.postMessage(file);
    });
  }

  async end(): Promise<void> {
    await this.#worker?.terminate();
  }
}

function abortion(): WindrowError {
  return new WindrowError("aborted", "The replay was aborted; nothing was written.");
}

function receivedError({ code, message, stack }: SentError): Error {
  if (code !== undefined && code in errorCodes) return new WindrowError(code as ErrorCode, message);
  return Object.assign(new Error(message), stack !== undefined && { stack });
}

interface Settled<T> {
  readonly promise: Promise<T>;
  readonly settle: (value: T) => void;
}

function settled<T>(): Settled<T> {
  let settle: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (settle = resolve));
  return { promise, settle };
}
