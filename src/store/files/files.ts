/**
 * The file store: every session a folder one can read with `ls`, `jq` and `grep` (docs/format.md). An acknowledged
 * record is on disk; one process writes a session at a time; whatever a crash left is mended when the session is next
 * locked.
 */
import { join, resolve } from "node:path";
import { isWindrowError } from "../../errors.ts";
import { createMask } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../../message/record.ts";
import { systemClock, timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { HeldSessions } from "../shared/held-sessions.ts";
import { durableCapabilities, prepareMetadata, readRecord } from "../shared/prepare.ts";
import { checkQuery, finished, formatVersion } from "../shared/rules.ts";
import { initialState } from "../format/documents.ts";
import { isFinal, newerFormat, sessionId, storeClosed } from "../shared/rules.ts";
import type { ExamineOptions, Examined, FinalStatus, ListQuery, Lock, NewSession } from "../store.ts";
import type { ReadQuery, Recovered, Scope, SessionInfo, SessionState } from "../store.ts";
import type { Store, StoreCapabilities, StoreCheckup, StoreDetaching, StoreHolding, StoreTransfer } from "../store.ts";
import type { Upkeep } from "../upkeep.ts";
import { decompressFolder, hasArchives } from "./upkeep/compress.ts";
import { filesDetaching } from "./upkeep/detach.ts";
import { filesUpkeep } from "./upkeep/upkeep.ts";
import { archiveDisk, systemArchives } from "../../disk/archive/archive-disk.ts";
import { BlobFolder } from "./log/blobs.ts";
import type { BlobName } from "../format/blobs.ts";
import { Catalogue } from "./catalogue.ts";
import { kindFiles } from "../format/logs.ts";
import type { Disk } from "../../disk/disk.ts";
import { encodeMetadata, encodeState, readState } from "../format/documents.ts";
import { Journal } from "./log/journal.ts";
import { layoutOf, locate } from "./layout.ts";
import { blobsFolder } from "../format/blobs.ts";
import { metadataFile, stateFile } from "../format/documents.ts";
import { removeDrafts, syncFolder, unavailable, writeNewFiles } from "../../disk/safe-write.ts";
import type { Follow, Found } from "./follow.ts";
import type { Layout } from "./layout.ts";
import { holderOf } from "../lock/lock.ts";
import type { LockTools, SessionLock } from "../lock/lock.ts";
import { endMove, moveToCompleted } from "./session/move.ts";
import type { StoreInternals } from "../shared/internals.ts";
import { checkNotArchived, isArchived, openLog } from "./log/open-log.ts";
import { checkOptions } from "./options.ts";
import type { Durability, FilesStoreOptions } from "./options.ts";
import { readRecords } from "./log/reader.ts";
import type { Damage } from "./log/reader.ts";
import { Recoveries } from "./log/recoveries.ts";
import { lockError, lockPlace } from "./session/lock-error.ts";
import { makeSessionFolder } from "./session/make.ts";
import { recounted, stateOf } from "./session/state.ts";
import { Leases, acquireNamed } from "../lock/steal.ts";
import { dumpFolder, restoreFolder } from "./transfer.ts";

export type { Durability, FilesStoreOptions } from "./options.ts";

/**
 * Opens a file store. Nothing is read or made until it is used.
 *
 * @param internals - for tests only
 * @throws WindrowError `bad-option` for an option it does not know
 */
export function filesStore(options: FilesStoreOptions, internals: StoreInternals = {}): Store {
  checkOptions(options);
  return new FilesStore(options, internals);
}

class FilesStore implements Store {
  readonly name = "files";
  readonly capabilities: StoreCapabilities;
  readonly holding: StoreHolding = {
    holder: async (scope, id) => holderOf(this.#find(scope, id).place.folder, this.#disk),
    unlock: async (scope, id, options = {}) => {
      const now = this.#follow(scope, id);
      return (await import("./session/unlock.ts")).unlockSession(this, scope, now, options, this.#tools);
    },
  };
  readonly checkup: StoreCheckup = {
    examine: (options, signal) => this.#examine(options, signal),
    rebuildIndex: async () => {
      this.#alive();
      return this.#catalogue.rebuild();
    },
  };
  readonly transfer: StoreTransfer = {
    dump: async (scope, id) => {
      const now = this.#follow(scope, id);
      checkNotArchived(now().place, this.#disk);
      return dumpFolder(now, {
        damaged: (...damage) => this.#recoveries.noteDamage(now(), ...damage),
        missing: (name) => this.#missing(now(), name),
      });
    },
    restore: async (scope, dump, signal) => {
      this.#alive();
      return restoreFolder({ layout: this.#layout, mask: this.#mask, clock: this.#clock }, scope, dump, signal);
    },
  };
  readonly upkeep: Upkeep;
  readonly detaching: StoreDetaching;
  readonly #layout: Layout;
  readonly #mask: Mask;
  readonly #durability: Durability;
  readonly #clock: Clock;
  readonly #disk: Disk;
  readonly #tools: LockTools;
  readonly #leases: Leases;
  readonly #catalogue: Catalogue;
  readonly #held = new HeldSessions<Journal>(
    () => this.#alive(),
    (journal) => this.#letGo(journal),
  );
  readonly #recoveries: Recoveries;
  #closed = false;

  constructor(options: FilesStoreOptions, internals: StoreInternals) {
    this.#layout = layoutOf(resolve(options.folder));
    this.#mask = options.mask ?? createMask();
    this.capabilities = durableCapabilities(this.#mask);
    this.#durability = options.durability ?? "strict";
    this.#clock = options.clock ?? systemClock;
    this.#disk = internals.disk ? archiveDisk(internals.disk) : systemArchives;
    this.#tools = { clock: this.#clock, disk: this.#disk, ...(internals.fault ? { fault: internals.fault } : {}) };
    this.#leases = new Leases(this.#clock);
    this.#recoveries = new Recoveries(this.#disk);
    this.#catalogue = new Catalogue(this.#layout, this.#disk);
    const mend = async (scope: Scope, id: string): Promise<void> => (await this.lock(scope, id)).release();
    this.upkeep = filesUpkeep(this.#layout, this.#catalogue, this.#mask, this.#tools, mend, () => this.#alive());
    this.detaching = filesDetaching(this.#layout, this.#tools, (scope, id) => this.#find(scope, id));
  }

  async create(scope: Scope, session: NewSession): Promise<Lock> {
    this.#alive();
    const id = sessionId(session.uuid);
    const disk = this.#disk;
    const metadata = prepareMetadata(this.#mask, scope, session);
    const folder = await makeSessionFolder(this.#layout, metadata, disk);
    let sessionLock: SessionLock | undefined;
    try {
      // The lock comes first: who finds the session before it is whole cannot begin to write it.
      sessionLock = await acquireNamed(folder, this.#tools, this.#leases);
      const state = initialState(session.createdAt);
      // The system syncs several files at once in little more time than one.
      const files = { [metadataFile]: encodeMetadata(metadata), [stateFile]: encodeState(state) };
      const logs = Object.values(kindFiles).map((file) => [file, ""] as const);
      const named = [...Object.entries(files), ...logs].map(
        ([file, content]) => [join(folder, file), content] as const,
      );
      await writeNewFiles(named, disk);
      await Promise.all([syncFolder(folder, disk), syncFolder(this.#layout.running, disk)]);
      const lock = this.#hold(scope, id, folder, sessionLock, state);
      this.#catalogue.made(metadata);
      return lock;
    } catch (error) {
      // Where another process has the lock it is no longer this one's to remove.
      if (!isWindrowError(error, "session-busy")) await disk.removeTree(folder);
      sessionLock?.abandon();
      throw unavailable(error, "Making a session", folder);
    }
  }

  async info(scope: Scope, id: string): Promise<SessionInfo> {
    const now = this.#follow(scope, id);
    if (!this.#held.has(id)) await endMove(this.#layout, now().place, this.#clock, this.#disk);
    return this.#describe(now);
  }

  async *list(scope: Scope, query: ListQuery = {}): AsyncGenerator<SessionInfo> {
    this.#alive();
    let left = query.limit ?? Number.POSITIVE_INFINITY;
    if (left <= 0) return;
    for await (const info of this.#catalogue.list(scope, query, (now) => this.#describe(now))) {
      if (query.status !== undefined && info.state.status !== query.status) continue;
      yield info;
      left -= 1;
      if (left <= 0) return;
    }
  }

  async lock(scope: Scope, id: string): Promise<Lock> {
    const now = this.#follow(scope, id);
    const found = now();
    const { place, metadata } = found;
    if (metadata.format > formatVersion) throw newerFormat(id, metadata.format);
    if (place.completed) throw finished(id);
    const sessionLock = await lockPlace(this.#layout, place, now, this.#tools, this.#leases);
    return this.#begin(scope, found, sessionLock);
  }

  append(lock: Lock, records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    try {
      return this.#held.writable(lock).append(records);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async *read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncGenerator<StoredRecordOf<K>> {
    this.#alive();
    checkQuery(query);
    const now = this.#follow(scope, id);
    const { place, file } = openLog(now, query.kind, this.#disk);
    if (file === undefined) return;
    const journal = this.#held.open(id);
    const extent = journal
      ? { acknowledged: journal.acknowledged(query.kind) }
      : place.completed
        ? "whole"
        : "finished";
    try {
      const damaged = (span: Damage): void => this.#recoveries.noteDamage(now(), query.kind, file, span);
      const missing = (name: BlobName): void => this.#missing(now(), name);
      const blobs = new BlobFolder(place.folder, this.#disk, missing, () => now().place.folder);
      const records = readRecords(file, query, extent, damaged, (name) => blobs.load(name), this.#disk);
      for await (const record of records) yield readRecord(this.#mask, query, record as StoredRecordOf<K>);
    } finally {
      this.#disk.close(file);
    }
  }

  async setState(lock: Lock, state: SessionState): Promise<void> {
    await this.#held.writable(lock).setState(state);
  }

  async finish(lock: Lock, state: SessionState & { readonly status: FinalStatus }): Promise<void> {
    await this.#held.finish(lock, (journal) => this.#finish(journal, lock.id, state));
  }

  async recovery(scope: Scope, id: string): Promise<readonly Recovered[]> {
    const session = this.#find(scope, id);
    const found = this.#recoveries.of(session);
    // The records of an archived session are the archive's.
    return isArchived(session.place, this.#disk) ? found.filter(({ problem }) => problem !== "missing") : found;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#held.releaseAll();
  }

  #alive(): void {
    if (this.#closed) throw storeClosed();
  }

  #find(scope: Scope, id: string): Found {
    this.#alive();
    return this.#catalogue.find(scope, id);
  }

  #follow(scope: Scope, id: string): Follow {
    this.#alive();
    return this.#catalogue.follow(scope, id);
  }

  /** A large value that is missing went with its log into an archive, or is lost. */
  #missing(found: Found, name: BlobName): void {
    checkNotArchived(found.place, this.#disk);
    this.#recoveries.noteMissing(found, name);
  }

  async *#examine(options: ExamineOptions = {}, signal?: AbortSignal): AsyncGenerator<Examined> {
    this.#alive();
    yield* (await import("./examine/examine.ts")).examineFiles(this.#layout, options, this.#clock, signal);
  }

  /** Begins to write a session whose lock was taken, after what a dead writer left is mended. */
  async #begin(scope: Scope, found: Found, sessionLock: SessionLock): Promise<Lock> {
    const { place, metadata } = found;
    const { id, folder } = place;
    const disk = this.#disk;
    try {
      const state = await stateOf(place, metadata, disk);
      if (isFinal(state.status)) {
        await moveToCompleted(this.#layout, id, disk);
        throw finished(id);
      }
      checkNotArchived(place, disk);
      // A closed session may be compressed, and is written unpacked.
      if (await hasArchives(folder, disk)) await decompressFolder(folder, disk);
      const lock = this.#hold(scope, id, folder, sessionLock, readState(folder, disk));
      for (const span of lock.recovery) this.#recoveries.note(found, span);
      if (!sessionLock.predecessorReleased) {
        // Lines of a dead writer may never have been synced; from here on they are relied on.
        await this.#held.writable(lock).sync();
        await this.#held.writable(lock).setState(await recounted(place, metadata, state, disk));
        await removeDrafts(folder, disk);
        if (disk.exists(join(folder, blobsFolder))) await removeDrafts(join(folder, blobsFolder), disk);
        await syncFolder(folder, disk);
      }
      return lock;
    } catch (error) {
      this.#held.open(id)?.close();
      this.#held.drop(id);
      sessionLock.release();
      throw lockError(error, "Opening a session", place, locate(this.#layout, id, this.#disk));
    }
  }

  #hold(scope: Scope, id: string, folder: string, sessionLock: SessionLock, state: SessionState | undefined): Lock {
    const stamp = timestamp(this.#clock).replaceAll(/[-:.]/g, "");
    const journal = new Journal(folder, sessionLock, {
      ...this.#tools,
      mask: this.#mask,
      durability: this.#durability,
      stamp,
      status: state?.status,
    });
    const recovery = journal.recovered;
    return this.#held.add({ id, scope, recovery, owner: () => sessionLock.owner }, journal);
  }

  async #letGo(journal: Journal): Promise<void> {
    try {
      await journal.settle();
    } finally {
      journal.close();
      journal.lock.release();
    }
  }

  async #finish(journal: Journal, id: string, state: SessionState & { readonly status: FinalStatus }): Promise<void> {
    try {
      await journal.finish(state);
      await moveToCompleted(this.#layout, id, this.#disk, () => journal.lock.check());
    } catch (error) {
      throw unavailable(error, "Finishing a session", journal.folder);
    }
    this.#catalogue.ended(id, state.status);
    journal.close();
    journal.lock.release();
  }

  async #describe(now: Follow): Promise<SessionInfo> {
    const { place, metadata } = now();
    const state = await stateOf(place, metadata, this.#disk);
    // A session that moved while it was looked at is looked at again, where it is now.
    if (now().place.folder !== place.folder) return this.#describe(now);
    return { metadata, state, location: place.folder, readOnly: place.completed || metadata.format > formatVersion };
  }
}
