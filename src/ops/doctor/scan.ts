/** Looking for secrets in what a store holds already: written by a version or a program that did not mask them. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { maskText } from "../../mask/text.ts";
import type { Mask } from "../../mask/mask.ts";
import type { RecordKind } from "../../message/record.ts";
import { checkNoOpenDatabase } from "../../store/sqlite/connection/file.ts";
import type { Store } from "../../store/store.ts";
import { plainLines } from "../../disk/archive/plain-lines.ts";
import { kindLogs } from "../../store/format/logs.ts";
import { messageOf } from "../look/errors.ts";
import { Unreadable } from "../look/unreadable.ts";

/** A secret that lies in clear; never the secret itself. */
export interface FoundSecret {
  /** The kind of secret: `github-token`. */
  readonly kind: string;
  /** Absent where the file belongs to no session. */
  readonly sessionId?: string;
  /** Relative to the store's folder; in a database, the log's name and `.jsonl`. */
  readonly file: string;
  /** From 1; in a database, the record's number. */
  readonly line: number;
}

/** The outcome of a scan. */
export interface ScanReport {
  readonly found: readonly FoundSecret[];
  readonly files: number;
  /** Characters that were looked at. */
  readonly characters: number;
  /** Files that could not be read, or only in part. */
  readonly unread: readonly UnreadFile[];
}

/** A file that could not be read, or only in part. */
export interface UnreadFile extends Pick<FoundSecret, "sessionId" | "file"> {
  /** The part that was left out, and why. */
  readonly message: string;
}

/** Which secrets a scan looks for. */
export interface ScanOptions {
  readonly mask: Mask;
  /** Told after each file, or session of a database: how many of how many. */
  readonly onProgress?: (done: number, total: number) => void;
}

const sessionFolder = /(?:^|[\\/])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[\\/.]|$)/i;

/** What a scan found so far. */
class Scan {
  readonly #mask: Mask;
  readonly #signal: AbortSignal | undefined;
  readonly found: FoundSecret[] = [];
  characters = 0;

  constructor({ mask }: ScanOptions, signal: AbortSignal | undefined) {
    this.#mask = mask;
    this.#signal = signal;
  }

  /** Looks at a text. @throws WindrowError `aborted` */
  look(text: string, place: Omit<FoundSecret, "kind">): void {
    if (this.#signal?.aborted) throw new WindrowError("aborted", "The scan was stopped; it had changed nothing.");
    this.characters += text.length;
    this.found.push(...maskText(this.#mask, text).masks.map(({ kind }) => ({ kind, ...place })));
  }
}

/**
 * Reads every file of a folder, line by line, whoever's session it is: logs, blobs, indexes, what lies aside. What is
 * gzipped is unpacked on the way. A file that cannot be read is told and stops no other. Changes nothing.
 *
 * @throws WindrowError `aborted`
 */
export async function scanFolder(folder: string, options: ScanOptions, signal?: AbortSignal): Promise<ScanReport> {
  const files = await filesOf(folder);
  const scan = new Scan(options, signal);
  const unread: UnreadFile[] = [];
  for (const [index, path] of files.entries()) {
    const file = relative(folder, path).split(sep).join("/");
    const sessionId = sessionFolder.exec(file)?.[1];
    const place = { ...(sessionId !== undefined && { sessionId }), file };
    let line = 0;
    checkNoOpenDatabase(path);
    try {
      for await (const text of plainLines(path, (message) => unread.push({ ...place, message })))
        scan.look(text, { ...place, line: ++line });
    } catch (error) {
      if (isWindrowError(error, "aborted")) throw error;
      // It went or was replaced since it was listed.
      if (!existsSync(path)) continue;
      unread.push({ ...place, message: `It could not be read: ${messageOf(error)}` });
    }
    options.onProgress?.(index + 1, files.length);
  }
  return { found: scan.found, files: files.length, characters: scan.characters, unread };
}

/**
 * Reads every record of every session that a store shows to nobody in particular; for stores that are no folder.
 *
 * @throws WindrowError what the store throws, `aborted`
 */
export async function scanStore(store: Store, options: ScanOptions, signal?: AbortSignal): Promise<ScanReport> {
  const ids: string[] = [];
  const scan = new Scan(options, signal);
  const unreadable = new Unreadable();
  for await (const { metadata, state } of store.list({}, { unreadable: unreadable.note })) {
    const sessionId = metadata.uuid;
    ids.push(sessionId);
    scan.look(JSON.stringify(metadata), { sessionId, file: "metadata.json", line: 1 });
    scan.look(JSON.stringify(state), { sessionId, file: "state.json", line: 1 });
  }
  for (const [index, sessionId] of ids.entries()) {
    await unreadable.attempt(store, {}, sessionId, async () => {
      for (const [kind, log] of Object.entries(kindLogs) as [RecordKind, string][]) {
        for await (const record of store.read({}, sessionId, { kind }))
          scan.look(JSON.stringify(record), { sessionId, file: `${log}.jsonl`, line: record.seq });
      }
    });
    options.onProgress?.(index + 1, ids.length);
  }
  const unread = unreadable.sessions().map(({ sessionId, message }) => ({ sessionId, file: "", message }));
  return { found: scan.found, files: ids.length, characters: scan.characters, unread };
}

async function filesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
