/**
 * Usage in opencode's storage: the database `opencode.db` since 1.2, before it one JSON file for each message in
 * `storage/message/<session>/`. An answer is one message, with the tokens of its call.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../message/message.ts";
import { asCount, asName, asObject, parseJson } from "../../message/json.ts";
import type { SqliteDatabase } from "../../store/sqlite/connection/driver.ts";
import { CallList, timeOf } from "./usage.ts";
import type { CallUsage } from "./usage.ts";

/** Rows of the database that are in memory at once. */
const rowsAtOnce = 5_000;

const fields: Readonly<Record<string, string>> = {
  model: "$.modelID",
  cwd: "$.path.cwd",
  completed: "$.time.completed",
  created: "$.time.created",
  input: "$.tokens.input",
  output: "$.tokens.output",
  reasoning: "$.tokens.reasoning",
  read: "$.tokens.cache.read",
  written: "$.tokens.cache.write",
};

/** A page of answers by rowid. Only the fields that are counted leave the database. */
const query =
  "SELECT rowid AS place, id, session_id AS session, " +
  Object.entries(fields)
    .map(([name, path]) => `json_extract(data, '${path}') AS ${name}`)
    .join(", ") +
  " FROM message WHERE rowid > ? AND json_valid(data) AND json_extract(data, '$.role') = 'assistant'" +
  " ORDER BY rowid LIMIT ?";

/**
 * The calls in opencode's database, which is only read.
 *
 * @throws WindrowError `store-unavailable` where no driver of SQLite is there; what the driver throws
 */
export async function openCodeDatabase(path: string, signal?: AbortSignal): Promise<readonly CallUsage[]> {
  const [{ sqliteDriver }, { openReadOnly }] = await Promise.all([
    import("../../store/open.ts"),
    import("../../store/sqlite/connection/read-only.ts"),
  ]);
  const { database } = openReadOnly(path, await sqliteDriver());
  try {
    return answers(database, signal);
  } finally {
    database.close();
  }
}

function answers(database: SqliteDatabase, signal: AbortSignal | undefined): readonly CallUsage[] {
  const page = database.prepare(query);
  const calls = new CallList();
  for (let place = 0; ;) {
    signal?.throwIfAborted();
    const rows = page.all(place, rowsAtOnce) as JsonObject[];
    for (const row of rows) addCall(row, calls);
    const last = asCount(rows.at(-1)?.["place"]);
    if (last === undefined) return calls.end("");
    place = last;
  }
}

/** The calls of a session's folder of messages, as versions before 1.2 wrote it. */
export async function openCodeFolder(folder: string, signal?: AbortSignal): Promise<readonly CallUsage[]> {
  const calls = new CallList();
  for (const name of (await readdir(folder)).filter((file) => file.endsWith(".json")).sort()) {
    signal?.throwIfAborted();
    const message = asObject(parseJson(await readFile(join(folder, name), "utf8").catch(() => "")));
    const [tokens, time] = [asObject(message?.["tokens"]), asObject(message?.["time"])];
    if (!message || message["role"] !== "assistant" || !tokens) continue;
    const cache = asObject(tokens["cache"]);
    addCall(
      {
        id: message["id"] ?? name,
        session: message["sessionID"] ?? folder,
        model: message["modelID"] ?? "",
        cwd: asObject(message["path"])?.["cwd"] ?? "",
        completed: time?.["completed"] ?? null,
        created: time?.["created"] ?? null,
        input: tokens["input"] ?? 0,
        output: tokens["output"] ?? 0,
        reasoning: tokens["reasoning"] ?? 0,
        read: cache?.["read"] ?? 0,
        written: cache?.["write"] ?? 0,
      },
      calls,
    );
  }
  return calls.end("");
}

/** Cached tokens stand beside the input, and reasoning beside the output. */
function addCall(row: JsonObject, calls: CallList): void {
  const of = (field: string): number => asCount(row[field]) ?? 0;
  calls.add(asName(row["id"]) ?? "", {
    time: timeOf(row["completed"]) ?? timeOf(row["created"]),
    model: asName(row["model"]) ?? "",
    project: asName(row["cwd"]) ?? "",
    input: of("input") + of("read") + of("written"),
    output: of("output") + of("reasoning"),
    cacheRead: of("read"),
    cacheWrite: of("written"),
    longWrite: 0,
    chain: asName(row["session"]) ?? "",
  });
}
