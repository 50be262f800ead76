/** Dumping a session from a database and restoring it, with its numbers. */
import { WindrowError } from "../../errors.ts";
import type { Mask } from "../../mask/mask.ts";
import { page, parseDocument } from "../format/documents.ts";
import { isHeld, ownerOf } from "../shared/holder.ts";
import type { Taker } from "../shared/holder.ts";
import { busy } from "../shared/unlock.ts";
import { alreadyExists, inScope, notFound } from "../shared/rules.ts";
import { deleteAll, freeId } from "./erasing.ts";
import { isHolder, takingOf } from "./held.ts";
import { columnValues, insertLine } from "./tables.ts";
import type { Connection } from "./connection/driver.ts";
import { newestOf, recordOf, rowsOf } from "./log.ts";
import { findRow, insertRow } from "./session.ts";
import type { Writer } from "./connection/writer.ts";
import type { DumpedLine, Restored, Scope, SessionDump } from "../store.ts";
import { admit, compareExisting, parseDumped, weigh } from "../shared/transfer.ts";
import { logKinds, logNames } from "../format/logs.ts";
import type { Admitted } from "../shared/transfer.ts";

/** Characters written in one transaction, about. */
const batchCharacters = 1024 * 1024;

/** The database that a session is restored to. */
export interface RestoreTarget {
  readonly connection: Connection;
  readonly writer: Writer;
  readonly mask: Mask;
  /** This process. */
  readonly holder: Taker;
  now(): number;
}

/** A session as it is now; what is added while it is read does not belong to it. */
export function dumpSession(connection: Connection, id: string): SessionDump {
  const { row, newest } = connection.snapshot(() => {
    const found = findRow(connection, id);
    if (!found) throw notFound(id);
    return { row: found, newest: logNames.map((log) => newestOf(connection, id, log)) };
  });
  const { texts } = row;
  return {
    id,
    metadata: parseDocument(texts.metadata) ?? {},
    state: parseDocument(texts.state) ?? {},
    async *lines(): AsyncGenerator<DumpedLine> {
      for (const [index, log] of logNames.entries()) {
        const kind = logKinds[log];
        for await (const { line } of rowsOf(connection, row, log, newest[index] ?? 0)) {
          if (recordOf(kind, line)) yield { log, line };
        }
      }
    },
  };
}

/**
 * Writes a session that nobody sees until all of it is there. What an earlier try left is thrown away.
 *
 * @throws WindrowError as {@link Store.restore} says
 */
export async function restoreSession(
  target: RestoreTarget,
  scope: Scope,
  dump: SessionDump,
  signal?: AbortSignal,
): Promise<Restored> {
  const { connection, writer } = target;
  const admitted = admit(scope, target.mask, dump);
  const existing = findRow(connection, dump.id);
  if (existing && !existing.restoring) {
    if (!inScope(scope, existing.metadata)) throw alreadyExists(dump.id);
    return compareExisting(admitted, dumpSession(connection, dump.id));
  }
  const holder = await stage(target, admitted);
  try {
    const weighed = weigh(admitted.dump);
    await writeLines(target, weighed.dump, holder, signal);
    await writer.commit(true, () => {
      checkMine(connection, dump.id, holder);
      connection.run("UPDATE sessions SET restoring = 0, holder = NULL, generation = 0 WHERE id = ?", dump.id);
    });
    return { outcome: "written", masked: admitted.masked(), hash: weighed.summary().hash };
  } catch (error) {
    // A row that cannot be removed now is hidden from readers; the next try removes it.
    await discard(target, dump.id, holder).catch(() => undefined);
    throw error;
  }
}

/** Makes the row of a session that is being restored. */
function stage(target: RestoreTarget, { dump, metadata, state }: Admitted): Promise<Taker> {
  const { connection } = target;
  return target.writer.commit(true, () => {
    const found = findRow(connection, dump.id);
    const isUnderWay = found?.restoring === true && found.holder && isHeld(found.holder, target.now());
    if (isUnderWay && found.holder) throw busy(ownerOf(found.holder));
    freeId(connection, metadata, target.now());
    const holder = { ...target.holder, generation: (found?.generation ?? 0) + 1 };
    const texts = { metadata: page(dump.metadata), state: page(dump.state) };
    insertRow(connection, { metadata, state, holder, restoring: true }, texts);
    return holder;
  });
}

async function writeLines(
  target: RestoreTarget,
  dump: SessionDump,
  holder: Taker,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { connection, writer } = target;
  let batch: DumpedLine[] = [];
  let characters = 0;
  const write = async (): Promise<void> => {
    const lines = batch;
    batch = [];
    characters = 0;
    await writer.commit(false, () => {
      checkMine(connection, dump.id, holder);
      for (const one of lines) {
        const { fields, seq, pos } = parseDumped(one);
        connection.run(insertLine[one.log], dump.id, seq, pos, ...columnValues(one.log, fields), one.line);
      }
    });
  };
  for await (const one of dump.lines()) {
    if (signal?.aborted) throw new WindrowError("aborted", "The restore was stopped; nothing of it was kept.");
    batch.push(one);
    characters += one.line.length;
    if (characters >= batchCharacters) await write();
  }
  await write();
}

async function discard({ connection, writer }: RestoreTarget, id: string, holder: Taker): Promise<void> {
  await writer.commit(false, () => {
    if (isMine(connection, id, holder)) deleteAll(connection, id);
  });
}

/** Whether this very restore still writes the session. */
function isMine(connection: Connection, id: string, holder: Taker): boolean {
  const sql = `SELECT id FROM sessions WHERE restoring = 1 AND ${isHolder}`;
  return connection.get(sql, ...takingOf(id, holder)) !== undefined;
}

function checkMine(connection: Connection, id: string, holder: Taker): void {
  if (isMine(connection, id, holder)) return;
  throw new WindrowError("fenced", `Another process restores session ${id}; nothing of this try was kept.`, { id });
}
