/** The system prompts and tools of a session's requests, from the lines of its `edits.jsonl`. */
import type { EditRecord } from "../../message/record.ts";
import { decodeRecord } from "../../store/format/record.ts";
import { BadLine } from "../../store/format/fields.ts";
import { asObject } from "../../message/json.ts";
import { outlineOf } from "../../window/epoch/record.ts";
import { SentReader } from "../../window/sent.ts";
import type { TranscriptBlocks } from "../transcript.ts";

/** Reads the blocks of each epoch that has others than the one before. Lines that are no records are passed over. */
export function sentBlocks(lines: readonly unknown[]): readonly TranscriptBlocks[] {
  const reader = new SentReader();
  const found: TranscriptBlocks[] = [];
  for (const line of lines) {
    const record = editOf(line);
    const epoch = record?.type === "epoch" ? outlineOf(record.data) : undefined;
    if (record && !epoch) reader.take(record);
    if (!epoch) continue;
    const before = reader.blocks;
    reader.change(epoch);
    const { blocks } = reader;
    if (blocks.system === before.system && blocks.tools === before.tools) continue;
    found.push({ at: epoch.state.opened, ...blocks });
  }
  return found;
}

function editOf(line: unknown): EditRecord | undefined {
  try {
    const record = decodeRecord("edit", asObject(line) ?? {});
    return record.kind === "edit" ? record : undefined;
  } catch (error) {
    if (error instanceof BadLine) return undefined;
    throw error;
  }
}
