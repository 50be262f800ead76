/**
 * The examination of metadata.json and state.json. One that cannot be read is written anew from the rest of the
 * session.
 */
import { closeSync, existsSync, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isWindrowError } from "../../../errors.ts";
import type { JsonObject, JsonValue } from "../../../message/message.ts";
import { formatVersion } from "../../shared/rules.ts";
import type { SessionMetadata } from "../../store.ts";
import { kindFiles } from "../../format/logs.ts";
import { encodeMetadata, encodeState, parseDocument, readMetadata, readState } from "../../format/documents.ts";
import type { Examination } from "./examination.ts";
import { find, moveAside } from "./examination.ts";
import { readIndex } from "./index-lines.ts";
import { metadataFile, stateFile } from "../../format/documents.ts";
import { replaceFile } from "../../../disk/safe-write.ts";
import { readRecords } from "../log/reader.ts";
import { stateOf } from "../session/state.ts";

/**
 * Examines metadata.json and state.json of a session.
 *
 * @returns the metadata, as far as it can be read
 */
export async function examineDocuments(examination: Examination): Promise<SessionMetadata> {
  const metadata = await examineMetadata(examination);
  await examineState(examination, metadata);
  return metadata;
}

async function examineMetadata(examination: Examination): Promise<SessionMetadata> {
  const { place, mend } = examination;
  const path = join(place.folder, metadataFile);
  try {
    return readMetadata(place.folder, place.id);
  } catch (error) {
    if (!isWindrowError(error, "store-corrupt")) throw error;
  }
  const salvaged = await salvage(examination, path);
  const keptAs = await rewrite(examination, path, encodeMetadata(salvaged));
  const message =
    "It is missing or unreadable, so the session cannot be opened. It is written anew with what can still be read; what " +
    "cannot (task_key, config, user, tenant) is left out, so look it over.";
  find(examination, path, { problem: "metadata-unreadable", message, mended: mend, ...(keptAs && { keptAs }) });
  return salvaged;
}

async function examineState(examination: Examination, metadata: SessionMetadata): Promise<void> {
  const { place, mend } = examination;
  if (readState(place.folder)) return;
  const path = join(place.folder, stateFile);
  const problem = existsSync(path) ? "state-unreadable" : "state-missing";
  const keptAs = await rewrite(examination, path, encodeState(await stateOf(place, metadata)));
  const message = "The state is counted again from usage.jsonl and tools.jsonl, and written anew.";
  find(examination, path, { problem, message, mended: mend, ...(keptAs && { keptAs }) });
}

/** Replaces a document, after moving aside the one that cannot be read. */
async function rewrite(examination: Examination, path: string, content: string): Promise<string | undefined> {
  if (!examination.mend) return undefined;
  const keptAs = existsSync(path) ? await moveAside(examination, path) : undefined;
  await replaceFile(path, content, true);
  return keptAs;
}

/** The metadata as far as the text of the broken file, the index, the messages and the file system still tell it. */
async function salvage({ layout, place }: Examination, path: string): Promise<SessionMetadata> {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const indexed = readIndex(layout).known.get(place.id) ?? {};
  const string = (name: string): string | undefined => {
    const value = valueOf(text, name, '"(?:[^"\\\\]|\\\\.)*"');
    const found = value ?? indexed[name];
    return typeof found === "string" ? found : undefined;
  };
  const number = (name: string): number | undefined => {
    const value = valueOf(text, name, "\\d{1,15}");
    return typeof value === "number" ? value : undefined;
  };
  const user = string("user");
  const tenant = string("tenant");
  return {
    uuid: place.id,
    taskKey: objectOf(text, "task_key"),
    createdAt: string("created_at") ?? (await firstTime(place.folder)),
    processId: number("process_id") ?? 0,
    hostname: string("hostname") ?? "",
    config: objectOf(text, "config"),
    ...(user === undefined ? {} : { user }),
    ...(tenant === undefined ? {} : { tenant }),
    format: number("format") ?? formatVersion,
  };
}

/** The value a text has under a name, where it is whole. */
function valueOf(text: string, name: string, pattern: string): JsonValue | undefined {
  const found = new RegExp(`"${name}"\\s*:\\s*(${pattern})\\s*[,}]`).exec(text)?.[1];
  if (found === undefined) return undefined;
  try {
    return JSON.parse(found) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The object a text has under a name: the first closing brace behind which it is JSON ends it. */
function objectOf(text: string, name: string): JsonObject {
  const start = new RegExp(`"${name}"\\s*:\\s*(?=\\{)`).exec(text);
  const from = start ? start.index + start[0].length : text.length;
  for (let end = text.indexOf("}", from); end >= 0; end = text.indexOf("}", end + 1)) {
    const object = parseDocument(text.slice(from, end + 1));
    if (object) return object;
  }
  return {};
}

async function firstTime(folder: string): Promise<string> {
  const path = join(folder, kindFiles.message);
  if (!existsSync(path)) return statSync(folder).mtime.toISOString();
  const file = openSync(path, "r");
  try {
    for await (const record of readRecords(file, { kind: "message", limit: 1 }, "finished", () => undefined)) {
      if (record.kind === "message") return record.timestamp;
    }
    return statSync(path).birthtime.toISOString();
  } finally {
    closeSync(file);
  }
}
