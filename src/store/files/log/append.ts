/**
 * One append on its way into a journal. It is masked, encoded and put in the order of writing at the time of the call.
 */
import type { Mask } from "../../../mask/mask.ts";
import type { NewRecord, RecordKind } from "../../../message/record.ts";
import { cannotStore, prepareRecord } from "../../shared/prepare.ts";
import { spillInto } from "../../format/blobs.ts";
import type { Blob, Spill } from "../../format/blobs.ts";
import { decodeRecord, encodeRecord } from "../../format/record.ts";
import { kindFiles } from "../../format/logs.ts";
import { lineText } from "../../format/lines.ts";
import type { LineText } from "../../format/lines.ts";

/** The kinds in the order their files are written and synced; `pos` follows it. */
export const writingOrder = Object.keys(kindFiles) as readonly RecordKind[];

/** The records of one append, ready but for their numbers. */
export interface PreparedAppend {
  readonly records: readonly NewRecord[];
  readonly lines: readonly LineText[];
  /** The large values that the lines name. They are written before the lines. */
  readonly blobs: readonly Blob[];
  /** The records' indexes in the order of writing: by kind, and within a kind as they were given. */
  readonly order: readonly number[];
  readonly characters: number;
  /** The first and the last kind that it writes, as places in the order of writing. */
  readonly lowest: number;
  readonly highest: number;
}

/** The order of a single record. */
const alone: readonly number[] = [0];

/**
 * Prepares an append; undefined where there is nothing to add.
 *
 * @throws WindrowError `bad-message` for a record that cannot be stored
 */
export function prepareAppend(mask: Mask, given: readonly NewRecord[]): PreparedAppend | undefined {
  if (given.length === 0) return undefined;
  const records = given.map((record) => prepare(mask, record));
  const blobs: Blob[] = [];
  const spill = spillInto(blobs);
  const lines = records.map((record) => textOf(record, spill));
  const characters = lines.reduce((sum, line) => sum + line.before.length + line.after.length, 0);
  const [first] = records;
  if (records.length === 1 && first) {
    const only = rank(first);
    return { records, lines, blobs, order: alone, characters, lowest: only, highest: only };
  }
  const order = [...records.keys()].sort((a, b) => rank(records[a]!) - rank(records[b]!) || a - b);
  const [lowest, highest] = [rank(records[order[0]!]!), rank(records[order.at(-1)!]!)];
  return { records, lines, blobs, order, characters, lowest, highest };
}

const ranks: ReadonlyMap<RecordKind, number> = new Map(writingOrder.map((kind, index) => [kind, index]));

function rank(record: NewRecord): number {
  return ranks.get(record.kind) ?? 0;
}

/** The record as it will be kept. */
function prepare(mask: Mask, record: NewRecord): NewRecord {
  try {
    return prepareRecord(mask, record);
  } catch (error) {
    throw cannotStore(record.kind, error);
  }
}

/** A record as JSON; one that could not be read back is refused before anything is written. */
function textOf(record: NewRecord, spill: Spill): LineText {
  try {
    const fields = encodeRecord(record, spill);
    decodeRecord(record.kind, { seq: 1, ...fields.before, ...fields.after });
    return lineText(fields);
  } catch (error) {
    throw cannotStore(record.kind, error);
  }
}
