/** Dumping a session from Redis and restoring it, with its numbers. */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../../errors.ts";
import type { Mask } from "../../mask/mask.ts";
import { page, parseDocument } from "../format/documents.ts";
import { logKinds, logNames } from "../format/logs.ts";
import { alreadyExists, inScope } from "../shared/rules.ts";
import { recordOf } from "../shared/session-log.ts";
import { admit, compareExisting, parseDumped, weigh } from "../shared/transfer.ts";
import { busy } from "../shared/unlock.ts";
import type { DumpedLine, LogName, Restored, Scope, SessionDump } from "../store.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import { logNumber, rowsIn } from "./log.ts";
import { checkErasing } from "./named.ts";
import { dropStagedScript, showScript, stageScript } from "./scripts.ts";
import { heldBy } from "../shared/remote.ts";
import type { Heart } from "../shared/remote.ts";
import { findRow, hashAnywhere, makeHash } from "./session.ts";
import type { RowHolder, SessionRow } from "./session.ts";

/** Characters and lines written by one script, about. */
const batchCharacters = 2 * 1024 * 1024;
const batchLines = 1_024;

/** The place that a session is restored to, and this process. */
export interface RestoreTarget extends RowHolder {
  readonly place: RedisPlace;
  readonly mask: Mask;
  readonly heart: Pick<Heart, "taking" | "lettingGo">;
  /** The marks of the restores that this store is at. */
  readonly underWay: Set<string>;
}

/** A session as it is now; what is added while it is read does not belong to it. */
export async function dumpSession(place: RedisPlace, row: SessionRow): Promise<SessionDump> {
  const newest = new Map<LogName, number>();
  for (const log of logNames) {
    for await (const { seq } of rowsIn(place, row, log, { last: 1 })) newest.set(log, seq);
  }
  return {
    id: row.id,
    metadata: parseDocument(row.texts.metadata) ?? {},
    state: parseDocument(row.texts.state) ?? {},
    async *lines(): AsyncGenerator<DumpedLine> {
      for (const [log, to] of newest) {
        for await (const { line } of rowsIn(place, row, log, { to })) {
          if (recordOf(logKinds[log], line)) yield { log, line };
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
  const { place } = target;
  const keys = place.keys.of(dump.id);
  const all = [keys.session, ...keys.logs];
  const admitted = admit(scope, target.mask, dump);
  await checkErasing(place, dump.id);
  const existing = await findRow(place, keys.session, dump.id);
  if (existing && existing.restoring === undefined) {
    if (!inScope(scope, existing.metadata)) throw alreadyExists(dump.id);
    return compareExisting(admitted, await dumpSession(place, existing));
  }
  // A restore of this very store that was cut short left it: nobody writes it.
  const isRemnant = existing?.hash.worker === target.worker && !target.underWay.has(existing.restoring ?? "");
  if (existing) await dropDraft(place, existing, isRemnant);
  const { metadata, state } = admitted;
  const mark = randomUUID();
  const drop = async (): Promise<boolean> => Number(await run(place, dropStagedScript, all, [mark])) === 1;
  target.underWay.add(mark);
  try {
    const made = makeHash(place, metadata, target, {
      ...{ metadata: page(admitted.dump.metadata), state: page(admitted.dump.state), status: state.status },
      ...{ generation: 1, head: 0, restoring: mark },
    });
    const isMade = await target.heart.taking(made, drop);
    if (!isMade) throw alreadyExists(dump.id);
    const weighed = weigh(admitted.dump);
    const { head, count } = await writeLines(place, weighed.dump, mark, signal);
    if (Number(await run(place, showScript, [keys.session], [mark, head, count])) !== 1) throw takenOver(dump.id);
    await place.durability.safe(async () => {
      const { made, restoring } = await hashAnywhere(place, dump.id);
      return made === target.holder.taking && restoring === undefined;
    });
    return { outcome: "written", masked: admitted.masked(), hash: weighed.summary().hash };
  } catch (error) {
    // What cannot be removed now is hidden from readers, and removed when the server can be asked, or by the next try.
    await target.heart.lettingGo(async () => void (await drop())).catch(() => undefined);
    throw error;
  } finally {
    target.underWay.delete(mark);
  }
}

/**
 * Removes what a restore left.
 *
 * @param isRemnant - whether nobody writes it, whoever its hash names
 * @throws WindrowError `session-busy` while a process writes it
 */
export async function dropDraft(place: RedisPlace, draft: SessionRow, isRemnant = false): Promise<void> {
  const owner = isRemnant ? undefined : heldBy(draft);
  if (owner) throw busy(owner);
  const { session, logs } = place.keys.of(draft.id);
  await run(place, dropStagedScript, [session, ...logs], [draft.restoring ?? ""]);
}

/** @returns the highest place of all lines, and how many there are */
async function writeLines(
  place: RedisPlace,
  dump: SessionDump,
  mark: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly head: number; readonly count: number }> {
  const { session, logs } = place.keys.of(dump.id);
  let batch: (string | number)[] = [];
  let [characters, head, count] = [0, 0, 0];
  let before = { log: "", seq: 0, twin: 0 };
  const write = async (): Promise<void> => {
    const values = batch;
    batch = [];
    characters = 0;
    if (values.length === 0) return;
    const isAdded = Number(await run(place, stageScript, [session, ...logs], [mark, count, ...values])) === 1;
    if (!isAdded) throw takenOver(dump.id);
    count += values.length / 3;
  };
  for await (const { log, line } of dump.lines()) {
    if (signal?.aborted) throw new WindrowError("aborted", "The restore was stopped; nothing of it was kept.");
    const { seq, pos } = parseDumped({ log, line });
    head = Math.max(head, pos);
    // Lines of one number stand behind each other.
    before = { log, seq, twin: before.log === log && before.seq === seq ? before.twin + 1 : 0 };
    batch.push(logNumber(log), `${seq}-${before.twin}`, line);
    characters += line.length;
    if (characters >= batchCharacters || batch.length >= 3 * batchLines) await write();
  }
  await write();
  return { head, count };
}

function takenOver(id: string): WindrowError {
  return new WindrowError("fenced", `Another process restores session ${id}; nothing of this try was kept.`, { id });
}
