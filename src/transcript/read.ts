/** Reads the sessions in a file of any known format. */
import { isWindrowError, WindrowError } from "../errors.ts";
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { nearest } from "../nearest.ts";
import { decoders } from "./decoders.ts";
import { readEntries } from "./entries.ts";
import type { ReadProgress } from "./entries.ts";
import type { JsonText } from "./json-lines.ts";
import type { ReadLimits } from "./limits.ts";
import type { StorageOptions } from "./opencode/storage.ts";
import { isOpenCodeStorage, storedSessions } from "./opencode/storage.ts";
import type { Entry, Transcript, TranscriptBlocks, TranscriptDecoder, TranscriptSource } from "./transcript.ts";
import { sentBlocks } from "./windrow/sent.ts";

/** The certainty from which a decoder reads; below it, it only guesses. */
const sureEnough = 0.5;

/** Options of {@link readTranscripts}. */
export interface ReadOptions {
  /** Called while the file is read, with bytes on disk. */
  readonly onProgress?: (progress: ReadProgress) => void;
  /** The format to read, by its decoder's name. Default: recognised from the content. */
  readonly format?: string;
  /** The most that a file may hold, unpacked. Default {@link usualLimits}. */
  readonly limits?: ReadLimits;
}

/**
 * Reads the sessions in a file, in a database of opencode or in its folder `storage`. The format is recognised from the
 * content, gzip from its first bytes; nothing is written. Lines that cannot be read are in `problems` of the session (of the first one, where the file holds
 * several), with their numbers from 1.
 *
 * @throws WindrowError `input-not-found`, `bad-option` (a folder), `input-unreadable` (no permission, damaged gzip),
 *   `input-too-large`, `not-a-transcript` (empty, binary, or no known format: the message says what was seen), `bad-option` (no format of
 *   this name), `store-unavailable` (a database, and no driver of SQLite), `aborted`
 */
export async function readTranscripts(
  path: string,
  options: ReadOptions = {},
  signal?: AbortSignal,
): Promise<readonly Transcript[]> {
  const isStorage = await isOpenCodeStorage(path);
  const { entries, problems, beginning } = isStorage
    ? await storageEntries(path, { limits: options.limits, signal })
    : await readEntries(path, options.onProgress, signal, options.limits);
  const source: TranscriptSource = { name: sourceName(path), entries };
  const named = options.format === undefined ? undefined : decoderOf(options.format);
  const decoder = entries.length === 0 ? undefined : (named ?? recognise(source));
  const [first, ...others] = decoder ? decoded(decoder, source, path) : [];
  if (first === undefined) throw notATranscript(path, beginning, entries.length, problems.length);
  const all = [...problems, ...first.problems].sort((left, right) => left.line - right.line);
  const sent = first.sent ?? (await sentBeside(path, signal));
  return [{ ...first, problems: all, ...(sent.length > 0 && { sent }) }, ...others];
}

async function storageEntries(path: string, options: StorageOptions): Promise<Omit<JsonText, "lines">> {
  const entries: Entry[] = [];
  for await (const value of storedSessions(path, options)) entries.push({ line: entries.length + 1, value });
  return { entries, problems: [], beginning: "" };
}

/** The system prompts and tools in the `edits.jsonl` beside a session's own `messages.jsonl`. */
async function sentBeside(path: string, signal: AbortSignal | undefined): Promise<readonly TranscriptBlocks[]> {
  const [, ending] = /^messages(\.jsonl(?:\.gz)?)$/.exec(basename(path)) ?? [];
  const beside = join(dirname(path), `edits${ending}`);
  if (ending === undefined || !existsSync(beside)) return [];
  const { entries } = await readEntries(beside, undefined, signal);
  return sentBlocks(entries.map(({ value }) => value));
}

/** Runs a decoder. An error it did not foresee is a fault of this file, so that other files are still read. */
function decoded(decoder: TranscriptDecoder, source: TranscriptSource, path: string): readonly Transcript[] {
  try {
    return decoder.decode(source);
  } catch (error) {
    if (isWindrowError(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${path} cannot be read as ${decoder.format}: ${reason}.`;
    throw new WindrowError("input-unreadable", message, { path, format: decoder.format }, { cause: error });
  }
}

function decoderOf(format: string): TranscriptDecoder {
  const found = decoders.find((decoder) => decoder.format === format);
  if (found) return found;
  const known = decoders.map((decoder) => decoder.format);
  const message = `There is no transcript format "${format}".${nearest(format, known)}`;
  throw new WindrowError("bad-option", message, { format, known });
}

function recognise(source: TranscriptSource): TranscriptDecoder | undefined {
  let best: TranscriptDecoder | undefined;
  let sureness = sureEnough;
  for (const decoder of decoders) {
    const sure = decoder.recognise(source);
    if (sure > sureness || (best === undefined && sure === sureness)) [best, sureness] = [decoder, sure];
  }
  return best;
}

/** The file's name without its endings; `messages.jsonl` and `events.jsonl` are named by their folder. */
function sourceName(path: string): string {
  const name = basename(path)
    .replace(/\.gz$/, "")
    .replace(/\.(jsonl|json|ndjson)$/, "");
  return name === "messages" || name === "events" ? basename(dirname(resolve(path))) : name;
}

function notATranscript(path: string, beginning: string, entries: number, unreadable: number): WindrowError {
  const seen =
    entries > 0
      ? `it is JSON, but no session of ${decoders.map((decoder) => decoder.format).join(", ")}; it begins ${beginning}`
      : unreadable > 0
        ? `no line of it is JSON; it begins ${beginning}`
        : "it is empty";
  return new WindrowError("not-a-transcript", `${path} is no transcript that Windrow knows: ${seen}`, {
    path,
    beginning,
  });
}
