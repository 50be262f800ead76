/** The lines of a session for stores that keep each one by itself: encoding, decoding, and the numbers to go on with. */
import { WindrowError } from "../../errors.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import type { NewRecord, RecordKind, StoredRecord } from "../../message/record.ts";
import { parseDocument } from "../format/documents.ts";
import { BadLine } from "../format/fields.ts";
import { lineText, numberedLine, parseLine, parseText } from "../format/lines.ts";
import type { LineText } from "../format/lines.ts";
import { kindLogs, logKinds, logNames } from "../format/logs.ts";
import { decodeRecord, encodeRecord } from "../format/record.ts";
import { checksumOf, originalChecksum, sealIn } from "../format/seal.ts";
import type { Seal, SealHash } from "../format/seal.ts";
import type { LogName, Recovered } from "../store.ts";
import { cannotStore, prepareRecord } from "./prepare.ts";

/** A record ready to be written, but for its numbers. */
export interface Encoded {
  readonly record: NewRecord;
  readonly log: LogName;
  readonly text: LineText;
}

/** The last numbers of a session. */
export interface Counters {
  readonly seqs: Record<LogName, number>;
  pos: number;
}

/** A line with its numbers, and the record that it keeps. */
export interface NumberedLine {
  readonly log: LogName;
  readonly seq: number;
  readonly pos: number;
  readonly line: string;
  readonly record: NewRecord;
}

/**
 * A record as JSON, masked; one that could not be read back is refused before anything is written.
 *
 * @throws WindrowError `bad-message`
 */
export function encode(mask: Mask, given: NewRecord): Encoded {
  try {
    const record = prepareRecord(mask, given);
    const fields = encodeRecord(record);
    const all: JsonObject = { seq: 1, ...fields.before, ...fields.after };
    decodeRecord(record.kind, all);
    return { record, log: kindLogs[record.kind], text: lineText(fields) };
  } catch (error) {
    throw cannotStore(given.kind, error);
  }
}

/**
 * Gives a record the next numbers, and counts it.
 *
 * @param more - how many lines of the same write follow in its log; none for a write of one line
 */
export function numberLine(counters: Counters, { log, text, record }: Encoded, more?: number): NumberedLine {
  const seq = ++counters.seqs[log];
  const pos = ++counters.pos;
  return { log, seq, pos, line: numberedLine(text, seq, pos, more), record };
}

/** The record of a line; undefined for one that is damaged. */
export function recordOf(kind: RecordKind, line: string): StoredRecord | undefined {
  const fields = parseText(line) ?? parseLine(Buffer.from(line)).objects[0];
  try {
    return fields && decodeRecord(kind, fields);
  } catch (error) {
    if (error instanceof BadLine) return undefined;
    throw error;
  }
}

/** The seal of a session: its counters, and once it ended the hash over its logs. */
export function sealOf({ seqs, pos }: Counters, hash?: string): Seal {
  return { counts: seqs, pos, ...(hash !== undefined && { hash }) };
}

/** Adds a line to the hash of a session; one that is no record adds nothing. */
export function addLine(hash: SealHash, log: LogName, line: string): void {
  const seq = /^\{"seq":(\d{1,15}),/.exec(line)?.[1];
  const crc = /,"crc":"([0-9a-f]{8})"\}$/.exec(line.slice(-18))?.[1];
  if (seq !== undefined && crc !== undefined && !line.includes(originalChecksum)) {
    const bytes = Buffer.byteLength(line);
    return hash.add(log, Number(seq), checksumOf({ fields: { crc }, text: Buffer.alloc(0), bytes }));
  }
  const [fields] = parseLine(Buffer.from(line)).objects;
  try {
    if (fields) hash.add(log, decodeRecord(logKinds[log], fields).seq, checksumOf({ fields, text: line }));
  } catch (error) {
    if (!(error instanceof BadLine)) throw error;
  }
}

/** The counters of a session that is written again, and the records that its last state counts and its logs lack. */
export interface Continued {
  /** Numbers that were given out are not given out again, also where their records are gone. */
  readonly counters: Counters;
  readonly missing: readonly Recovered[];
}

/**
 * The counters to go on with.
 *
 * @param found - the last numbers of the lines
 * @param state - the text of the state
 * @param logEnding - what stands behind the name of a log where people see it
 */
export function continuedFrom(
  found: Counters,
  state: string,
  { logEnding = "" }: { readonly logEnding?: string } = {},
): Continued {
  const counters: Counters = { seqs: { ...found.seqs }, pos: found.pos };
  const seal = sealIn(parseDocument(state));
  const lacking: Recovered[] = [];
  let records = 0;
  for (const log of logNames) {
    const short = (seal?.counts[log] ?? 0) - counters.seqs[log];
    if (short > 0) lacking.push(missing(`${log}${logEnding}`, short));
    counters.seqs[log] = Math.max(counters.seqs[log], seal?.counts[log] ?? 0);
    records += counters.seqs[log];
  }
  const places = counters.pos - records;
  if (places > 0) lacking.push(missing(`messages${logEnding}`, places));
  counters.pos = Math.max(counters.pos, seal?.pos ?? 0);
  return { counters, missing: lacking };
}

/**
 * The error for a session that had messages and has none.
 *
 * @returns `store-corrupt`
 */
export function messagesLacking(
  id: string,
  found: Counters,
  { missing: lacking }: Continued,
): WindrowError | undefined {
  const gone = lacking.find(({ file }) => file.startsWith("messages"));
  if (!gone || found.seqs.messages > 0) return undefined;
  const records = gone.records ?? 0;
  return new WindrowError(
    "store-corrupt",
    `The messages of session ${id} are gone: nothing is left of them, and ${records} records are missing. \`windrow restore ` +
      `${id} --from BACKUP --to STORE --replace\` brings the session back; \`windrow doctor\` says more.`,
    { id, records },
  );
}

function missing(file: string, records: number): Recovered {
  return { file, offset: 0, length: 0, problem: "missing", quarantine: "", records };
}
