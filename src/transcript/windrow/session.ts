/**
 * A whole session as JSON lines, as `windrow export` and backups write it. The first line is
 * `{"windrow_session":1,"id":…,"metadata":…,"state":…}`, the last `{"windrow_session_end":…}` with the records' count
 * and hash. Each line between them is `{"log":"messages","record":…}` with the record's own line, byte for byte
 * (docs/format.md).
 */
import { constants } from "node:buffer";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { WindrowError } from "../../errors.ts";
import type { JsonObject } from "../../message/message.ts";
import { checkNoOpenDatabase } from "../../store/sqlite/connection/file.ts";
import type { DumpedLine, LogName, SessionDump } from "../../store/store.ts";
import { weigh } from "../../store/shared/transfer.ts";
import { logNames } from "../../store/format/logs.ts";
import { ReadMeter } from "../limits.ts";
import type { ReadLimits } from "../limits.ts";
import { asObject, asString } from "../../message/json.ts";

const version = 1;

const newline = 0x0a;

/** The longest line: the longest string of JavaScript. */
const longestLine = constants.MAX_STRING_LENGTH;

/** The fields of the first line. */
export type SessionHead = Omit<SessionDump, "lines">;

/** The lines of a session, without line ends. */
export async function* sessionLines(dump: SessionDump): AsyncGenerator<string, void, undefined> {
  const { id, metadata, state } = dump;
  yield JSON.stringify({ windrow_session: version, id, metadata, state });
  const weighed = weigh(dump);
  let records = 0;
  for await (const { log, line } of weighed.dump.lines()) {
    records += 1;
    yield `{"log":"${log}","record":${line}}`;
  }
  yield JSON.stringify({ windrow_session_end: { records, hash: weighed.summary().hash } });
}

/**
 * Reads the session in a file, gzipped or not; undefined when the file does not begin as one. The lines are read on
 * demand, and throw at the end when the file is incomplete.
 *
 * @param limits - how much it may hold, unpacked
 * @throws WindrowError `input-unreadable` for a file that is damaged or cut off, `input-too-large`; so do its lines
 */
export async function readSessionFile(path: string, limits?: ReadLimits): Promise<SessionDump | undefined> {
  for await (const first of textLines(path, limits)) {
    const head = sessionHead(parsed(first));
    if (!head) return undefined;
    let end: unknown;
    const weighed = weigh({
      ...head,
      async *lines() {
        for await (const text of textLines(path)) {
          const dumped = dumpedLine(text);
          if (dumped) yield dumped;
          else end = parsed(text);
        }
      },
    });
    return {
      ...head,
      async *lines() {
        yield* weighed.dump.lines();
        const said = asObject(asObject(end)?.["windrow_session_end"])?.["hash"];
        if (said === undefined) throw notWhole(path, "its end is missing");
        if (said !== weighed.summary().hash) throw notWhole(path, "its records do not have the hash that it ends with");
      },
    };
  }
  return undefined;
}

/** The head of a session, from its first line; undefined for any other line, and for one of a newer version. */
export function sessionHead(value: unknown): SessionHead | undefined {
  const line = asObject(value);
  const [id, metadata, state] = [asString(line?.["id"]), asObject(line?.["metadata"]), asObject(line?.["state"])];
  if (line?.["windrow_session"] !== version || id === undefined || !metadata || !state) return undefined;
  return { id, metadata, state };
}

/** The record on a parsed line; undefined for any other line. */
export function sessionRecord(value: unknown): { readonly log: LogName; readonly record: JsonObject } | undefined {
  const line = asObject(value);
  const log = logNames.find((name) => name === line?.["log"]);
  const record = asObject(line?.["record"]);
  return log === undefined || record === undefined ? undefined : { log, record };
}

/** The record on a line as the store had it; undefined for any other line. */
function dumpedLine(text: string): DumpedLine | undefined {
  const [start, log] = /^\{"log":"([a-z]+)","record":/.exec(text.slice(0, 60)) ?? [];
  if (start === undefined || !logNames.includes(log as LogName) || !text.endsWith("}")) return undefined;
  return { log: log as LogName, line: text.slice(start.length, -1) };
}

/** Splits lines itself, because Node's readline also splits at U+2028, which JSON leaves unescaped. */
async function* textLines(path: string, limits?: ReadLimits): AsyncGenerator<string, void, undefined> {
  const meter = new ReadMeter(path, limits);
  let pieces: Buffer[] = [];
  let length = 0;
  for await (const chunk of plainBytes(path)) {
    meter.addBytes(chunk.length);
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      meter.addEntries(1);
      yield Buffer.concat([...pieces, chunk.subarray(start, end)]).toString("utf8");
      pieces = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > longestLine) throw tooLong(path);
  }
  if (pieces.length > 0) yield Buffer.concat(pieces).toString("utf8");
}

async function* plainBytes(path: string): AsyncGenerator<Buffer, void, undefined> {
  checkNoOpenDatabase(path);
  const file = createReadStream(path);
  let unpacked: Readable = file;
  try {
    await once(file, "readable");
    const first = file.read() as Buffer | null;
    if (first === null) return;
    file.unshift(first);
    if (first[0] === 0x1f && first[1] === 0x8b) {
      unpacked = file.pipe(createGunzip());
      file.on("error", (error) => unpacked.destroy(error));
    }
    yield* unpacked as AsyncIterable<Buffer>;
  } catch (error) {
    throw notWhole(path, error instanceof Error ? error.message : String(error), error);
  } finally {
    unpacked.destroy();
    file.destroy();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function tooLong(path: string): WindrowError {
  const message = `${path} has a line of more than ${longestLine} bytes, longer than any string can be; split the line.`;
  return new WindrowError("input-too-large", message, { path });
}

function notWhole(path: string, reason: string, cause?: unknown): WindrowError {
  return new WindrowError(
    "input-unreadable",
    `${path} is no whole session: ${reason}. Nothing of it was taken over.`,
    { path },
    { cause },
  );
}
