/**
 * The examination of a Postgres store: each session's documents and every line. Nothing is changed unless mending is asked
 * for. Nothing is deleted: rows that are taken out go into the table `aside`.
 */
import { WindrowError } from "../../errors.ts";
import type { JsonObject } from "../../message/message.ts";
import { BadLine } from "../format/fields.ts";
import { decodeMetadata, decodeState, encodeMetadata, encodeState, initialState } from "../format/documents.ts";
import { parseDocument } from "../format/documents.ts";
import { parseLine } from "../format/lines.ts";
import { logKinds, logNames } from "../format/logs.ts";
import { decodeRecord } from "../format/record.ts";
import { checksumOf, sealIn } from "../format/seal.ts";
import { isHeld } from "../shared/holder.ts";
import type { Holder } from "../shared/holder.ts";
import { lossFindings } from "../shared/loss-findings.ts";
import { LossCheck, impliedBy } from "../shared/losses.ts";
import type { Run } from "../shared/losses.ts";
import { formatVersion } from "../shared/rules.ts";
import { StateCount } from "../shared/state-count.ts";
import type { Examined, ExamineOptions, Finding, LogName, SessionMetadata, SessionState } from "../store.ts";
import { putAside } from "./aside.ts";
import type { PostgresRow } from "./client.ts";
import type { Database } from "./database.ts";
import { readCounters, rowsOf } from "./log.ts";

/** Sessions listed at once. */
const pageSessions = 256;

/** The database under examination. */
export interface Examination {
  readonly database: Database;
  /** For the table `aside`: when this examination began. */
  readonly time: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** One session under examination. */
interface ExaminedSession extends Examination {
  readonly id: string;
  readonly key: string;
  readonly mend: boolean;
  readonly findings: Finding[];
  readonly check: LossCheck;
  /** Runs of numbers, by log, in whose place a damaged line stands. */
  readonly inDamage: Set<string>;
  readonly count: StateCount;
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
  const sql = `SELECT * FROM ${schema}.session WHERE key > $1 AND trashed_at IS NULL ORDER BY key LIMIT ${pageSessions}`;
  const drafts: Finding[] = [];
  for (let after = "0"; ;) {
    const page = await asker.ask(sql, [after]);
    for (const row of page) {
      if (signal?.aborted) {
        throw new WindrowError("aborted", "The examination was aborted; what was mended stays mended.");
      }
      after = String(row["key"]);
      const id = String(row["id"]);
      const holder = holderIn(row);
      const isAtWork = holder !== undefined && isHeld(holder, examination.now);
      const check = await checkOf(examination.database, after, row);
      const examined: ExaminedSession = {
        ...{
          ...examination,
          id,
          key: after,
          mend: mend && !isAtWork,
          findings: [],
          check,
          inDamage: new Set<string>(),
        },
        count: new StateCount(new Date(Number(row["created_ms"])).toISOString()),
      };
      if (row["restoring"] === true) {
        await examineDraft(examined, isAtWork);
        drafts.push(...examined.findings);
        continue;
      }
      const logs = await examineLines(examined);
      examineLosses(examined);
      await examineRow(examined, row);
      if (holder && !isAtWork) {
        const message = `Its process ${holder.processId} died without letting go. Resume it, or let the monitor end it.`;
        find(examined, { problem: "holder-gone", severity: "notice", message });
      }
      yield { sessionId: id, ...logs, findings: examined.findings };
    }
    if (page.length < pageSessions) break;
  }
  yield { records: 0, goodBytes: 0, badBytes: 0, findings: drafts };
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
    await setColumns({ asker, schema }, String(row["key"]), metadata, state);
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

function examineLosses(examined: ExaminedSession): void {
  const isTold = (log: LogName, run: Run): boolean => examined.inDamage.has(`${log} ${run.join("-")}`);
  for (const { log, ...finding } of lossFindings(examined.check.result(), isTold, () => false)) {
    find(examined, { ...finding, file: log === undefined ? "session" : `record, ${log}` });
  }
}

async function examineLines(examined: ExaminedSession): Promise<Pick<Examined, "records" | "goodBytes" | "badBytes">> {
  const total = { records: 0, goodBytes: 0, badBytes: 0 };
  for (const log of logNames) {
    let [highest, twice] = [0, 0];
    for await (const { seq, line } of rowsOf(examined.database, examined.key, log)) {
      const bytes = Buffer.byteLength(line);
      const fields = fieldsOf(log, line);
      total[fields ? "goodBytes" : "badBytes"] += bytes;
      if (!fields) {
        const run: Run | undefined = seq > highest ? [highest + 1, seq] : undefined;
        if (run) {
          examined.check.lose(log, run);
          examined.inDamage.add(`${log} ${run.join("-")}`);
        }
        highest = Math.max(highest, seq);
        await findDamaged(examined, log, { seq, line, bytes, run });
        continue;
      }
      total.records += 1;
      const record = decodeRecord(logKinds[log], fields);
      if (record.kind === "usage" || record.kind === "tool" || record.kind === "edit") examined.count.take(record);
      if (record.seq <= highest) twice += 1;
      highest = Math.max(highest, record.seq);
      examined.check.imply(impliedBy(record));
      const pos = fields["pos"] === undefined ? undefined : record.pos;
      examined.check.add(log, { seq: record.seq, pos, checksum: checksumOf({ fields, text: line }) });
    }
    if (twice > 0) {
      const message = `${twice} lines carry a number that came before. Every one is read.`;
      find(examined, { problem: "duplicate-seq", severity: "notice", file: `record, ${log}`, message });
    }
  }
  return total;
}

function fieldsOf(log: LogName, line: string): JsonObject | undefined {
  const [fields] = parseLine(Buffer.from(line)).objects;
  try {
    if (fields) decodeRecord(logKinds[log], fields);
    return fields;
  } catch (error) {
    if (error instanceof BadLine) return undefined;
    throw error;
  }
}

/** A line that is no record stays where it is; what it held is lost. */
async function findDamaged(
  examined: ExaminedSession,
  log: LogName,
  { seq, line, bytes, run }: { seq: number; line: string; bytes: number; run: Run | undefined },
): Promise<void> {
  const { database, id, mend, time } = examined;
  if (mend) await putAside(database, { time, source: `record.${log}.${seq}`, id, content: line });
  const records = run ? run[1] - run[0] + 1 : 0;
  const held = run ? `It held ${records === 1 ? `record ${run[0]}` : `records ${run[0]}–${run[1]}`}, ` : "";
  find(examined, {
    ...{ problem: "damaged", file: `record, ${log}`, offset: seq, length: bytes },
    message: `A damaged line. ${held}${run ? "which" : "It is one that"} no reader finds any more; every line around it is read. Restore the session from a backup.`,
    ...{ remedy: "backup", ...(run && { records }), ...(mend && { keptAs: "aside" }) },
  });
}

/** The documents, and the columns that are copies of what they say. */
async function examineRow(examined: ExaminedSession, row: PostgresRow): Promise<void> {
  const { database, id, key, mend, time } = examined;
  const found = {
    metadata: decodeMetadata(parseDocument(String(row["metadata"])), id),
    state: decodeState(parseDocument(String(row["state"]))),
  };
  const metadata = found.metadata ?? salvaged(id, row);
  const state = found.state ?? counted(examined, metadata);
  for (const [name, text] of [
    ["metadata", found.metadata ? undefined : encodeMetadata(metadata)],
    ["state", found.state ? undefined : encodeState(state)],
  ] as const) {
    if (text === undefined) continue;
    const from = name === "metadata" ? "what its columns say" : "the usage and tool calls, which are counted again";
    const message = `The ${name} cannot be read. It is written anew from ${from}; the old text goes aside.`;
    find(examined, { problem: `${name}-unreadable`, file: "session", message, mended: mend });
    if (!mend) continue;
    await putAside(database, { time, source: `session.${name}`, id, content: String(row[name]) });
    await database.asker.ask(`UPDATE ${database.schema}.session SET ${name} = $2 WHERE key = $1`, [key, text]);
  }
  const same =
    row["status"] === state.status &&
    row["tenant"] === (metadata.tenant ?? null) &&
    row["user"] === (metadata.user ?? null) &&
    Number(row["format"]) === metadata.format;
  if (same) return;
  if (mend) await setColumns(database, key, metadata, state);
  const message = "The columns it is listed by say something else than its metadata and state. They are copied again.";
  find(examined, { problem: "stale-index", file: "session", message, mended: mend });
}

async function setColumns(
  { asker, schema }: Pick<Database, "asker" | "schema">,
  key: string,
  metadata: SessionMetadata,
  state: SessionState,
): Promise<void> {
  const sql = `UPDATE ${schema}.session SET tenant = $2, "user" = $3, status = $4, created_ms = $5, format = $6 WHERE key = $1`;
  const created = Date.parse(metadata.createdAt) || 0;
  const values = [key, metadata.tenant ?? null, metadata.user ?? null, state.status, created, metadata.format];
  await asker.ask(sql, values);
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

function counted({ count }: ExaminedSession, metadata: SessionMetadata): SessionState {
  const { numbers } = count;
  return { ...initialState(metadata.createdAt), ...numbers, status: "processing", lastActivity: "state_rebuilt" };
}

/** Examines the rows that a restore left when it was cut short. */
async function examineDraft(examined: ExaminedSession, isAtWork: boolean): Promise<void> {
  const { database, key, mend } = examined;
  const { asker, schema } = database;
  if (mend) {
    const sql =
      `WITH gone AS (DELETE FROM ${schema}.session WHERE key = $1 AND restoring RETURNING key) ` +
      `DELETE FROM ${schema}.record WHERE session IN (SELECT key FROM gone)`;
    await asker.ask(sql, [key]);
  }
  const severity = isAtWork ? "notice" : "damage";
  const message =
    "The beginning of a session that a restore left when it was cut short. It is taken away: it was a copy.";
  find(examined, { problem: "draft", severity, file: "session", message, mended: mend });
}

function holderIn(row: PostgresRow): Holder | undefined {
  const text = row["holder"];
  return typeof text === "string" ? (parseDocument(text) as unknown as Holder | undefined) : undefined;
}

function find(
  { id, findings }: ExaminedSession,
  finding: Pick<Finding, "problem" | "message"> &
    Partial<Pick<Finding, "severity" | "file" | "offset" | "length" | "mended" | "remedy" | "records" | "keptAs">>,
): void {
  findings.push({ severity: "damage", sessionId: id, mended: false, ...finding });
}
