/**
 * A store with an archive beside it: finished sessions lie there as one object each, and are read on as if they lay in the
 * store. It stands before any store that can let go of records ({@link StoreDetaching}).
 */
import { createHash } from "node:crypto";
import { WindrowError, isWindrowError } from "../../../errors.ts";
import type { Mask } from "../../../mask/mask.ts";
import type { RecordKind, StoredRecordOf } from "../../../message/record.ts";
import { kindLogs } from "../../format/logs.ts";
import { systemClock, timestamp } from "../clock.ts";
import type { Clock } from "../clock.ts";
import { readRecord } from "../prepare.ts";
import { alreadyExists, movedMeanwhile } from "../rules.ts";
import { inFrontOf, storeShape } from "../shape.ts";
import { summaryOf } from "../transfer.ts";
import type { ArchivedSession, ArchiveMark, DumpedLine, Examined, ExamineOptions, Finding } from "../../store.ts";
import type { ReadQuery, Restored } from "../../store.ts";
import type { Scope, SessionDump, Store, StoreArchiving, StoreDetaching } from "../../store.ts";
import type { EraseElsewhere, ErasedPlace } from "../../upkeep.ts";
import type { ArchiveBucket } from "./bucket.ts";
import { ArchiveObjects, recordsOf } from "./objects.ts";
import type { FetchedSession } from "./objects.ts";
import { packSession } from "./object.ts";

/** How an archive is used. */
export interface ArchivedStoreOptions {
  /** The mask of the store behind, by which sealed originals are opened. */
  readonly mask: Mask;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/**
 * Puts an archive beside a store.
 *
 * @throws WindrowError `bad-option` for a store that cannot let go of records
 */
export function archivedStore(behind: Store, bucket: ArchiveBucket, options: ArchivedStoreOptions): Store {
  const { detaching } = behind;
  if (!detaching) {
    const message = `The ${behind.name} store keeps its sessions itself: it cannot have an archive.`;
    throw new WindrowError("bad-option", message, { store: behind.name });
  }
  return new Archive(behind, detaching, bucket, options).front();
}

/** The problem of objects that cannot be asked for now. */
const unreachable = { problem: "object-unreachable", severity: "damage", remedy: "hand" } as const;

/** Objects in a row that cannot be asked for, behind which none is: each may take the archive's whole patience. */
const mostUnreachable = 3;

class Archive {
  readonly #behind: Store;
  readonly #detaching: StoreDetaching;
  readonly #bucket: ArchiveBucket;
  readonly #objects: ArchiveObjects;
  readonly #mask: Mask;
  readonly #clock: Clock;

  constructor(
    behind: Store,
    detaching: StoreDetaching,
    bucket: ArchiveBucket,
    { mask, clock = systemClock }: ArchivedStoreOptions,
  ) {
    this.#behind = behind;
    this.#detaching = detaching;
    this.#bucket = bucket;
    this.#objects = new ArchiveObjects(bucket);
    this.#mask = mask;
    this.#clock = clock;
  }

  /** The store as callers have it. */
  front(): Store {
    const store = this.#behind;
    const { detaching: _, ...front } = inFrontOf(store, storeShape, (_name, _method, call) => call);
    const archiving: StoreArchiving = {
      archive: (scope, id) => this.#archive(scope, id),
      unarchive: (scope, id, signal) => this.#unarchive(scope, id, signal),
    };
    return {
      ...front,
      checkup: { ...front.checkup, examine: (options, signal) => this.#examine(options, signal) },
      lock: async (scope, id) => this.#orBack(scope, id, () => store.lock(scope, id)),
      read: (scope, id, query) => this.#read(scope, id, query),
      transfer: {
        dump: (scope, id) => this.#dump(scope, id),
        restore: (scope, dump, signal) => this.#restore(scope, dump, signal),
      },
      upkeep: {
        ...front.upkeep,
        unerased: (scope) => store.upkeep.unerased(scope, true),
        erase: (scope, ids, other, limits) => store.upkeep.erase(scope, ids, this.#erasing(scope, other), limits),
      },
      archiving,
    };
  }

  async #archive(scope: Scope, id: string): Promise<ArchivedSession> {
    let written: ArchiveMark | undefined;
    try {
      const put = async (taking: string): Promise<ArchiveMark> => (written = await this.#put(scope, id, taking));
      const mark = await this.#detaching.detach(scope, id, put);
      return { sessionId: id, outcome: written ? "archived" : "same", mark };
    } catch (error) {
      // Where nobody knows whether the session names it, it stays.
      if (written && isWindrowError(error, "fenced")) await this.#removeUnnamed(id, written.key);
      throw error;
    }
  }

  /** Writes the object of a session that is held, and reads it back. */
  async #put(scope: Scope, id: string, taking: string): Promise<ArchiveMark> {
    const store = this.#behind;
    const { state } = await store.info(scope, id);
    const dump = await store.transfer.dump(scope, id);
    const damaged = await store.recovery(scope, id);
    if (damaged.length > 0) throw hasDamage(id, damaged.length);
    const packed = await packSession(dump);
    const key = `${prefixOf(scope, id)}${taking}-${packed.hash}.jsonl.gz`;
    let found: FetchedSession;
    try {
      await this.#bucket.put(key, packed.bytes);
      found = await this.#objects.fetch(key);
    } catch (error) {
      if (isWindrowError(error, "store-corrupt")) throw conflict(this.#bucket, key, error);
      await this.#objects.remove(key).catch(() => undefined);
      throw error;
    }
    if (found.hash !== packed.hash) throw conflict(this.#bucket, key);
    return {
      ...{ key, hash: packed.hash, lines: packed.lines, bytes: packed.lineBytes, objectBytes: found.objectBytes },
      archivedAt: timestamp(this.#clock),
      lastRecordAt: packed.lastRecordAt ?? state.completedAt ?? state.updatedAt,
    };
  }

  async #unarchive(scope: Scope, id: string, signal?: AbortSignal): Promise<void> {
    const store = this.#behind;
    const { archived } = (await store.info(scope, id)).state;
    const found = archived && (await this.#object(scope, id, archived));
    if (!archived || !found) return;
    try {
      await this.#detaching.attach(scope, found.dump, archived, signal);
    } catch (error) {
      if (!isWindrowError(error, "session-busy")) throw error;
      const { state } = await store.info(scope, id);
      if (state.archived?.key === archived.key) throw error;
      // It came back meanwhile, and perhaps went again: its records are those of another object.
      return this.#unarchive(scope, id, signal);
    }
    // A session that is archived from now on has another object; one that was put aside meanwhile has this one.
    await this.#removeUnnamed(id, archived.key);
  }

  async #removeUnnamed(id: string, key: string): Promise<void> {
    if (!(await this.#detaching.names(id, key))) await this.#objects.remove(key);
  }

  /** A call of the store behind; where the session is archived, it is brought back first. */
  async #orBack<T>(scope: Scope, id: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (!isWindrowError(error, "session-archived")) throw error;
      await this.#unarchive(scope, id);
      return call();
    }
  }

  #read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncGenerator<StoredRecordOf<K>> {
    const archived = ({ logs }: FetchedSession): Iterable<StoredRecordOf<K>> =>
      recordsOf(logs[kindLogs[query.kind]], query).map((record) => readRecord(this.#mask, query, record));
    return this.#wherever(scope, id, () => this.#behind.read(scope, id, query), archived);
  }

  async #dump(scope: Scope, id: string): Promise<SessionDump> {
    for (;;) {
      try {
        const dump = await this.#behind.transfer.dump(scope, id);
        const archived = ({ dump: packed }: FetchedSession): AsyncIterable<DumpedLine> => packed.lines();
        return { ...dump, lines: () => this.#wherever(scope, id, () => dump.lines(), archived) };
      } catch (error) {
        const object = await this.#object(scope, id, markIn(error));
        if (object) return object.dump;
      }
    }
  }

  /**
   * Items from the store, or from the archive.
   *
   * @throws WindrowError `session-archived` where they go into the archive while they are read
   */
  async *#wherever<T>(
    scope: Scope,
    id: string,
    stored: () => AsyncIterable<T>,
    archived: (object: FetchedSession) => Iterable<T> | AsyncIterable<T>,
  ): AsyncGenerator<T> {
    for (;;) {
      let isBegun = false;
      let object: FetchedSession | undefined;
      try {
        for await (const item of stored()) {
          isBegun = true;
          yield item;
        }
        return;
      } catch (error) {
        const mark = markIn(error);
        if (isBegun) throw movedMeanwhile(id);
        object = await this.#object(scope, id, mark);
      }
      if (object) return yield* archived(object);
    }
  }

  /** The object of a session; undefined where the session was brought back meanwhile. */
  async #object(scope: Scope, id: string, mark: ArchiveMark | undefined): Promise<FetchedSession | undefined> {
    if (!mark) return undefined;
    try {
      return await this.#objects.get(mark);
    } catch (error) {
      const { state } = await this.#behind.info(scope, id);
      if (state.archived?.key === mark.key) throw error;
      return undefined;
    }
  }

  /** Sessions as the store behind examines them; of each that is archived the object is fetched, too, until some fail in a row. */
  async *#examine(options?: ExamineOptions, signal?: AbortSignal): AsyncGenerator<Examined> {
    let unreached = 0;
    for await (const examined of this.#behind.checkup.examine(options, signal)) {
      const { sessionId: id, archived, findings } = examined;
      const isAsked = unreached < mostUnreachable && id !== undefined && archived;
      const trouble = isAsked ? await this.#objectTrouble(id, archived) : undefined;
      if (isAsked) unreached = trouble?.problem === unreachable.problem ? unreached + 1 : 0;
      yield trouble ? { ...examined, findings: [...findings, trouble] } : examined;
    }
  }

  async #objectTrouble(id: string, { mark, owner }: NonNullable<Examined["archived"]>): Promise<Finding | undefined> {
    try {
      await this.#objects.look(mark);
      return undefined;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const about = { sessionId: id, file: `${this.#bucket.location}/${mark.key}`, message, mended: false };
      if (!isWindrowError(error, "store-corrupt")) return { ...about, ...unreachable };
      if (!(await this.#isArchivedAs(owner, id, mark))) return undefined;
      return { ...about, problem: "object-damaged", severity: "damage", remedy: "backup" };
    }
  }

  /** Whether the records of a session are still those of an object, as far as its documents can be read. */
  async #isArchivedAs(scope: Scope, id: string, { key }: ArchiveMark): Promise<boolean> {
    try {
      return (await this.#behind.info(scope, id)).state.archived?.key === key;
    } catch (error) {
      if (isWindrowError(error, "session-not-found")) return false;
      if (isWindrowError(error, "store-corrupt")) return true;
      throw error;
    }
  }

  async #restore(scope: Scope, dump: SessionDump, signal?: AbortSignal): Promise<Restored> {
    try {
      return await this.#behind.transfer.restore(scope, dump, signal);
    } catch (error) {
      const mark = markIn(error);
      if (!mark) throw error;
      const { hash } = mark;
      if ((await summaryOf(dump)).hash !== hash) throw alreadyExists(dump.id);
      // An object that is damaged is not the same as what is to be restored.
      if (!(await this.#object(scope, dump.id, mark))) return this.#restore(scope, dump, signal);
      return { outcome: "same", masked: 0, hash };
    }
  }

  /** Erases the objects of sessions while the store still knows that their erasure is under way. */
  #erasing(scope: Scope, elsewhere?: EraseElsewhere): EraseElsewhere {
    const both: EraseElsewhere = async (ids, makings) => {
      const places: ErasedPlace[] = [];
      for (const id of ids) places.push(await this.#objects.removeAll(prefixOf(scope, id), makings.get(id) ?? 0));
      return [...places, ...((await elsewhere?.(ids, makings)) ?? [])];
    };
    return Object.assign(both, { reachesArchive: true });
  }
}

/** Characters of a tenant's name in the name of a folder, which has 255 bytes at most. */
const mostInFolder = 248;

/** The names of a session's objects begin so (docs/format.md, "In an archive"): a tenant has a folder of its own. */
function prefixOf({ tenant }: Scope, id: string): string {
  if (tenant === undefined) return `${id}/`;
  const name = tenant.isWellFormed() ? encodeURIComponent(tenant) : undefined;
  if (name !== undefined && name.length <= mostInFolder) return `tenant=${name}/${id}/`;
  const hash = createHash("sha256").update(JSON.stringify(tenant)).digest("hex");
  return `tenant-sha256=${hash}/${id}/`;
}

/** The mark in a refusal of the store behind; none where the records are back by now. Any other error is thrown on. */
function markIn(error: unknown): ArchiveMark | undefined {
  if (!isWindrowError(error, "session-archived")) throw error;
  return error.data["mark"] as ArchiveMark | undefined;
}

/** The object is not what was written. */
function conflict({ location }: ArchiveBucket, key: string, cause?: unknown): WindrowError {
  const message = `The object ${key} of the archive ${location} does not hold what was written. The session stays in the store; look at the object, and move it away.`;
  return new WindrowError("archive-conflict", message, { key }, { cause });
}

/** The session has lines that cannot be read. */
function hasDamage(id: string, spans: number): WindrowError {
  const message = `Session ${id} has ${spans} damaged places, and is not archived. \`windrow doctor\` says more; a backup brings it back whole.`;
  return new WindrowError("store-corrupt", message, { id, spans });
}
