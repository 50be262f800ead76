/**
 * Sessions whose messages an engine lacks. A session names its engine when it begins, so every end of it makes it due:
 * its own, a monitor's, or that it was put to rest. A receipt takes it off the list.
 */
import { isAtRest, isFinal } from "../../store/shared/rules.ts";
import { WindrowError } from "../../errors.ts";
import { infoIfThere } from "../../store/if-there.ts";
import { isMemoryLog } from "../../store/memory-logs.ts";
import type { Scope, SessionInfo, SessionMetadata, Store } from "../../store/store.ts";
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
  /** Called for a session that cannot be described; the list goes on. */
  readonly unreadable?: (id: string, error: Error) => void;
}

/** The setting of a session that names its engine (docs/format.md). */
export const engineSetting = "memory_engine";

/** The tenant and the user that a session belongs to. */
export function ownerOf({ tenant, user }: Pick<SessionMetadata, "tenant" | "user">): Scope {
  return { ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) };
}

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
    return this.#find(owner).receipts;
  }

  /** The receipts of an owner, all of them read. */
  async read(owner: Scope): Promise<Receipts> {
    const { receipts, isNew } = this.#find(owner);
    if (isNew) await receipts.refresh();
    return receipts;
  }

  #find(owner: Scope): { readonly receipts: Receipts; readonly isNew: boolean } {
    const key = JSON.stringify([owner.tenant, owner.user]);
    const known = this.#known.get(key);
    if (known) return { receipts: known, isNew: false };
    const receipts = new Receipts(this.#store, owner, this.#options);
    this.#known.set(key, receipts);
    return { receipts, isNew: true };
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
  const { memory: only, unreadable, ...logOptions } = options;
  const owners = new ReceiptsByOwner(store, logOptions);
  const isAsked = (memory: string): boolean => only === undefined || memory === only;
  const withReceipts: Scope[] = [];
  for await (const info of store.list(scope, { ...(unreadable && { unreadable }) })) {
    checkStop(signal);
    const { metadata } = info;
    if (isMemoryLog(metadata) && metadata.taskKey.memory === receiptsName) withReceipts.push(ownerOf(metadata));
    const memory = isMemoryLog(metadata) ? undefined : engineOf(info);
    if (memory === undefined || !isAsked(memory)) continue;
    const receipts = await owners.read(ownerOf(metadata));
    const due = await dueOf(store, info, memory, receipts.of(metadata.uuid, memory));
    if (due) yield due;
  }
  for (const owner of withReceipts) {
    const receipts = await owners.read(owner);
    for (const [id, memory] of receipts.enlisted()) {
      checkStop(signal);
      const info = isAsked(memory) ? await infoIfThere(store, owner, id) : undefined;
      const due = info && engineOf(info) !== memory && (await dueOf(store, info, memory, receipts.of(id, memory)));
      if (due) yield due;
    }
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

async function newestMessage(store: Store, owner: Scope, id: string): Promise<number> {
  for await (const { seq } of store.read(owner, id, { kind: "message", last: 1 })) return seq;
  return 0;
}
