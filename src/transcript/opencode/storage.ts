/**
 * opencode's storage as the documents that `opencode export` prints: its database since 1.2, before it a folder of JSON
 * files, `session/<project>/<session>.json`, `message/<session>/<message>.json` and `part/<message>/<part>.json`.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { asString, defined, fieldsOf, parseJson } from "../../message/json.ts";
import { checkNoOpenDatabase } from "../../store/sqlite/connection/file.ts";
import type { SqliteDatabase, SqlRow } from "../../store/sqlite/connection/driver.ts";
import { ReadMeter } from "../limits.ts";
import type { ReadLimits } from "../limits.ts";

/** Options of {@link storedSessions}. */
export interface StorageOptions {
  readonly limits?: ReadLimits | undefined;
  /** A text that the JSON of a part must hold to be read. Default: all parts are. */
  readonly partsWith?: string;
  readonly signal?: AbortSignal | undefined;
}

/** A session as `opencode export` prints it. */
export interface StoredSession {
  readonly info: JsonObject;
  readonly messages: readonly { readonly info: JsonValue; readonly parts: readonly JsonValue[] }[];
}

/** Whether a path is a database, opencode's folder `storage`, or a session's folder of messages in it. */
export async function isOpenCodeStorage(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) return found !== undefined && /\.(?:db|sqlite3?)$/.test(path);
  return (await isFolder(join(rootOf(path), "message"))) && isFolder(join(rootOf(path), "part"));
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

/** The folder `storage` of a path within it. */
function rootOf(path: string): string {
  const parent = dirname(resolve(path));
  return basename(parent) === "message" ? dirname(parent) : path;
}

/**
 * The sessions of a database, of a folder `storage`, or of one session's folder of messages, oldest first. Nothing is
 * written. What is no JSON becomes an object without fields.
 *
 * @throws WindrowError `store-unavailable` where no driver of SQLite is there, `not-a-transcript` for a database without
 *   opencode's tables, `input-unreadable`, `input-too-large`, `aborted`
 */
export async function* storedSessions(path: string, options: StorageOptions = {}): AsyncGenerator<StoredSession> {
  const meter = new ReadMeter(path, options.limits);
  const parsed: Parsed = (text, more) => {
    options.signal?.throwIfAborted();
    meter.addText(Buffer.from(text));
    meter.addEntries(1);
    return { ...fieldsOf(parseJson(text)), ...more };
  };
  const sessions = (await isFolder(path)) ? folderSessions : databaseSessions;
  try {
    for await (const session of sessions(path, parsed, options.partsWith ?? "")) {
      if (session.messages.length > 0) yield session;
    }
  } catch (cause) {
    if (options.signal?.aborted) throw new WindrowError("aborted", `Reading ${path} was aborted`, { path }, { cause });
    if (isWindrowError(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WindrowError("input-unreadable", `${path} cannot be read: ${reason}`, { path }, { cause });
  }
}

/** Parses a JSON object, and sets what its place says of it. */
type Parsed = (text: string, more: JsonObject) => JsonObject;

const messagesOf = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id";
const partsOf = "SELECT message_id, data FROM part WHERE session_id = ? AND instr(data, ?) > 0 ORDER BY message_id, id";

async function* databaseSessions(path: string, parsed: Parsed, partsWith: string): AsyncGenerator<StoredSession> {
  checkNoOpenDatabase(path);
  const [{ sqliteDriver }, { openReadOnly }] = await Promise.all([
    import("../../store/open.ts"),
    import("../../store/sqlite/connection/read-only.ts"),
  ]);
  const { database } = openReadOnly(path, await sqliteDriver());
  try {
    const tables = rowsOf(database, "SELECT name FROM sqlite_schema WHERE name IN ('session', 'message', 'part')");
    if (tables.length < 3) {
      const message = `${path} is a database, but none of opencode. A store of Windrow is named by --store sqlite:${path}.`;
      throw new WindrowError("not-a-transcript", message, { path });
    }
    for (const row of rowsOf(database, "SELECT * FROM session ORDER BY time_created, id")) {
      const session = String(row["id"]);
      const parts = new Map<unknown, JsonValue[]>();
      for (const part of rowsOf(database, partsOf, session, partsWith)) {
        const list = parts.get(part["message_id"]) ?? [];
        parts.set(part["message_id"], list);
        list.push(parsed(String(part["data"]), {}));
      }
      const { directory, version, title, parent_id: parentID, revert } = row;
      yield {
        info: defined({
          ...{ id: session, directory: asString(directory), version: asString(version) },
          ...{ title: asString(title), parentID: asString(parentID), revert: parseJson(String(revert)) },
        }),
        messages: rowsOf(database, messagesOf, session).map(({ id, data }) => ({
          info: parsed(String(data), { id: String(id) }),
          parts: parts.get(id) ?? [],
        })),
      };
    }
  } finally {
    database.close();
  }
}

function rowsOf(database: SqliteDatabase, sql: string, ...values: readonly string[]): readonly SqlRow[] {
  return database.prepare(sql).all(...values) as SqlRow[];
}

async function* folderSessions(path: string, parsed: Parsed, partsWith: string): AsyncGenerator<StoredSession> {
  const root = rootOf(path);
  const documents = async (kind: string, owner: string, needle = ""): Promise<readonly JsonObject[]> => {
    const place = join(root, kind, owner);
    const all: JsonObject[] = [];
    for (const name of (await namesIn(place)).filter((file) => file.endsWith(".json"))) {
      const text = await readFile(join(place, name), "utf8").catch(() => "");
      if (text.includes(needle)) all.push(parsed(text, { id: basename(name, ".json") }));
    }
    return all;
  };
  const infos = new Map<string, JsonObject>();
  for (const project of await namesIn(join(root, "session")))
    for (const info of await documents("session", project)) infos.set(asString(info["id"]) ?? "", info);
  // opencode's ids of sessions fall with time.
  const ids = root === path ? (await namesIn(join(root, "message"))).toReversed() : [basename(path)];
  for (const id of ids) {
    const messages: StoredSession["messages"][number][] = [];
    for (const info of await documents("message", id))
      messages.push({ info, parts: await documents("part", asString(info["id"]) ?? "", partsWith) });
    yield { info: infos.get(id) ?? { id }, messages };
  }
}

/** The names in a folder, in order; none where it is missing. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(() => [])).toSorted((one, other) => (one < other ? -1 : 1));
}
