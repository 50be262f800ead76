/** A session's records and its size on disk, counted. */
import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { isWindrowError } from "../../errors.ts";
import type { RecordKind } from "../../message/record.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import type { SessionSize } from "../../store/upkeep.ts";
import { spentBy } from "../look/spent.ts";
import type { Spent } from "../look/spent.ts";
import { sessionTitle } from "../look/title.ts";
import { standingOf } from "../look/standing.ts";
import type { SessionStanding } from "../look/standing.ts";

/** A session in numbers. */
export interface Measured {
  readonly title: string;
  readonly messages: number;
  /** Tokens of the messages, as they were counted when they were appended. */
  readonly historyTokens: number;
  readonly summaries: number;
  /** Summaries that were tried and failed. */
  readonly failedSummaries: number;
  readonly spent: Spent;
  readonly standing: SessionStanding;
  /** Absent where the store cannot tell. */
  readonly size?: SessionSize;
}

/**
 * Counts a session's records, one after the other; of summaries only the newest is read.
 *
 * @returns undefined where the session went meanwhile
 */
export async function measure(store: Store, scope: Scope, info: SessionInfo): Promise<Measured | undefined> {
  const id = info.metadata.uuid;
  return orGone(async () => {
    let [messages, historyTokens] = [0, 0];
    for await (const { seq, tokenCount } of store.read(scope, id, { kind: "message" })) {
      messages = seq;
      historyTokens += tokenCount;
    }
    const summaries = await newestSeq(store, scope, id, "summary");
    let failedSummaries = 0;
    for await (const { type } of store.read(scope, id, { kind: "edit" })) {
      if (type === "summary-failed") failedSummaries += 1;
    }
    const size = await sizeOf(store, scope, info);
    const spent = await spentBy(store, scope, info);
    const standing = await standingOf(store, scope, info);
    const title = await sessionTitle(store, scope, info.metadata);
    return { title, messages, historyTokens, summaries, failedSummaries, spent, standing, ...(size && { size }) };
  });
}

/** How many records of a kind there are: the number of the newest. */
async function newestSeq(store: Store, scope: Scope, id: string, kind: RecordKind): Promise<number> {
  for await (const { seq } of store.read(scope, id, { kind, last: 1 })) return seq;
  return 0;
}

/**
 * The size of a session: the store's own figure, else that of its folder.
 *
 * @returns undefined where the store keeps sessions in no folder and cannot tell, or the session went meanwhile
 */
export async function sizeOf(store: Store, scope: Scope, info: SessionInfo): Promise<SessionSize | undefined> {
  if (store.upkeep) return orGone(() => store.upkeep.size(scope, info.metadata.uuid));
  if (!isAbsolute(info.location)) return undefined;
  return orGone(() => folderSize(info.location));
}

async function folderSize(folder: string): Promise<SessionSize> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    // A draft or a lock may go between the two looks.
    bytes += (await orGone(() => stat(join(entry.parentPath, entry.name))))?.size ?? 0;
  }
  return { bytes, plainBytes: bytes, compressed: false };
}

async function orGone<T>(ask: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isWindrowError(error, "session-not-found") || isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
