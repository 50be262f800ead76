/** The way of a session between two stores: weighing a dump, and checking and masking it before it is kept. */
import { jsonFault, isObject } from "../../message/json.ts";
import { createHash } from "node:crypto";
import { WindrowError } from "../../errors.ts";
import { maskJson, maskRecord } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { decodeRecord, encodeRecord } from "../format/record.ts";
import { archivedField, decodeMetadata, decodeState } from "../format/documents.ts";
import { BadLine } from "../format/fields.ts";
import { lineText, numberedLine } from "../format/lines.ts";
import { checkOwner, alreadyExists, formatVersion, inScope, sessionId } from "./rules.ts";
import { checksumOf, originalChecksum } from "../format/seal.ts";
import type { DumpedLine, LogName, Restored, Scope, SessionDump, SessionMetadata, SessionState } from "../store.ts";
import { logKinds } from "../format/logs.ts";

/** How many lines a session has, and their hash. */
export interface DumpSummary {
  /** SHA-256 in hexadecimal: of the documents and every line. */
  readonly hash: string;
  readonly lines: Readonly<Record<LogName, number>>;
}

/** A dump whose lines are counted and hashed while they are read. */
export interface Weighed {
  readonly dump: SessionDump;
  /** The count and hash of the lines that the newest reading of the dump gave; complete once that reading ended. */
  summary(): DumpSummary;
}

/** Counts and hashes the lines of a dump while other code reads it. */
export function weigh(dump: SessionDump, onLine?: () => void): Weighed {
  let hash = createHash("sha256");
  let lines: Record<LogName, number>;
  const start = (): void => {
    hash = createHash("sha256").update(JSON.stringify([dump.id, dump.metadata, dump.state]));
    lines = { messages: 0, calls: 0, tools: 0, usage: 0, summaries: 0, snapshot: 0, edits: 0 };
  };
  start();
  return {
    dump: {
      ...dump,
      async *lines() {
        start();
        for await (const one of dump.lines()) {
          hash.update(`\n${one.log} ${one.line}`);
          lines[one.log] += 1;
          onLine?.();
          yield one;
        }
      },
    },
    summary: () => ({ hash: hash.copy().digest("hex"), lines: { ...lines } }),
  };
}

/** Reads a dump to its end. */
export async function summaryOf(dump: SessionDump): Promise<DumpSummary> {
  const weighed = weigh(dump);
  for await (const _line of weighed.dump.lines());
  return weighed.summary();
}

/** A dump as a store may keep it. */
export interface Admitted {
  readonly dump: SessionDump;
  readonly metadata: SessionMetadata;
  readonly state: SessionState;
  /** How many lines and documents the mask changed, the last time they were read. */
  masked(): number;
}

/**
 * Checks a dump and puts the mask before it.
 *
 * @throws WindrowError `session-id-invalid`, `bad-message`, `format-newer`, `bad-option`; its lines throw `bad-message`
 */
export function admit(scope: Scope, mask: Mask, dump: SessionDump): Admitted {
  const id = sessionId(dump.id);
  const fault = jsonFault([dump.metadata, dump.state], { undefinedToo: true, whole: true });
  if (fault !== undefined) {
    throw new WindrowError("bad-message", `The metadata or the state of session ${id} cannot be used: ${fault}.`, {
      id,
    });
  }
  // Where the records lie is the store's own word: those of a dump are in it.
  const { [archivedField]: _archived, ...given } = dump.state;
  const documents = { metadata: maskMetadata(mask, dump.metadata), state: maskJson(mask, given) };
  const metadata = decodeMetadata(documents.metadata, id);
  const state = decodeState(documents.state);
  if (!metadata || !state) {
    throw new WindrowError("bad-message", `The metadata or the state of session ${id} is not complete.`, { id });
  }
  if (metadata.format > formatVersion) {
    throw new WindrowError(
      "format-newer",
      `Session ${id} has format ${metadata.format}, this version writes ${formatVersion}: update Windrow to copy it.`,
      { id, format: metadata.format },
    );
  }
  checkOwner(metadata);
  if (!inScope(scope, metadata)) {
    throw new WindrowError("bad-option", `Session ${id} belongs to another user or tenant; restore it as that one.`, {
      id,
    });
  }
  const maskedDocuments = Number(documents.metadata !== dump.metadata) + Number(documents.state !== given);
  let maskedLines = 0;
  return {
    metadata,
    state,
    masked: () => maskedDocuments + maskedLines,
    dump: {
      id,
      ...documents,
      async *lines() {
        maskedLines = 0;
        for await (const one of dump.lines()) {
          const line = maskLine(mask, one);
          if (line !== one.line) maskedLines += 1;
          yield { log: one.log, line };
        }
      },
    },
  };
}

/**
 * The outcome of a restore whose session is there already.
 *
 * @throws WindrowError `session-exists` where it differs from what would be written
 */
export async function compareExisting(admitted: Admitted, existing: SessionDump): Promise<Restored> {
  const [wanted, found] = [await summaryOf(admitted.dump), await summaryOf(existing)];
  if (wanted.hash !== found.hash) throw alreadyExists(admitted.dump.id);
  return { outcome: "same", masked: admitted.masked(), hash: found.hash };
}

/** A line's fields, and its record where its log has records. */
export function parseDumped(one: DumpedLine): {
  readonly fields: JsonObject;
  readonly seq: number;
  readonly pos: number;
} {
  try {
    if (one.line.includes("\n")) throw new BadLine("it is of several lines");
    const fields = JSON.parse(one.line) as JsonValue;
    if (!isObject(fields)) throw new BadLine("it is no object");
    const fault = jsonFault(fields, { whole: true });
    if (fault !== undefined) throw new BadLine(fault);
    const { seq, pos } = decodeRecord(logKinds[one.log], fields);
    return { fields, seq, pos };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new WindrowError(
      "bad-message",
      `A line of ${one.log} is no record: ${reason}.`,
      { log: one.log },
      { cause: error },
    );
  }
}

/** The line, or what the mask leaves of it; a provider's own bytes stay as they are. */
function maskLine(mask: Mask, one: DumpedLine): string {
  const { fields, seq, pos } = parseDumped(one);
  const record = decodeRecord(logKinds[one.log], fields);
  // Without fingerprint and seal: a second copy of the same session must come out the same.
  const masked = maskRecord({ rules: mask.rules, liveMask: false }, record);
  const known = encodeRecord(record);
  const names = new Set([
    "seq",
    known.alias,
    "pos",
    "more",
    "crc",
    ...Object.keys({ ...known.before, ...known.after }),
  ]);
  const foreign = Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
  const maskedForeign = maskJson(mask, foreign);
  if (masked === record && maskedForeign === foreign) return one.line;
  const encoded = encodeRecord(masked);
  const more = typeof fields["more"] === "number" ? fields["more"] : undefined;
  const original = { [originalChecksum]: checksumOf({ fields, text: one.line }) };
  const after = { ...encoded.after, ...maskedForeign, ...original };
  return numberedLine(lineText({ ...encoded, after }), seq, pos, more);
}

/** Masks everything but who the session belongs to. The same object when it is clean. */
function maskMetadata(mask: Mask, fields: JsonObject): JsonObject {
  const masked = maskJson(mask, fields);
  if (masked === fields) return fields;
  const kept = Object.entries(fields).filter(([name]) => name === "user" || name === "tenant");
  return { ...masked, ...Object.fromEntries(kept) };
}
