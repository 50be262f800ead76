/**
 * The object of an archived session: gzip of a head and of the very lines. `zcat` shows it; the head is the first line
 * (docs/format.md, "In an archive").
 */
import { pipeline } from "node:stream/promises";
import { createGzip, gunzip } from "node:zlib";
import { promisify } from "node:util";
import { WindrowError } from "../../../errors.ts";
import { isObject } from "../../../message/json.ts";
import type { JsonObject } from "../../../message/message.ts";
import { parseDocument } from "../../format/documents.ts";
import { logNames } from "../../format/logs.ts";
import { isLossy, lossMessage, watchLosses } from "../transfer-losses.ts";
import { parseDumped, summaryOf, weigh } from "../transfer.ts";
import type { DumpSummary } from "../transfer.ts";
import type { LogName, SessionDump } from "../../store.ts";

/** The version of the object's form. */
const objectVersion = 1;

const unpack = promisify(gunzip);

/** A session ready to be written into an archive. */
export interface PackedSession {
  /** The object. */
  readonly bytes: Buffer;
  /** SHA-256 of documents and lines, in hexadecimal. */
  readonly hash: string;
  readonly lines: number;
  /** Bytes of the lines, with their ends. */
  readonly lineBytes: number;
  /** The time of the last record, ISO 8601; undefined where no line has one. */
  readonly lastRecordAt: string | undefined;
}

/** A session that was read out of an archive. */
export interface UnpackedSession {
  readonly dump: SessionDump;
  /** The lines of each log, in order. */
  readonly logs: Readonly<Record<LogName, readonly string[]>>;
  /** See {@link PackedSession.hash}; counted anew. */
  readonly hash: string;
  /** Bytes of the lines. */
  readonly lineBytes: number;
}

/**
 * Packs a session. The same session gives the same text.
 *
 * @throws WindrowError `store-corrupt` for one that lacks records
 */
export async function packSession(dump: SessionDump): Promise<PackedSession> {
  const watched = watchLosses(dump);
  const weighed = weigh(watched.dump);
  let [lineBytes, last] = [0, ""];
  for await (const one of weighed.dump.lines()) {
    lineBytes += Buffer.byteLength(one.line) + 1;
    const { timestamp } = parseDumped(one).fields;
    if (typeof timestamp === "string" && timestamp > last) last = timestamp;
  }
  const losses = watched.losses();
  if (isLossy(losses)) {
    const message = `${lossMessage(dump.id, losses)} It is not archived; restore it from a backup, or look with \`windrow doctor\`.`;
    throw new WindrowError("store-corrupt", message, { id: dump.id, records: losses.records });
  }
  const summary = weighed.summary();
  const again = weigh(dump);
  const bytes = await zipped(textOf(again.dump, summary, lineBytes));
  if (again.summary().hash !== summary.hash) {
    const message = `Session ${dump.id} changed while it was read; nothing was archived. Try again.`;
    throw new WindrowError("session-busy", message, { id: dump.id });
  }
  const lines = Object.values(summary.lines).reduce((sum, count) => sum + count, 0);
  return { bytes, hash: summary.hash, lines, lineBytes, lastRecordAt: last === "" ? undefined : last };
}

async function* textOf(dump: SessionDump, { hash, lines }: DumpSummary, bytes: number): AsyncGenerator<string> {
  const { id, metadata, state } = dump;
  yield `${JSON.stringify({ windrow_archive: objectVersion, id, hash, lines, bytes, metadata, state })}\n`;
  for await (const { line } of dump.lines()) yield `${line}\n`;
}

async function zipped(text: AsyncIterable<string>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await pipeline(text, createGzip({ level: 9 }), async (packed: AsyncIterable<Buffer>) => {
    for await (const chunk of packed) chunks.push(chunk);
  });
  return Buffer.concat(chunks);
}

/**
 * Unpacks an object and counts and hashes what it holds.
 *
 * @param key - the object's name, for the error
 * @throws WindrowError `store-corrupt` where it is damaged, or is no object of an archive
 */
export async function unpackSession(key: string, bytes: Uint8Array): Promise<UnpackedSession> {
  let text: Buffer;
  try {
    text = await unpack(bytes);
  } catch (error) {
    throw damaged(key, error instanceof Error ? error.message : String(error), error);
  }
  const end = text.indexOf(10);
  const head = end === -1 ? undefined : parseDocument(text.toString("utf8", 0, end));
  if (!head || !isHead(head)) throw damaged(key, "its first line is no head of an archived session");
  const { id, metadata, state, lines } = head;
  const logs = Object.fromEntries(logNames.map((log): [LogName, string[]] => [log, []])) as Record<LogName, string[]>;
  let at = end + 1;
  for (const log of logNames) {
    for (let left = Number(lines[log] ?? 0); left > 0; left--) {
      const stop = text.indexOf(10, at);
      if (stop === -1) throw damaged(key, "it has fewer lines than its head says");
      logs[log].push(text.toString("utf8", at, stop));
      at = stop + 1;
    }
  }
  if (at !== text.length) throw damaged(key, "it has more lines than its head says");
  const dump: SessionDump = {
    ...{ id, metadata, state },
    async *lines() {
      for (const log of logNames) for (const line of logs[log]) yield { log, line };
    },
  };
  const { hash } = await summaryOf(dump);
  if (hash !== head.hash) throw damaged(key, "its hash is not that of its head");
  return { dump, logs, hash, lineBytes: text.length - end - 1 };
}

interface Head {
  readonly id: string;
  readonly hash: string;
  readonly lines: JsonObject;
  readonly metadata: JsonObject;
  readonly state: JsonObject;
}

function isHead(head: JsonObject): head is JsonObject & Head {
  const { windrow_archive: version, id, hash, lines, metadata, state } = head;
  const texts = typeof id === "string" && typeof hash === "string";
  return version === objectVersion && texts && isObject(lines) && isObject(metadata) && isObject(state);
}

function damaged(key: string, reason: string, cause?: unknown): WindrowError {
  const message = `The object ${key} of the archive is damaged: ${reason}. Bring it back from a backup of the archive.`;
  return new WindrowError("store-corrupt", message, { key, reason }, { cause });
}
