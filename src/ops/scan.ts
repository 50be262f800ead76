/** Looking for secrets in what a store holds already: written by a version or a program that did not mask them. */
import { createReadStream } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { WindrowError } from "../errors.ts";
import { maskText } from "../mask/mask.ts";
import type { Mask } from "../mask/mask.ts";
import type { RecordKind } from "../message/record.ts";
import type { Store } from "../store/store.ts";
import { kindLogs } from "../store/transfer.ts";

/** A secret that lies in clear; never the secret itself. */
export interface FoundSecret {
  /** What it is: `github-token`. */
  readonly kind: string;
  /** Absent where the file belongs to no session. */
  readonly sessionId?: string;
  /** Relative to the store's folder; in a database, the log's name and `.jsonl`. */
  readonly file: string;
  /** From 1; in a database, the record's number. */
  readonly line: number;
}

/** What was looked at. */
export interface ScanReport {
  readonly found: readonly FoundSecret[];
  readonly files: number;
  /** Characters that were looked at. */
  readonly characters: number;
}

/** How to scan. */
export interface ScanOptions {
  readonly mask: Mask;
  /** Told after each file, or session of a database: how many of how many. */
  readonly onProgress?: (done: number, total: number) => void;
}

const sessionFolder = /(?:^|[\\/])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[\\/.]|$)/i;

/**
 * Reads every file of a folder, line by line, whoever's session it is: logs, blobs, indexes, what lies aside. What is
 * gzipped is unpacked on the way. Changes nothing.
 *
 * @throws WindrowError `store-unavailable` where a file cannot be read, `aborted`
 */
export async function scanFolder(folder: string, options: ScanOptions, signal?: AbortSignal): Promise<ScanReport> {
  const files = await filesOf(folder);
  const found: FoundSecret[] = [];
  let characters = 0;
  for (const [index, path] of files.entries()) {
    const file = relative(folder, path).split(sep).join("/");
    const sessionId = sessionFolder.exec(file)?.[1];
    const place = { ...(sessionId !== undefined && { sessionId }), file };
    let line = 0;
    try {
      for await (const text of linesOf(await textOf(path))) {
        checkAborted(signal);
        line += 1;
        characters += text.length;
        found.push(...maskText(options.mask, text).masks.map(({ kind }) => ({ kind, ...place, line })));
      }
    } catch (error) {
      throw unreadable(error, path);
    }
    options.onProgress?.(index + 1, files.length);
  }
  return { found, files: files.length, characters };
}

/**
 * Reads every record of every session that a store shows to nobody in particular; for stores that are no folder.
 *
 * @throws WindrowError what the store throws, `aborted`
 */
export async function scanStore(store: Store, options: ScanOptions, signal?: AbortSignal): Promise<ScanReport> {
  const ids: string[] = [];
  const found: FoundSecret[] = [];
  let characters = 0;
  const look = (value: unknown, place: Omit<FoundSecret, "kind">): void => {
    const text = JSON.stringify(value);
    characters += text.length;
    found.push(...maskText(options.mask, text).masks.map(({ kind }) => ({ kind, ...place })));
  };
  for await (const { metadata, state } of store.list({})) {
    ids.push(metadata.uuid);
    look(metadata, { sessionId: metadata.uuid, file: "metadata.json", line: 1 });
    look(state, { sessionId: metadata.uuid, file: "state.json", line: 1 });
  }
  for (const [index, id] of ids.entries()) {
    for (const [kind, log] of Object.entries(kindLogs) as [RecordKind, string][]) {
      for await (const record of store.read({}, id, { kind })) {
        checkAborted(signal);
        look(record, { sessionId: id, file: `${log}.jsonl`, line: record.seq });
      }
    }
    options.onProgress?.(index + 1, ids.length);
  }
  return { found, files: ids.length, characters };
}

async function filesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** A file's text; a gzip's is unpacked, whatever its name. */
async function textOf(path: string): Promise<Readable> {
  const { size } = await stat(path);
  const handle = await open(path);
  const head = Buffer.alloc(2);
  try {
    if (size >= 2) await handle.read(head, 0, 2, 0);
  } finally {
    await handle.close();
  }
  const bytes = createReadStream(path);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return bytes;
  const plain = createGunzip();
  bytes.on("error", (error) => plain.destroy(error));
  return bytes.pipe(plain);
}

function linesOf(input: Readable): AsyncIterable<string> {
  // The interface does not pass on what its input throws.
  const lines = createInterface({ input, crlfDelay: Infinity });
  input.on("error", (error) => lines.emit("error", error));
  return lines;
}

function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new WindrowError("aborted", "The scan was stopped; it had changed nothing.");
}

function unreadable(error: unknown, path: string): unknown {
  if (error instanceof WindrowError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new WindrowError("store-unavailable", `${path} could not be read: ${reason}.`, { path }, { cause: error });
}
