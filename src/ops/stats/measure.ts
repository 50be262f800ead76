/** A session's records and its size on disk, counted. */
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import type { SessionSize } from "../../store/upkeep.ts";
import { orUndefined } from "../look/errors.ts";
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
  return orUndefined(async () => {
    let [messages, historyTokens] = [0, 0];
    for await (const { seq, tokenCount } of store.read(scope, id, { kind: "message" })) {
      messages = seq;
      historyTokens += tokenCount;
    }
    let summaries = 0;
    for await (const { seq } of store.read(scope, id, { kind: "summary", last: 1 })) summaries = seq;
    let failedSummaries = 0;
    for await (const { type } of store.read(scope, id, { kind: "edit" })) {
      if (type === "summary-failed") failedSummaries += 1;
    }
    const size = await sizeOf(store, scope, info);
    const spent = await spentBy(store, scope, info);
    const standing = await standingOf(store, scope, info);
    const title = await sessionTitle(store, scope, info.metadata);
    return { title, messages, historyTokens, summaries, failedSummaries, spent, standing, ...(size && { size }) };
  }, "session-not-found");
}

/** The size of a session; undefined if the store cannot tell, or the session went meanwhile. */
export async function sizeOf(store: Store, scope: Scope, { metadata }: SessionInfo): Promise<SessionSize | undefined> {
  return orUndefined(async () => store.upkeep.size(scope, metadata.uuid), "session-not-found");
}
