/**
 * Sessions whose messages an engine lacks. A session names its engine when it begins, so every end of it makes it due:
 * its own, a monitor's, or that it was put to rest. A receipt takes it off the list.
 */
import { isAtRest, isFinal, ownerOf } from "../../store/shared/rules.ts";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { defined } from "../../message/json.ts";
import { infoIfThere } from "../../store/if-there.ts";
import { isMemoryLog } from "../../store/memory-logs.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import type { MemoryLogOptions } from "../log/memory-log.ts";
import { progressOf, receiptsName, receiptsOf } from "./receipts.ts";
import type { KnownProgress, OffloadProgress, Receipts } from "./receipts.ts";

/** A session that has ended, and what its engine lacks of it. */
export interface DueOffload extends Pick<
  OffloadProgress,
  "sessionId" | "memory" | "failures" | "reason" | "notBefore"
> {
  /** The tenant and user whose session it is. */
  readonly owner: Scope;
  /** The first message that the engine lacks, by `seq`. */
  readonly from: number;
}

/** Which sessions to look at. */
export interface DueOptions extends MemoryLogOptions {
  /** Only those of this engine, by name. */
  readonly memory?: string;
  /** Called for a session that cannot be described, and for receipts that cannot be read; the list goes on. */
  readonly unreadable?: (id: string, error: Error) => void;
}

/** The setting of a session that names its engine (docs/format.md). */
export const engineSetting = "memory_engine";

/**
 * The sessions of a scope that are due, newest first.
 *
 * @param scope - without a user, those of every user of the tenant
 * @throws WindrowError `aborted`
 */
export function dueOffloads(
  store: Store,
  scope: Scope,
  options: DueOptions = {},
  signal?: AbortSignal,
): AsyncGenerator<DueOffload, void, undefined> {
  return new OffloadLedger(store, options).due(scope, signal);
}

/** The receipts that were read so far, and the sessions that need no look any more. */
export class OffloadLedger {
  readonly #store: Store;
  readonly #options: DueOptions;
  readonly #receipts = new Map<string, Receipts>();
  /** Sessions that ended for good, and that are no engine's or wholly with theirs. */
  readonly #settled = new Set<string>();

  constructor(store: Store, options: DueOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** The receipts of an owner. */
  of(owner: Scope): Receipts {
    const key = JSON.stringify([owner.tenant, owner.user]);
    const known = this.#receipts.get(key) ?? receiptsOf(this.#store, owner, this.#options);
    this.#receipts.set(key, known);
    return known;
  }

  /** As {@link dueOffloads}; of what earlier looks have read, only what is new. */
  async *due(scope: Scope, signal?: AbortSignal): AsyncGenerator<DueOffload, void, undefined> {
    const { memory: only, unreadable } = this.#options;
    const isAsked = (memory: string | undefined): memory is string =>
      memory !== undefined && (only === undefined || memory === only);
    const looked = new Map<Receipts, KnownProgress | undefined>();
    /** What is known of an owner's sessions; undefined if it cannot be read, and they wait for its mending. */
    const knownOf = async (owner: Scope): Promise<KnownProgress | undefined> => {
      const receipts = this.of(owner);
      if (!looked.has(receipts)) looked.set(receipts, await readable(receipts, unreadable));
      return looked.get(receipts);
    };
    const without = (id: string): boolean => this.#settled.has(id);
    const owners: Scope[] = [];
    for await (const info of this.#store.list(scope, { without, ...(unreadable && { unreadable }) })) {
      checkStop(signal);
      const { metadata, state } = info;
      const id = metadata.uuid;
      if (without(id)) continue;
      if (isMemoryLog(metadata)) {
        if (metadata.taskKey.memory === receiptsName) owners.push(ownerOf(metadata));
        continue;
      }
      const memory = engineOf(info);
      const known = isAsked(memory) ? await knownOf(ownerOf(metadata)) : undefined;
      const progress = known && isAsked(memory) ? progressOf(known, id, memory) : undefined;
      const due = progress && (await dueOf(this.#store, info, progress));
      if (due) yield due;
      if (isFinal(state.status) && (!isAsked(memory) || progress?.isDone)) this.#settled.add(id);
    }
    // Sessions that were given to an engine after they began.
    for (const owner of owners) {
      for (const progress of [...((await knownOf(owner))?.values() ?? [])]) {
        checkStop(signal);
        if (!isAsked(progress.memory) || progress.isDone) continue;
        const info = await infoIfThere(this.#store, owner, progress.sessionId);
        const due = info && engineOf(info) !== progress.memory && (await dueOf(this.#store, info, progress));
        if (due) yield due;
      }
    }
  }
}

async function readable(receipts: Receipts, unreadable: DueOptions["unreadable"]): Promise<KnownProgress | undefined> {
  try {
    return await receipts.state();
  } catch (error) {
    if (!isWindrowError(error, "store-corrupt")) throw error;
    unreadable?.(receipts.ids[0], error);
    return undefined;
  }
}

function checkStop(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new WindrowError("aborted", "The offload was stopped; the rest is still due.");
}

/** The engine that a session is to be handed to; undefined where it named none. */
export function engineOf({ metadata }: Pick<SessionInfo, "metadata">): string | undefined {
  const { [engineSetting]: memory } = metadata.config;
  return typeof memory === "string" ? memory : undefined;
}

/** The part of a session that an engine lacks; undefined if it has all, or the session has not ended. */
export async function dueOf(
  store: Store,
  { metadata, state }: SessionInfo,
  { sessionId, memory, to, isDone, failures, reason, notBefore }: OffloadProgress,
): Promise<DueOffload | undefined> {
  if (!isAtRest(state.status) || isDone) return undefined;
  const owner = ownerOf(metadata);
  if (!isFinal(state.status) && (await newestMessage(store, owner, metadata.uuid)) <= to) return undefined;
  return { sessionId, memory, owner, from: to + 1, failures, ...defined({ reason, notBefore }) };
}

/** The number of the newest message. One that cannot be read now is due, and the try says why. */
async function newestMessage(store: Store, owner: Scope, id: string): Promise<number> {
  try {
    for await (const { seq } of store.read(owner, id, { kind: "message", last: 1 })) return seq;
  } catch (error) {
    const passing = ["store-corrupt", "store-unavailable", "session-archived"] as const;
    if (passing.some((code) => isWindrowError(error, code))) return Infinity;
    if (!isWindrowError(error, "session-not-found")) throw error;
  }
  return 0;
}
