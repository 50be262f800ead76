/**
 * The examination of a Postgres store: each session's documents and every line. Nothing is changed unless mending is asked
 * for. Nothing is deleted: rows that are taken out go into the table `aside`.
 */
import { WindrowError, isWindrowError } from "../../errors.ts";
import { decodeMetadata, decodeState, encodeMetadata, encodeState } from "../format/documents.ts";
import { parseDocument } from "../format/documents.ts";
import { sealIn } from "../format/seal.ts";
import type { Holder } from "../shared/holder.ts";
import { addFinding, countedState, examineLines, examineLosses } from "../shared/examine-lines.ts";
import type { LinesUnderExamination } from "../shared/examine-lines.ts";
import { LossCheck } from "../shared/losses.ts";
import { heldBy } from "../shared/remote.ts";
import { formatVersion, ownerOf } from "../shared/rules.ts";
import { StateCount } from "../shared/state-count.ts";
import type { Examined, ExamineOptions, Finding, SessionMetadata } from "../store.ts";
import { putAside } from "./aside.ts";
import type { PostgresRow } from "./client.ts";
import type { Database } from "./database.ts";
import { isErased } from "./erasing.ts";
import { readCounters, rowsOf } from "./log.ts";
import { sessionColumns } from "./session.ts";
import type { SessionRow } from "./session.ts";
import { removeStaged } from "./transfer.ts";

/** Sessions listed at once. */
const pageSessions = 256;

/** The database under examination. */
export interface Examination {
  readonly database: Database;
  /** For the table `aside`: when this examination began. */
  readonly time: string;
}

/** One session under examination. */
interface ExaminedSession extends Examination, LinesUnderExamination {
  readonly key: string;
  readonly mend: boolean;
}

/**
 * Examines every session, and last what restores left.
 *
 * @throws WindrowError `aborted`, `store-unavailable`
 */
export async function* examineDatabase(
  examination: Examination,
  { mend = false }: ExamineOptions,
  signal?: AbortSignal,
): AsyncGenerator<Examined> {
  const { asker, schema } = examination.database;
  const sql =
    `SELECT s.status, ${isErased(schema)} AS is_erased, ` +
    `${sessionColumns("$2")} FROM ${schema}.session s LEFT JOIN ${schema}.worker w ON w.id = s.worker ` +
    `WHERE s.key > $1 AND s.trashed_at IS NULL ORDER BY s.key LIMIT ${pageSessions}`;
  const drafts: Finding[] = [];
  for (let after = "0"; ;) {
    const page = await asker.ask(sql, [after, examination.database.now()]);
    for (const row of page) {
      if (signal?.aborted) {
        throw new WindrowError("aborted", "The examination was aborted; what was mended stays mended.");
      }
      after = String(row["key"]);
      const id = String(row["id"]);
      const holder = holderIn(row);
      const silent = row["silent_ms"];
      const silentMs = typeof silent === "number" ? silent : Number.POSITIVE_INFINITY;
      const worker = typeof row["worker"] === "string" ? row["worker"] : undefined;
      const isAtWork = heldBy({ holder, silentMs, worker }) !== undefined;
      const check = await checkOf(examination.database, after, row);
      const key = after;
      const mends = mend && !isAtWork;
      const { database, time } = examination;
      const examined: ExaminedSession = {
        ...{ ...examination, id, key, mend: mends, findings: [], inDamage: new Set(), check },
        count: new StateCount(new Date(Number(row["created_ms"])).toISOString()),
        putAside: mends
          ? async (log, seq, line) => putAside(database, { time, source: `record.${log}.${seq}`, id, content: line })
          : undefined,
        linesOf: (log) => rowsOf(database, { key, id }, log),
        placeOf: (log) => `record, ${log}`,
      };
      if (row["restoring"] === true) {
        // That of an erasure which has not ended is no draft.
        if (row["is_erased"] === true) continue;
        await examineDraft(examined, isAtWork);
        drafts.push(...examined.findings);
        continue;
      }
      const logs = await unlessGone(examineLines(examined));
      if (!logs) continue;
      // The records of an archived session are the archive's.
      const mark = decodeState(parseDocument(String(row["state"])))?.archived;
      if (!mark) examineLosses(examined, "session");
      await examineRow(examined, row);
      if (holder && !isAtWork) {
        const message = `Its process ${holder.processId} died without letting go. Resume it, or let the monitor end it.`;
        addFinding(examined, { problem: "holder-gone", severity: "notice", message });
      }
      const metadata = decodeMetadata(parseDocument(String(row["metadata"])), id) ?? salvaged(id, row);
      const archived = mark && { archived: { mark, owner: ownerOf(metadata) } };
      yield { sessionId: id, ...logs, findings: examined.findings, ...archived };
    }
    if (page.length < pageSessions) break;
  }
  yield { records: 0, goodBytes: 0, badBytes: 0, findings: drafts };
}

/** The outcome of an examination; undefined where the session was erased meanwhile. */
async function unlessGone<T>(examining: Promise<T>): Promise<T | undefined> {
  try {
    return await examining;
  } catch (error) {
    if (isWindrowError(error, "session-not-found")) return undefined;
    throw error;
  }
}

/**
 * Writes the columns that sessions are listed by anew, from the documents they are copies of.
 *
 * @returns how many sessions there are
 */
export async function rebuildColumns({ asker, schema }: Database): Promise<number> {
  let count = 0;
  for (const row of await asker.ask(
    `SELECT key, id, metadata, state FROM ${schema}.session WHERE trashed_at IS NULL`,
  )) {
    const metadata = decodeMetadata(parseDocument(String(row["metadata"])), String(row["id"]));
    const state = decodeState(parseDocument(String(row["state"])));
    if (!metadata || !state) continue;
    const texts = { metadata: String(row["metadata"]), state: String(row["state"]) };
    await setColumns({ asker, schema }, String(row["key"]), { metadata, state, texts });
    count += 1;
  }
  return count;
}

/** The check of a session's losses. The newest place is read now: a writer may add records while the logs are read. */
async function checkOf(database: Database, key: string, row: PostgresRow): Promise<LossCheck> {
  const fields = parseDocument(String(row["state"]));
  const check = new LossCheck(sealIn(fields), (await readCounters(database, key)).pos);
  const state = decodeState(fields);
  if (state && state.llmCallCount + state.toolCallCount > 0) check.imply(1);
  return check;
}

/** The documents, and the columns that are copies of what they say. */
async function examineRow(examined: ExaminedSession, row: PostgresRow): Promise<void> {
  const { database, id, key, mend, time } = examined;
  const found = {
    metadata: decodeMetadata(parseDocument(String(row["metadata"])), id),
    state: decodeState(parseDocument(String(row["state"]))),
  };
  const metadata = found.metadata ?? salvaged(id, row);
  const state = found.state ?? countedState(examined, metadata);
  const texts = { metadata: String(row["metadata"]), state: String(row["state"]) };
  for (const [name, text] of [
    ["metadata", found.metadata ? undefined : encodeMetadata(metadata)],
    ["state", found.state ? undefined : encodeState(state)],
  ] as const) {
    if (text === undefined) continue;
    const from = name === "metadata" ? "what its columns say" : "the usage and tool calls, which are counted again";
    const message = `The ${name} cannot be read. It is written anew from ${from}; the old text goes aside.`;
    addFinding(examined, { problem: `${name}-unreadable`, file: "session", message, mended: mend });
    if (!mend) continue;
    await putAside(database, { time, source: `session.${name}`, id, content: String(row[name]) });
    const sql = `UPDATE ${database.schema}.session SET ${name} = $2 WHERE key = $1 AND ${name} = $3`;
    await database.asker.ask(sql, [key, text, row[name]]);
    texts[name] = text;
  }
  // Sessions of earlier versions may have names that columns change.
  const same =
    row["status"] === state.status &&
    row["tenant"] === (metadata.tenant?.toWellFormed() ?? null) &&
    row["user"] === (metadata.user?.toWellFormed() ?? null) &&
    Number(row["format"]) === metadata.format;
  if (same) return;
  if (mend) await setColumns(database, key, { metadata, state, texts });
  const message = "The columns it is listed by say something else than its metadata and state. They are copied again.";
  addFinding(examined, { problem: "stale-index", file: "session", message, mended: mend });
}

/** Copies what the documents say into the columns, unless a process wrote them since. */
async function setColumns(
  { asker, schema }: Pick<Database, "asker" | "schema">,
  key: string,
  { metadata, state, texts }: Pick<SessionRow, "metadata" | "state" | "texts">,
): Promise<void> {
  const sql =
    `UPDATE ${schema}.session SET tenant = $2, "user" = $3, status = $4, created_ms = $5, format = $6 WHERE key = $1 ` +
    "AND metadata = $7 AND state = $8";
  const created = Date.parse(metadata.createdAt) || 0;
  const values = [key, metadata.tenant ?? null, metadata.user ?? null, state.status, created, metadata.format];
  await asker.ask(sql, [...values, texts.metadata, texts.state]);
}

function salvaged(id: string, row: PostgresRow): SessionMetadata {
  const { user, tenant } = row;
  return {
    ...{
      uuid: id,
      taskKey: {},
      createdAt: new Date(Number(row["created_ms"])).toISOString(),
      processId: 0,
      hostname: "",
    },
    config: {},
    ...(typeof user === "string" && { user }),
    ...(typeof tenant === "string" && { tenant }),
    format: Number(row["format"]) || formatVersion,
  };
}

/** Examines the rows that a restore left when it was cut short. */
async function examineDraft(examined: ExaminedSession, isAtWork: boolean): Promise<void> {
  const { database, key, mend } = examined;
  const mended = mend && (await removeStaged(database, key));
  const severity = isAtWork ? "notice" : "damage";
  const message =
    "The beginning of a session that a restore left when it was cut short. It is taken away: it was a copy.";
  addFinding(examined, { problem: "draft", severity, file: "session", message, mended });
}

function holderIn(row: PostgresRow): Holder | undefined {
  const text = row["holder"];
  return typeof text === "string" ? (parseDocument(text) as unknown as Holder | undefined) : undefined;
}
