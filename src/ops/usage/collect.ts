/** Collects what sessions used: from the places where agents keep them, by way of a cache, and from a store. */
import { isWindrowError } from "../../errors.ts";
import { readUsage } from "../../transcript/usage/read.ts";
import { answerKeys } from "../../transcript/usage/claude-code.ts";
import { keyOf } from "../../transcript/usage/usage.ts";
import type { CallUsage, FoundUsage } from "../../transcript/usage/usage.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import { calledModel } from "../../message/record.ts";
import { messageOf } from "../look/errors.ts";
import { UsageCache } from "./cache.ts";
import { conversations } from "../../store/memory-logs.ts";

/** The calls of one place. */
export interface CollectedUsage {
  readonly path: string;
  readonly agent: FoundUsage["agent"] | "windrow";
  readonly calls: readonly CallUsage[];
}

/** The calls that were collected, and the places that could not be read. */
export interface Collected {
  readonly files: readonly CollectedUsage[];
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
}

/** Options of {@link collectUsage}. */
export interface CollectOptions {
  /** The folder of the cache; absent for none. */
  readonly cache?: string;
  /** Called with bytes read, of those to read; what the cache has is not read. */
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads what the calls of some places used. A place that cannot be read is told, and the others are read.
 *
 * @param wanted - the places to read; all that were found stay in the cache
 * @throws the signal's reason
 */
export async function collectUsage(
  found: readonly FoundUsage[],
  wanted: (place: FoundUsage) => boolean,
  { cache: folder, onProgress, signal }: CollectOptions = {},
): Promise<Collected> {
  const cache = folder === undefined ? undefined : await UsageCache.open(folder);
  const files: CollectedUsage[] = [];
  const failed: { path: string; reason: string }[] = [];
  // Oldest first: a call that a newer file copied belongs to the file that made it.
  const places = found.filter(wanted).toReversed();
  const known = new Map(places.map((place) => [place, cache?.get(place)]));
  const total = places.reduce((sum, place) => sum + (known.get(place) ? 0 : place.bytes), 0);
  let done = 0;
  const onBytes = (bytes: number): void => onProgress?.((done += bytes), total);
  for (const place of places) {
    const { path, agent } = place;
    try {
      const cached = known.get(place);
      const calls = cached ?? (await readUsage(place, { onBytes, signal }));
      if (!cached) cache?.set(place, calls);
      files.push({ path, agent, calls });
    } catch (error) {
      signal?.throwIfAborted();
      failed.push({ path, reason: messageOf(error) });
    }
  }
  await cache?.save(found);
  return { files, failed };
}

/**
 * The calls of a store's sessions, imported ones too: those that the agent's own files have as well are found by
 * `withSharedKeys`. A session that cannot be read is told, and the others are read.
 *
 * @param project - the name under which they are listed
 * @throws the signal's reason
 */
export async function storeUsage(
  store: Store,
  scope: Scope,
  project: string,
  signal?: AbortSignal,
): Promise<Collected> {
  const files: CollectedUsage[] = [];
  const failed: { path: string; reason: string }[] = [];
  const unreadable = (id: string, { message }: Error): void =>
    void failed.push({ path: `session ${id}`, reason: message });
  for await (const { metadata, location } of conversations(store, scope, { unreadable })) {
    signal?.throwIfAborted();
    try {
      const calls = await sessionUsage(store, scope, metadata, project);
      if (calls.length > 0) files.push({ path: location, agent: "windrow", calls });
    } catch (error) {
      // A session that went meanwhile has nothing to tell.
      if (isWindrowError(error, "session-not-found")) continue;
      if (!isWindrowError(error)) throw error;
      unreadable(metadata.uuid, error);
    }
  }
  return { files, failed };
}

async function sessionUsage(
  store: Store,
  scope: Scope,
  { uuid: id, config }: SessionInfo["metadata"],
  project: string,
): Promise<readonly CallUsage[]> {
  const calls: CallUsage[] = [];
  for await (const record of store.read(scope, id, { kind: "usage" })) {
    const { answerId, requestId } = record;
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWriteHour = 0 } = record.usage;
    if (input + output === 0) continue;
    const time = Date.parse(record.timestamp);
    calls.push({
      time: Number.isNaN(time) ? undefined : time,
      model: calledModel(config, record) ?? "",
      project,
      ...{ input, output, cacheRead, cacheWrite, cacheWriteHour },
      // A summary's request is none of the conversation's.
      chain: record.purpose,
      key: keyOf(`${id} ${record.seq}`),
      ...(answerId !== undefined && { others: answerKeys(answerId, requestId) }),
    });
  }
  return calls;
}
