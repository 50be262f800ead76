/** Dumping a session from a file store and restoring it: whole folders, line by line as they are. */
import { open, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { WindrowError } from "../../errors.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import type { RecordKind, StoredRecord } from "../../message/record.ts";
import type { Clock } from "../shared/clock.ts";
import { alreadyExists, inScope, isFinal } from "../shared/rules.ts";
import type { DumpedLine, LogName, Restored, Scope, SessionDump, SessionMetadata } from "../store.ts";
import { originalChecksum } from "../format/seal.ts";
import { admit, compareExisting, weigh } from "../shared/transfer.ts";
import type { Admitted } from "../shared/transfer.ts";
import { logKinds, logNames } from "../format/logs.ts";
import { BlobFolder } from "./log/blobs.ts";
import { blobsFolder, largestInline, spillInto } from "../format/blobs.ts";
import type { Blob, BlobName, FetchBlob, Spill } from "../format/blobs.ts";
import { decodeRecord, encodeRecord } from "../format/record.ts";
import { systemArchives } from "../../disk/archive/archive-disk.ts";
import { systemDisk } from "../../disk/disk.ts";
import { decodeState, encodeState, page, parseDocument, readObject } from "../format/documents.ts";
import { metadataFile, stateFile } from "../format/documents.ts";
import { BadLine, optional } from "../format/fields.ts";
import type { RawLine } from "../format/lines.ts";
import { encodeLine, lineText, linesBackward, linesForward, parseLine } from "../format/lines.ts";
import { follow, foundAt } from "./follow.ts";
import type { Follow } from "./follow.ts";
import { locate } from "./layout.ts";
import { lockFile } from "../lock/owner-record.ts";
import { fileMode, makeFolder, syncFolder, systemCode, unavailable, writeNew } from "../../disk/safe-write.ts";
import type { Layout, Place } from "./layout.ts";
import { openLog } from "./log/open-log.ts";
import type { Damage } from "./log/reader.ts";
import { stateOf } from "./session/state.ts";
import { acquire } from "../lock/steal.ts";
import { inspectTail } from "./log/tail.ts";
import { checkFreeId } from "./session/make.ts";

/** Characters written at once, about. */
const batchCharacters = 1024 * 1024;

/** The store that a session is restored to. */
export interface RestoreTarget {
  readonly layout: Layout;
  readonly mask: Mask;
  readonly clock: Clock;
}

/** Called with each part of a session that cannot be read. */
interface DamageListener {
  /** A span of a log that is no record. */
  damaged(kind: RecordKind, file: number, span: Damage): void;
  /** A large value that is missing or damaged: its line is given out as it stands, and names it. */
  missing(name: BlobName): void;
}

const nobody: DamageListener = { damaged: () => undefined, missing: () => undefined };

/** A session as it is now; what is added while it is read does not belong to it. */
export async function dumpFolder(now: Follow, listener: DamageListener = nobody): Promise<SessionDump> {
  const { place, metadata } = now();
  const { id } = place;
  const raw = readObject(join(place.folder, metadataFile)) ?? {};
  const state = await stateFields(place, metadata);
  const ends = logEnds(now);
  return {
    id,
    metadata: raw,
    state,
    async *lines() {
      for (const log of logNames) yield* linesOf(now, log, ends[log], listener);
    },
  };
}

/**
 * Writes a session into a folder beside the others, and moves that into its place when all of it is on the disk.
 *
 * @throws WindrowError as {@link Store.restore} says
 */
export async function restoreFolder(
  target: RestoreTarget,
  scope: Scope,
  dump: SessionDump,
  signal?: AbortSignal,
): Promise<Restored> {
  const { layout } = target;
  const admitted = admit(scope, target.mask, dump);
  const existing = locate(layout, dump.id);
  if (existing) {
    const found = foundAt(existing);
    if (!inScope(scope, found.metadata)) throw alreadyExists(dump.id);
    return compareExisting(admitted, await dumpFolder(follow(layout, found)));
  }
  await checkFreeId(layout, admitted.metadata, systemDisk);
  const draft = join(layout.running, `.restore-${dump.id}`);
  try {
    for (const folder of [layout.running, layout.completed, draft]) await makeFolder(folder);
    const lock = acquire(draft, { clock: target.clock, disk: systemDisk });
    try {
      await removeLeftovers(draft);
      const weighed = weigh(admitted.dump);
      await writeFolder(draft, weighed.dump, signal);
      await publish(layout, draft, admitted);
      return { outcome: "written", masked: admitted.masked(), hash: weighed.summary().hash };
    } catch (error) {
      await removeDraft(draft);
      throw error;
    } finally {
      lock.release();
    }
  } catch (error) {
    throw unavailable(error, "Restoring a session", draft);
  }
}

/**
 * Writes a session into a folder beside the others, hands that to the work, and takes away what is left of it.
 *
 * @throws WindrowError `session-busy` while another process writes the same draft
 */
export async function writeDraft(
  layout: Layout,
  clock: Clock,
  dump: SessionDump,
  signal: AbortSignal | undefined,
  work: (draft: string) => Promise<void>,
): Promise<void> {
  const draft = join(layout.running, `.restore-${dump.id}`);
  try {
    for (const folder of [layout.running, draft]) await makeFolder(folder);
    const lock = acquire(draft, { clock, disk: systemDisk });
    try {
      await removeLeftovers(draft);
      await writeFolder(draft, dump, signal);
      await work(draft);
    } finally {
      await removeDraft(draft);
      lock.release();
    }
  } catch (error) {
    throw unavailable(error, "Bringing a session back", draft);
  }
}

async function writeFolder(folder: string, dump: SessionDump, signal: AbortSignal | undefined): Promise<void> {
  await writeNew(join(folder, metadataFile), page(dump.metadata));
  await writeNew(join(folder, stateFile), page(dump.state));
  for (const log of logNames) await writeNew(logPath(folder, log), "");
  let log: LogName | undefined;
  let batch: string[] = [];
  let characters = 0;
  const blobFolder = new BlobFolder(folder, systemDisk);
  const write = async (): Promise<void> => {
    if (log === undefined || batch.length === 0) return;
    const file = await open(logPath(folder, log), "a", fileMode);
    try {
      await file.writeFile(batch.join(""));
      await file.sync();
    } finally {
      await file.close();
    }
    batch = [];
    characters = 0;
  };
  for await (const one of dump.lines()) {
    if (signal?.aborted) throw new WindrowError("aborted", "The restore was stopped; nothing of it was kept.");
    if (one.log !== log || characters >= batchCharacters) await write();
    log = one.log;
    const large: Blob[] = [];
    const line = spilled(one, large);
    await blobFolder.keep(large);
    batch.push(`${line}\n`);
    characters += line.length;
  }
  await write();
  await syncFolder(folder);
}

/** A record as its line; what is no part of a record is taken from the fields it was read from. */
function lineOf({ seq, pos, ...record }: StoredRecord, fields: JsonObject, spill?: Spill): string {
  const { more, [originalChecksum]: original } = fields;
  const encoded = encodeRecord(record, spill);
  const text = lineText({ ...encoded, after: { ...encoded.after, ...optional(originalChecksum, original) } });
  return encodeLine(text, seq, pos, typeof more === "number" ? more : undefined)
    .toString("utf8")
    .trimEnd();
}

/** The line as this store writes it: large values leave it where it can be put together again to the byte. */
function spilled({ log, line }: DumpedLine, large: Blob[]): string {
  const kind = logKinds[log];
  if (line.length <= largestInline / 3) return line;
  const fields = JSON.parse(line) as JsonObject;
  const record = decodeRecord(kind, fields);
  return lineOf(record, fields) === line ? lineOf(record, fields, spillInto(large)) : line;
}

/** The last step: what was a draft is a session. */
async function publish(layout: Layout, draft: string, { metadata, state }: Admitted): Promise<void> {
  const [id, isFinished] = [metadata.uuid, isFinal(state.status)];
  const parent = isFinished ? layout.completed : layout.running;
  if (locate(layout, id)) throw alreadyExists(id);
  await checkFreeId(layout, metadata, systemDisk);
  if (isFinished) await unlink(join(draft, lockFile));
  try {
    await rename(draft, join(parent, id));
  } catch (error) {
    const code = systemCode(error);
    throw code === "ENOTEMPTY" || code === "EEXIST" ? alreadyExists(id) : error;
  }
  await syncFolder(layout.running);
  await syncFolder(layout.completed);
}

/** The folder that a killed restore left; only its lock file is in use. What says whose it is goes last. */
async function removeLeftovers(draft: string): Promise<void> {
  await rm(join(draft, blobsFolder), { recursive: true, force: true });
  const files = [...logNames.map((log) => `${log}.jsonl`), stateFile, metadataFile];
  for (const file of files) await rm(join(draft, file), { force: true });
}

async function removeDraft(draft: string): Promise<void> {
  await removeLeftovers(draft);
  await rm(draft, { recursive: true, force: true });
}

async function stateFields(place: Place, metadata: SessionMetadata): Promise<JsonObject> {
  const fields = readObject(join(place.folder, stateFile));
  if (fields && decodeState(fields)) return fields;
  return parseDocument(encodeState(await stateOf(place, metadata))) ?? {};
}

/**
 * How far each log is to be read, in bytes. A writer at work adds to one log after the other: only what was there when
 * the last place of all logs was looked up is taken, and so no place below it is missing.
 */
function logEnds(now: Follow): Readonly<Record<LogName, number>> {
  const newest = Math.max(
    ...logNames.map((log) => withLog(now, log, (file, size) => inspectTail(file, size, systemArchives).pos)),
  );
  const ends = logNames.map((log) => [
    log,
    // Nobody adds to a finished session: what cannot be read at its end is damage.
    withLog(now, log, (file, size, { completed }) => (completed ? size : endOf(file, size, newest))),
  ]);
  return Object.fromEntries(ends) as Record<LogName, number>;
}

function endOf(file: number, size: number, newest: number): number {
  const tail = inspectTail(file, size, systemArchives);
  let end = tail.problem === "unfinished" ? (tail.cutAt ?? size) : size;
  for (const line of linesBackward(file, 0, end, systemArchives)) {
    const pos = parseLine(line.bytes).objects.at(-1)?.["pos"];
    if (typeof pos !== "number" || pos <= newest) break;
    end = line.offset;
  }
  return end;
}

function withLog(now: Follow, log: LogName, look: (file: number, size: number, place: Place) => number): number {
  const { file, place } = openLog(now, logKinds[log], systemArchives);
  if (file === undefined) return 0;
  try {
    return look(file, systemArchives.stat(file).size, place);
  } finally {
    systemArchives.close(file);
  }
}

async function* linesOf(now: Follow, log: LogName, end: number, listener: DamageListener): AsyncGenerator<DumpedLine> {
  if (end === 0) return;
  const kind = logKinds[log];
  const { file, place } = openLog(now, kind, systemArchives);
  if (file === undefined) return;
  const damaged = (span: Damage): void => listener.damaged(kind, file, span);
  const missing = (name: BlobName): void => listener.missing(name);
  const blobs = new BlobFolder(place.folder, systemArchives, missing, () => now().place.folder);
  try {
    for await (const raw of linesForward(file, 0, end, systemArchives)) {
      for (const line of textsOf(kind, raw, damaged, (name) => blobs.fetch(name))) yield { log, line };
    }
  } finally {
    systemArchives.close(file);
  }
}

/** The records on a line as text. */
function textsOf(kind: RecordKind, raw: RawLine, damaged: (span: Damage) => void, fetch: FetchBlob): readonly string[] {
  const parsed = parseLine(raw.bytes);
  for (const { offset, length } of parsed.damaged) damaged({ offset: raw.offset + offset, length });
  const records = parsed.objects.filter((object) => isRecord(kind, object));
  if (records.length < parsed.objects.length) damaged({ offset: raw.offset, length: raw.bytes.length });
  const isWhole = parsed.objects.length === 1 && parsed.damaged.length === 0;
  return records.map((object) => {
    const whole = raw.bytes.includes('"blob":') ? inlined(kind, object, fetch) : undefined;
    return whole ?? (isWhole ? raw.bytes.toString("utf8").trim() : JSON.stringify(object));
  });
}

/** The line with its large values in it; undefined where it has none, or not all of them can be had. */
function inlined(kind: RecordKind, fields: JsonObject, fetch: FetchBlob): string | undefined {
  let [fetched, lacking] = [false, false];
  const record = decodeRecord(kind, fields, (name) => {
    fetched = true;
    const text = fetch(name);
    lacking ||= text === undefined;
    return text;
  });
  return fetched && !lacking ? lineOf(record, fields) : undefined;
}

function isRecord(kind: RecordKind, fields: JsonObject): boolean {
  try {
    decodeRecord(kind, fields);
    return true;
  } catch (error) {
    if (error instanceof BadLine) return false;
    throw error;
  }
}

function logPath(folder: string, log: LogName): string {
  return join(folder, `${log}.jsonl`);
}
