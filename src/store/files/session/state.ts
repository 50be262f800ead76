/** The state of a session, counted again from its logs where a power cut took state.json. */
import { constants } from "node:fs";
import { join } from "node:path";
import { isWindrowError } from "../../../errors.ts";
import type { RecordKind, StoredRecord } from "../../../message/record.ts";
import type { SessionMetadata, SessionState } from "../../store.ts";
import { initialState } from "../../format/documents.ts";
import { kindFiles } from "../../format/logs.ts";
import { readState } from "../../format/documents.ts";
import type { Disk } from "../../../disk/disk.ts";
import { systemDisk } from "../../../disk/disk.ts";
import type { Place } from "../layout.ts";
import { systemCode } from "../../../disk/safe-write.ts";
import { readRecords } from "../log/reader.ts";

/** Looks for a state before it counts as lost. */
const looks = 3;

/** A session's state: as state.json has it, else rebuilt from usage.jsonl and tools.jsonl. */
export async function stateOf(place: Place, metadata: SessionMetadata, disk: Disk = systemDisk): Promise<SessionState> {
  // Gone from its folder, and there again: it was in the trash meanwhile.
  for (let look = 1; look <= looks; look += 1) {
    const state = readState(place.folder, disk);
    if (state) return state;
  }
  return rebuildState(place, metadata, disk);
}

async function rebuildState(place: Place, metadata: SessionMetadata, disk: Disk): Promise<SessionState> {
  let calls = 0;
  let tokens = 0;
  let tools = 0;
  let last = metadata.createdAt;
  await eachRecord(disk, place, "usage", (record) => {
    if (record.kind !== "usage") return;
    if (record.purpose === "turn") calls += 1;
    tokens += (record.usage.input ?? 0) + (record.usage.output ?? 0);
    last = record.timestamp;
  });
  await eachRecord(disk, place, "tool", () => {
    tools += 1;
  });
  return {
    ...initialState(metadata.createdAt),
    status: place.completed ? "completed" : "processing",
    updatedAt: last,
    completedAt: place.completed ? last : null,
    llmCallCount: calls,
    toolCallCount: tools,
    totalTokensUsed: tokens,
    lastActivity: "state_rebuilt",
  };
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
