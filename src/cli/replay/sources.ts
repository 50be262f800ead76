/** The sessions that a command line names: files, folders of files, and sessions of a store. */
import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { findSession, namesSession } from "../../ops/look/find.ts";
import type { ReadLimits } from "../../transcript/limits.ts";
import { isOpenCodeStorage } from "../../transcript/opencode/storage.ts";
import { readTranscripts } from "../../transcript/read.ts";
import type { Transcript } from "../../transcript/transcript.ts";
import { noteDamage, onStore } from "../command.ts";
import type { CommandIo } from "../command.ts";

/** A place that sessions are read from. */
export interface ReplaySource {
  /** The file, or the session's id. */
  readonly name: string;
  /** The file, where it is one: any thread can read it. */
  readonly file?: SessionFile;
  /** Reads its sessions; none where it is a folder's file of another kind. */
  read(): Promise<readonly Transcript[]>;
}

/** A file that may hold sessions. */
export interface SessionFile {
  readonly path: string;
  /** Whether a folder was named and not this file: it may be JSON of another kind. */
  readonly isFound: boolean;
}

/** How sources are read. */
export interface SourceOptions {
  /** The store of sessions that are named by id. */
  readonly store: string;
  readonly limits?: ReadLimits;
}

/** Files that may hold sessions. */
const sessionFile = /\.(?:jsonl|ndjson|json)(?:\.gz)?$/;

/** The messages of a session of Windrow's own; the files beside it are its other logs. */
const messagesFile = /^messages\.jsonl(?:\.gz)?$/;

/**
 * The places that a name means: a file, the sessions in a folder and below it, or a session of the store by its id, the
 * beginning of one or `latest`. A file of that name goes before a session.
 *
 * @throws WindrowError `input-not-found` for what is none of these, and for a folder without sessions
 */
export async function sourcesOf(
  name: string,
  options: SourceOptions,
  io: CommandIo,
  signal?: AbortSignal,
): Promise<readonly ReplaySource[]> {
  const found = await stat(name).catch(() => undefined);
  if (found?.isDirectory() === true && !(await isOpenCodeStorage(name))) return folderSources(name, options, signal);
  if (found === undefined && namesSession(name)) return [storedSource(name, options, io)];
  return [fileSource({ path: name, isFound: false }, options, signal)];
}

function fileSource(file: SessionFile, { limits }: SourceOptions, signal: AbortSignal | undefined): ReplaySource {
  return { name: file.path, file, read: () => readSessions(file, limits, signal) };
}

/**
 * The sessions of a file.
 *
 * @returns none of a found file that is no transcript
 * @throws WindrowError as `readTranscripts`
 */
export async function readSessions(
  { path, isFound }: SessionFile,
  limits?: ReadLimits,
  signal?: AbortSignal,
): Promise<readonly Transcript[]> {
  try {
    return await readTranscripts(path, limits ? { limits } : {}, signal);
  } catch (error) {
    if (isFound && isWindrowError(error, "not-a-transcript")) return [];
    throw error;
  }
}

async function folderSources(
  folder: string,
  options: SourceOptions,
  signal: AbortSignal | undefined,
): Promise<readonly ReplaySource[]> {
  const files = (await filesBelow(folder)).filter((path) => sessionFile.test(path));
  const own = new Set(files.filter((path) => messagesFile.test(path.slice(dirname(path).length + 1))).map(dirname));
  const wanted = files.filter(
    (path) => !own.has(dirname(path)) || messagesFile.test(path.slice(dirname(path).length + 1)),
  );
  if (wanted.length === 0) {
    const message = `There is no session in ${folder}: no file of it or below it ends in .jsonl or .json.`;
    throw new WindrowError("input-not-found", message, { path: folder });
  }
  return wanted.toSorted().map((path) => fileSource({ path, isFound: true }, options, signal));
}

/** The files of a folder and below it, installed packages left out; a folder that goes meanwhile has none. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return [];
    const message = `${folder} cannot be listed (${cause.code ?? String(cause)}). Check its permissions, or name a folder within it.`;
    throw new WindrowError("input-unreadable", message, { path: folder }, { cause });
  });
  const files: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isFile()) files.push(path);
    else if (entry.isDirectory() && entry.name !== "node_modules") files.push(...(await filesBelow(path)));
  }
  return files;
}

function storedSource(name: string, { store: target }: SourceOptions, io: CommandIo): ReplaySource {
  return {
    name,
    read: () =>
      onStore(io, { store: target }, async (store, scope) => {
        const { storedTranscript } = await import("../../ops/exchange/export.ts");
        const { metadata } = await findSession(store, scope, name);
        const transcripts = await storedTranscript(store, scope, metadata.uuid);
        await noteDamage(io, store, scope, metadata.uuid);
        return transcripts;
      }),
  };
}
