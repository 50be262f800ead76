/** Reads a file into parsed JSON: unpacks gzip, splits lines and parses them as bytes arrive. */
import { constants as bufferConstants } from "node:buffer";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import type { ReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { createGunzip } from "node:zlib";
import { WindrowError } from "../errors.ts";
import { checkNoOpenDatabase } from "../store/sqlite/connection/file.ts";
import { JsonLines } from "./json-lines.ts";
import type { JsonText } from "./json-lines.ts";
import { ReadMeter } from "./limits.ts";
import type { ReadLimits } from "./limits.ts";

/** The progress of reading a file, in bytes on disk. */
export interface ReadProgress {
  readonly bytes: number;
  readonly totalBytes: number;
}

/**
 * Reads a file of JSON lines or of one JSON document, gzipped or not. A line that is no JSON becomes a problem, and so
 * does the end of a truncated gzip file.
 *
 * @throws WindrowError `input-not-found`, `bad-option` (a folder), `input-unreadable` (no permission, damaged gzip),
 *   `input-too-large`, `not-a-transcript` (binary, or text that is no JSON), `aborted`
 */
export async function readEntries(
  path: string,
  onProgress?: (progress: ReadProgress) => void,
  signal?: AbortSignal,
  limits?: ReadLimits,
): Promise<JsonText> {
  const totalBytes = await sizeOf(path);
  checkNoOpenDatabase(path);
  const file = createReadStream(path);
  const lines = new JsonLines(bufferConstants.MAX_STRING_LENGTH);
  const sink = textSink(path, lines, new ReadMeter(path, limits), () =>
    onProgress?.({ bytes: file.bytesRead, totalBytes }),
  );
  const gzipped = await startsLikeGzip(file).catch((error: unknown) => Promise.reject(unreadable(path, error)));
  let torn: unknown;
  try {
    await (gzipped
      ? pipeline(file, createGunzip(), sink, { ...(signal && { signal }) })
      : pipeline(file, sink, { ...(signal && { signal }) }));
  } catch (error) {
    if (signal?.aborted) throw new WindrowError("aborted", `Reading ${path} was aborted`, { path }, { cause: error });
    if (error instanceof WindrowError) throw error;
    if (!gzipped) throw unreadable(path, error);
    torn = error;
  }
  const text = lines.end();
  if (torn === undefined) return text;
  if (text.entries.length === 0) throw unreadable(path, torn);
  const problem = `the gzip data is cut off or damaged here (${messageOf(torn)}); what follows is lost`;
  return { ...text, problems: [...text.problems, { line: text.lines, problem }] };
}

async function sizeOf(path: string): Promise<number> {
  if (typeof path !== "string" || /\n|^(\{"|\[\{)/.test(path)) {
    const message = "Transcripts are read from a file by its path, such as ./session.jsonl, not from its content.";
    throw new WindrowError("bad-option", message);
  }
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw unreadable(path, error);
    throw new WindrowError("input-not-found", `There is no file ${path}`, { path }, { cause: error });
  });
  if (!found.isDirectory()) return found.size;
  throw new WindrowError("bad-option", `${path} is a folder; name the files in it, for example ${path}/*.jsonl`, {
    path,
  });
}

async function startsLikeGzip(file: ReadStream): Promise<boolean> {
  await once(file, "readable");
  const first = file.read() as Buffer | null;
  if (first === null) return false;
  file.unshift(first);
  return first[0] === 0x1f && first[1] === 0x8b;
}

/** Takes text as it arrives. Buffering would lose the text that a torn gzip had already given. */
function textSink(path: string, lines: JsonLines, meter: ReadMeter, progress: () => void): Writable {
  const decoder = new StringDecoder("utf8");
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      const before = lines.count;
      try {
        meter.addText(chunk);
        lines.push(decoder.write(chunk));
        meter.addEntries(lines.count - before);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      progress();
      const { refusal } = lines;
      if (refusal === undefined) done();
      else done(new WindrowError("not-a-transcript", `${path} is no transcript: ${refusal}`, { path }));
    },
    final(done) {
      lines.push(decoder.end());
      done();
    },
  });
}

function unreadable(path: string, error: unknown): WindrowError {
  return new WindrowError(
    "input-unreadable",
    `${path} cannot be read: ${messageOf(error)}`,
    { path },
    { cause: error },
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
