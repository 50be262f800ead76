/** The state of a session, counted again from its logs where a power cut took state.json. */
import { constants } from "node:fs";
import { dirname, join } from "node:path";
import { isWindrowError } from "../../../errors.ts";
import type { RecordKind, StoredRecord } from "../../../message/record.ts";
import type { FinalStatus, SessionMetadata, SessionState } from "../../store.ts";
import { initialState } from "../../format/documents.ts";
import { kindFiles } from "../../format/logs.ts";
import { StateCount, atLeast } from "../../shared/state-count.ts";
import { readState } from "../../format/documents.ts";
import type { Disk } from "../../../disk/disk.ts";
import { systemDisk } from "../../../disk/disk.ts";
import { indexFile, readEntries } from "../index-file.ts";
import type { Place } from "../layout.ts";
import { systemCode } from "../../../disk/safe-write.ts";
import { readRecords } from "../log/reader.ts";
import { noteIn } from "./archived.ts";

/** Looks for a state before it counts as lost. */
const looks = 3;

/** A session's state: as state.json has it, else rebuilt from usage.jsonl, tools.jsonl and edits.jsonl. */
export async function stateOf(place: Place, metadata: SessionMetadata, disk: Disk = systemDisk): Promise<SessionState> {
  // Gone from its folder, and there again: it was in the trash meanwhile.
  for (let look = 1; look <= looks; look += 1) {
    const state = readState(place.folder, disk);
    if (state) return withMark(place, state, disk);
  }
  return withMark(place, await rebuildState(place, metadata, disk), disk);
}

function withMark({ folder }: Place, state: SessionState, disk: Disk): SessionState {
  const { mark } = noteIn(folder, disk);
  return mark ? { ...state, archived: mark } : state;
}

/**
 * The state behind a writer that died: its numbers counted again, since what was written last may not have reached
 * state.json.
 */
export async function recounted(
  place: Place,
  metadata: SessionMetadata,
  state: SessionState,
  disk: Disk = systemDisk,
): Promise<SessionState> {
  return atLeast(state, (await countedIn(place, metadata, disk)).numbers);
}

async function rebuildState(place: Place, metadata: SessionMetadata, disk: Disk): Promise<SessionState> {
  const { numbers, ended } = await countedIn(place, metadata, disk);
  const rebuilt = { ...initialState(metadata.createdAt), ...numbers, lastActivity: "state_rebuilt" };
  if (!place.completed) return { ...rebuilt, status: "processing" };
  const status = endedAs(place, disk) ?? ended?.status ?? "completed";
  const error = ended?.status === status ? ended.error : null;
  return { ...rebuilt, status, error, completedAt: numbers.updatedAt };
}

/** The status that a session ended with, as the index has it. */
function endedAs({ id, folder }: Place, disk: Disk): FinalStatus | undefined {
  let status: FinalStatus | undefined;
  let index = "";
  try {
    index = disk.readFile(join(dirname(dirname(folder)), indexFile)).toString("utf8");
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
  for (const entry of readEntries(index.split("\n").filter((line) => line.includes(id)))) {
    if (entry.id === id) status = entry.status ?? status;
  }
  return status;
}

async function countedIn(place: Place, { createdAt }: SessionMetadata, disk: Disk): Promise<StateCount> {
  const count = new StateCount(createdAt);
  for (const kind of ["usage", "tool", "edit"] as const) {
    await eachRecord(disk, place, kind, (record) => {
      if (record.kind === kind) count.take(record);
    });
  }
  return count;
}

async function eachRecord(
  disk: Disk,
  place: Place,
  kind: RecordKind,
  visit: (record: StoredRecord) => void,
): Promise<void> {
  let file: number;
  try {
    file = disk.open(join(place.folder, kindFiles[kind]), constants.O_RDONLY);
  } catch (error) {
    // One that cannot be read adds nothing; who reads it is told why.
    if (systemCode(error) === "ENOENT" || isWindrowError(error, "store-corrupt")) return;
    throw error;
  }
  try {
    for await (const record of readRecords(file, { kind }, "finished", () => undefined, undefined, disk)) visit(record);
  } finally {
    disk.close(file);
  }
}
