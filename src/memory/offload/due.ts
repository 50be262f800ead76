/**
 * Sessions whose messages an engine lacks. A session names its engine when it begins, so every end of it makes it due:
 * its own, a monitor's, or that it was put to rest. A receipt takes it off the list.
 */
import { isAtRest, isFinal, ownerOf } from "../../store/shared/rules.ts";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { infoIfThere } from "../../store/if-there.ts";
import { isMemoryLog } from "../../store/memory-logs.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import type { MemoryLogOptions } from "../log/memory-log.ts";
import { Receipts, receiptsName } from "./receipts.ts";
import type { OffloadProgress } from "./receipts.ts";

/** A session that has ended, and what its engine lacks of it. */
export interface DueOffload {
  readonly sessionId: string;
  /** The engine's name (`Memory.name`). */
  readonly memory: string;
  /** The tenant and user whose session it is. */
  readonly owner: Scope;
  /** The first message that the engine lacks, by `seq`. */
  readonly from: number;
  /** Tries that failed since the last success. */
  readonly failures: number;
  /** Why the last try failed. */
  readonly reason?: string;
  /** The time before which nobody tries again; ISO 8601, UTC. */
  readonly notBefore?: string;
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

/** The receipts of owners, each opened once. */
export class ReceiptsByOwner {
  readonly #store: Store;
  readonly #options: MemoryLogOptions;
  readonly #known = new Map<string, Receipts>();

  constructor(store: Store, options: MemoryLogOptions = {}) {
    this.#store = store;
    this.#options = options;
  }

  /** The receipts of an owner, as far as they were read. */
  of(owner: Scope): Receipts {
    const key = JSON.stringify([owner.tenant, owner.user]);
    const known = this.#known.get(key) ?? new Receipts(this.#store, owner, this.#options);
    this.#known.set(key, known);
    return known;
  }
}

/**
 * The sessions of a scope that are due, newest first.
 *
 * @param scope - without a user, those of every user of the tenant
 * @throws WindrowError `aborted`
 */
export async function* dueOffloads(
  store: Store,
  scope: Scope,
  options: DueOptions = {},
  signal?: AbortSignal,
): AsyncGenerator<DueOffload, void, undefined> {
  const { memory, unreadable, ...logOptions } = options;
  const asked = { ...(memory !== undefined && { memory }), ...(unreadable && { unreadable }) };
  yield* dueAmong(store, scope, asked, new KnownOffloads(store, logOptions), signal);
}

/** The progress that was read so far, and the sessions that need no look any more. */
export class KnownOffloads {
  readonly receipts: ReceiptsByOwner;
  /** Sessions that ended for good, and that are no engine's or wholly with theirs. */
  readonly settled = new Set<string>();

  constructor(store: Store, options: MemoryLogOptions = {}) {
    this.receipts = new ReceiptsByOwner(store, options);
  }
}

/** As {@link dueOffloads}, with what earlier looks with the same question have read. */
export async function* dueAmong(
  store: Store,
  scope: Scope,
  { memory: only, unreadable }: Pick<DueOptions, "memory" | "unreadable">,
  known: KnownOffloads,
  signal?: AbortSignal,
): AsyncGenerator<DueOffload, void, undefined> {
  const isAsked = (memory: string): boolean => only === undefined || memory === only;
  const looked = new Map<Receipts, boolean>();
  /** The receipts of an owner; undefined where they cannot be read, and the owner's sessions wait for their mending. */
  const receiptsOf = async (owner: Scope): Promise<Receipts | undefined> => {
    const receipts = known.receipts.of(owner);
    if (!looked.has(receipts)) looked.set(receipts, await isRead(receipts, unreadable));
    return looked.get(receipts) === true ? receipts : undefined;
  };
  const without = (id: string): boolean => known.settled.has(id);
  const withReceipts: Scope[] = [];
  for await (const info of store.list(scope, { without, ...(unreadable && { unreadable }) })) {
    checkStop(signal);
    const { metadata, state } = info;
    const id = metadata.uuid;
    if (without(id)) continue;
    if (isMemoryLog(metadata)) {
      if (metadata.taskKey.memory === receiptsName) withReceipts.push(ownerOf(metadata));
      continue;
    }
    const memory = engineOf(info);
    const receipts = memory !== undefined && isAsked(memory) ? await receiptsOf(ownerOf(metadata)) : undefined;
    const isDone = memory === undefined || !isAsked(memory) || receipts?.of(id, memory).isDone === true;
    if (isDone && isFinal(state.status)) known.settled.add(id);
    if (memory === undefined || !receipts) continue;
    const due = await dueOf(store, info, memory, receipts.of(id, memory));
    if (due) yield due;
  }
  for (const owner of withReceipts) {
    const receipts = await receiptsOf(owner);
    for (const [id, memory] of receipts?.enlisted() ?? []) {
      checkStop(signal);
      const progress = receipts?.of(id, memory);
      const isOpen = isAsked(memory) && progress?.isDone === false;
      const info = isOpen ? await infoIfThere(store, owner, id) : undefined;
      const due = info && progress && engineOf(info) !== memory && (await dueOf(store, info, memory, progress));
      if (due) yield due;
    }
  }
}

/** Reads what is new of some receipts; whether that went well. */
async function isRead(receipts: Receipts, unreadable: DueOptions["unreadable"]): Promise<boolean> {
  try {
    await receipts.refresh();
    return true;
  } catch (error) {
    if (!isWindrowError(error, "store-corrupt")) throw error;
    unreadable?.(receipts.log.ids[0] ?? "", error);
    return false;
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

/** The part of a session that an engine lacks; undefined where it has all, or the session has not ended. */
export async function dueOf(
  store: Store,
  { metadata, state }: SessionInfo,
  memory: string,
  { to, isDone, failures, reason, notBefore }: OffloadProgress,
): Promise<DueOffload | undefined> {
  if (!isAtRest(state.status) || isDone) return undefined;
  const owner = ownerOf(metadata);
  if (!isFinal(state.status) && (await newestMessage(store, owner, metadata.uuid)) <= to) return undefined;
  return {
    sessionId: metadata.uuid,
    memory,
    owner,
    from: to + 1,
    failures,
    ...(reason !== undefined && { reason }),
    ...(notBefore !== undefined && { notBefore }),
  };
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
