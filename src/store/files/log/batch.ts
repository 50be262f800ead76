/** Appends that wait together: which of them share a write, and where their lines go in its buffer. */
import type { RecordKind, StoredRecord } from "../../../message/record.ts";
import { lineRoom } from "../../format/lines.ts";
import type { PreparedAppend } from "./append.ts";
import type { LogFile } from "./log-file.ts";

/** Characters of JSON that one write takes at most, unless a single append has more. */
const groupCharacters = 8 * 1024 * 1024;

/** One call of `append`, waiting. */
export interface Pending extends PreparedAppend {
  readonly resolve: (stored: readonly StoredRecord[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The lines that a group of appends writes to one log. */
export interface Batch {
  readonly log: LogFile;
  /** Its part of the buffer in which the group's lines are put together, from `start` to `end`. */
  readonly start: number;
  end: number;
  seq: number;
  pos: number;
  /** Lines still to come: a reader that does not find them knows that a crash cut the write, and leaves it all out. */
  left: number;
  readonly isAlone: boolean;
}

/**
 * Takes the appends that can share a write from the queue. `pos` follows the order of writing, and so an append whose
 * kinds come before those of its predecessor starts a new group: after a crash the numbers then have no gap.
 */
export function takeGroup(queue: Pending[]): readonly Pending[] {
  const group: Pending[] = [];
  let characters = 0;
  let highest = 0;
  for (const pending of queue) {
    characters += pending.characters;
    if (group.length > 0 && (pending.lowest < highest || characters > groupCharacters)) break;
    highest = pending.highest;
    group.push(pending);
  }
  queue.splice(0, group.length);
  return group;
}

/** A batch for each log of a group, one behind the other in a buffer of so many bytes. */
export function batchesOf(
  group: readonly Pending[],
  logOf: (kind: RecordKind) => LogFile,
): { readonly batches: ReadonlyMap<RecordKind, Batch>; readonly bytes: number } {
  const rooms = new Map<RecordKind, { lines: number; bytes: number }>();
  for (const { records, lines } of group) {
    for (const [index, { kind }] of records.entries()) {
      const room = rooms.get(kind) ?? { lines: 0, bytes: 0 };
      room.lines += 1;
      room.bytes += lineRoom(lines[index]!);
      rooms.set(kind, room);
    }
  }
  const batches = new Map<RecordKind, Batch>();
  let start = 0;
  for (const [kind, { lines, bytes }] of rooms) {
    const log = logOf(kind);
    const numbers = { seq: log.seq, pos: log.pos, left: lines, isAlone: lines === 1 };
    batches.set(kind, { log, start, end: start, ...numbers });
    start += bytes;
  }
  return { batches, bytes: start };
}
