/**
 * The file store: every session a folder one can read with `ls`, `jq` and `grep` (docs/format.md). An acknowledged
 * record is on disk; one process writes a session at a time; whatever a crash left is mended when the session is next
 * locked.
 */
import { closeSync, existsSync, openSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { WindrowError, isWindrowError } from "../../errors.ts";
import { createMask } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../../message/record.ts";
import { systemClock, timestamp } from "../clock.ts";
import type { Clock } from "../clock.ts";
import { prepareMetadata } from "../prepare.ts";
import { alreadyExists, checkQuery, finished, foreignLock, formatVersion, inScope, initialState } from "../rules.ts";
import { isFinal, isSessionId, notFound, released, sessionId, storeClosed } from "../rules.ts";
import type { FinalStatus, ListQuery, Lock, NewSession, ReadQuery, Recovered, Scope } from "../store.ts";
import type { SessionInfo, SessionMetadata, SessionState, Store } from "../store.ts";
import { kindFiles } from "./codec.ts";
import { encodeMetadata, encodeState, readMetadata, readState } from "./documents.ts";
import { Journal } from "./journal.ts";
import type { Durability } from "./journal.ts";
import { layoutOf, locate, makeFolder, makeNewFolder, metadataFile, stateFile, summariesFile } from "./layout.ts";
import { removeDrafts, syncFolder, systemCode, unavailable, writeNew } from "./layout.ts";
import type { Layout, Place } from "./layout.ts";
import { acquire } from "./lock.ts";
import type { SessionLock } from "./lock.ts";
import { endMove, moveToCompleted } from "./move.ts";
import { checkOptions } from "./options.ts";
import type { FilesStoreOptions } from "./options.ts";
import { readRecords } from "./reader.ts";
import type { Damage } from "./reader.ts";
import { stateOf } from "./state.ts";
import { keepDamaged } from "./tail.ts";

export type { Durability } from "./journal.ts";
export type { FilesStoreOptions } from "./options.ts";

/** Sessions looked at between two turns of the event loop when a store is listed. */
const listedAtOnce = 64;

/** Damaged spans of one file of which a copy is kept; the log itself still holds the others. */
const damagedCopies = 100;

/** A session this store writes. */
interface Held {
  readonly journal: Journal;
  readonly sessionLock: SessionLock;
  ended?: "finished" | "released";
  ending?: Promise<void>;
}

/**
 * Opens a file store. Nothing is read or made until it is used.
 *
 * @throws WindrowError `bad-option` for an option it does not know
 */
export function filesStore(options: FilesStoreOptions): Store {
  checkOptions(options);
  return new FilesStore(options);
}

class FilesStore implements Store {
  readonly name = "files";
  readonly capabilities = { durable: true, shared: true };
  readonly #layout: Layout;
  readonly #mask: Mask;
  readonly #durability: Durability;
  readonly #clock: Clock;
  readonly #held = new Map<string, Held>();
  readonly #locks = new WeakMap<Lock, Held>();
  readonly #recovered = new Map<string, Map<string, Recovered>>();
  #closed = false;

  constructor(options: FilesStoreOptions) {
    this.#layout = layoutOf(resolve(options.folder));
    this.#mask = options.mask ?? createMask();
    this.#durability = options.durability ?? "strict";
    this.#clock = options.clock ?? systemClock;
  }

  async create(scope: Scope, session: NewSession): Promise<Lock> {
    this.#alive();
    const id = sessionId(session.uuid);
    const folder = join(this.#layout.running, id);
    await this.#makeEmpty(id, folder);
    let sessionLock: SessionLock | undefined;
    try {
      await writeNew(join(folder, metadataFile), encodeMetadata(prepareMetadata(this.#mask, scope, session)));
      const state = initialState(session.createdAt);
      await writeNew(join(folder, stateFile), encodeState(state));
      sessionLock = acquire(folder, this.#clock);
      for (const file of [...Object.values(kindFiles), summariesFile]) await writeNew(join(folder, file), "");
      await syncFolder(folder);
      await syncFolder(this.#layout.running);
      return this.#hold(scope, id, folder, sessionLock, state);
    } catch (error) {
      sessionLock?.release();
      await rm(folder, { recursive: true, force: true });
      throw unavailable(error, "Making a session", folder);
    }
  }

  async info(scope: Scope, id: string): Promise<SessionInfo> {
    this.#alive();
    const { place, metadata } = this.#find(scope, id);
    const now = this.#held.has(id) ? place : await endMove(this.#layout, place, this.#clock);
    return this.#describe(now, metadata);
  }

  async *list(scope: Scope, query: ListQuery = {}): AsyncGenerator<SessionInfo> {
    this.#alive();
    const sessions: { readonly id: string; readonly created: number }[] = [];
    let looked = 0;
    for (const id of await this.#ids()) {
      looked += 1;
      const metadata = this.#glance(id);
      if (metadata && inScope(scope, metadata)) sessions.push({ id, created: Date.parse(metadata.createdAt) });
      if (looked % listedAtOnce === 0) await nextTurn();
    }
    sessions.sort((a, b) => b.created - a.created || (a.id < b.id ? -1 : 1));
    let left = query.limit ?? Number.POSITIVE_INFINITY;
    for (const { id } of sessions) {
      if (left <= 0) return;
      const place = locate(this.#layout, id);
      const metadata = place && this.#glance(id);
      if (!place || !metadata) continue;
      const info = await this.#describe(place, metadata);
      if (query.status !== undefined && info.state.status !== query.status) continue;
      yield info;
      left -= 1;
    }
  }

  async lock(scope: Scope, id: string): Promise<Lock> {
    this.#alive();
    const { place, metadata } = this.#find(scope, id);
    if (metadata.format > formatVersion) {
      throw new WindrowError(
        "format-newer",
        `Session ${id} has format ${metadata.format}, this version writes ${formatVersion}: read it, or update Windrow.`,
        { id, format: metadata.format },
      );
    }
    if (place.completed) throw finished(id);
    let sessionLock: SessionLock;
    try {
      sessionLock = acquire(place.folder, this.#clock);
    } catch (error) {
      if (systemCode(error) === "ENOENT" && locate(this.#layout, id)?.completed === true) throw finished(id);
      throw unavailable(error, "Locking a session", place.folder);
    }
    try {
      const state = await stateOf(place, metadata);
      if (isFinal(state.status)) {
        await moveToCompleted(this.#layout, id);
        throw finished(id);
      }
      const lock = this.#hold(scope, id, place.folder, sessionLock, readState(place.folder));
      if (!sessionLock.predecessorReleased) {
        // What a dead writer left may never have been synced; from here on it is relied on.
        await this.#journal(lock).sync();
        await removeDrafts(place.folder);
        await syncFolder(place.folder);
      }
      return lock;
    } catch (error) {
      this.#held.get(id)?.journal.close();
      this.#held.delete(id);
      sessionLock.release();
      throw unavailable(error, "Opening a session", place.folder);
    }
  }

  async append(lock: Lock, records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    return this.#journal(lock).append(records);
  }

  async *read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncGenerator<StoredRecordOf<K>> {
    this.#alive();
    checkQuery(query);
    const { place, file, path } = this.#openLog(scope, id, query.kind);
    if (file === undefined) return;
    const held = this.#held.get(id);
    const extent =
      held && held.ended === undefined
        ? { acknowledged: held.journal.acknowledged(query.kind) }
        : place.completed
          ? "whole"
          : "finished";
    try {
      for await (const record of readRecords(file, query, extent, (span) =>
        this.#noteDamage(id, query.kind, file, path, span),
      )) {
        yield record as StoredRecordOf<K>;
      }
    } finally {
      closeSync(file);
    }
  }

  async setState(lock: Lock, state: SessionState): Promise<void> {
    await this.#journal(lock).setState(state);
  }

  async finish(lock: Lock, state: SessionState & { readonly status: FinalStatus }): Promise<void> {
    const held = this.#heldBy(lock);
    if (held.ended === "released") throw released(lock.id);
    held.ending ??= this.#finish(held, lock.id, state);
    try {
      await held.ending;
    } catch (error) {
      delete held.ending;
      delete held.ended;
      throw unavailable(error, "Finishing a session", held.journal.folder);
    }
  }

  async recovery(scope: Scope, id: string): Promise<readonly Recovered[]> {
    this.#alive();
    this.#find(scope, id);
    return [...(this.#recovered.get(id)?.values() ?? [])];
  }

  async close(): Promise<void> {
    this.#closed = true;
    const releases = await Promise.allSettled([...this.#held].map(([id, held]) => this.#release(id, held)));
    for (const release of releases) if (release.status === "rejected") throw release.reason;
  }

  #alive(): void {
    if (this.#closed) throw storeClosed();
  }

  async #makeEmpty(id: string, folder: string): Promise<void> {
    try {
      await makeFolder(this.#layout.running);
      await makeFolder(this.#layout.completed);
      if (locate(this.#layout, id)) throw alreadyExists(id);
      await makeNewFolder(folder);
    } catch (error) {
      throw systemCode(error) === "EEXIST" && existsSync(folder)
        ? alreadyExists(id)
        : unavailable(error, "Making a session", folder);
    }
    if (!existsSync(join(this.#layout.completed, id))) return;
    await rm(folder, { recursive: true });
    throw alreadyExists(id);
  }

  #hold(scope: Scope, id: string, folder: string, sessionLock: SessionLock, state: SessionState | undefined): Lock {
    const stamp = timestamp(this.#clock).replaceAll(/[-:.]/g, "");
    const options = { mask: this.#mask, durability: this.#durability, stamp, status: state?.status };
    const journal = new Journal(folder, sessionLock, options);
    const held: Held = { journal, sessionLock };
    const recovery = journal.recovered;
    for (const span of recovery) this.#note(id, span);
    const lock: Lock = {
      id,
      scope,
      get owner() {
        return sessionLock.owner;
      },
      recovery,
      release: () => this.#release(id, held),
    };
    this.#held.set(id, held);
    this.#locks.set(lock, held);
    return lock;
  }

  #heldBy(lock: Lock): Held {
    const held = this.#locks.get(lock);
    if (!held) throw foreignLock(lock.id);
    return held;
  }

  #journal(lock: Lock): Journal {
    this.#alive();
    const held = this.#heldBy(lock);
    if (held.ended === "finished") throw finished(lock.id);
    if (held.ended === "released") throw released(lock.id);
    return held.journal;
  }

  async #release(id: string, held: Held): Promise<void> {
    if (held.ended === "finished") return held.ending;
    held.ending ??= this.#letGo(id, held);
    return held.ending;
  }

  async #letGo(id: string, held: Held): Promise<void> {
    held.ended = "released";
    try {
      await held.journal.settle();
    } finally {
      held.journal.close();
      held.sessionLock.release();
      this.#held.delete(id);
    }
  }

  async #finish(held: Held, id: string, state: SessionState): Promise<void> {
    this.#alive();
    held.ended = "finished";
    await held.journal.settle();
    await held.journal.setState(state);
    await moveToCompleted(this.#layout, id);
    held.journal.close();
    held.sessionLock.release();
    this.#held.delete(id);
  }

  /** A session in either folder, if the scope sees it. */
  #find(scope: Scope, id: string): { readonly place: Place; readonly metadata: SessionMetadata } {
    const place = locate(this.#layout, sessionId(id));
    if (!place) throw notFound(id);
    let metadata: SessionMetadata;
    try {
      metadata = readMetadata(place.folder, id);
    } catch (error) {
      // It may have moved between the two looks.
      if (existsSync(place.folder)) throw error;
      return this.#find(scope, id);
    }
    if (!inScope(scope, metadata)) throw notFound(id);
    return { place, metadata };
  }

  async #describe(place: Place, metadata: SessionMetadata): Promise<SessionInfo> {
    const state = await stateOf(place, metadata);
    // A session that moved while it was looked at is looked at again, where it is now.
    const now = existsSync(place.folder) ? undefined : locate(this.#layout, place.id);
    if (now) return this.#describe(now, metadata);
    return { metadata, state, location: place.folder, readOnly: place.completed || metadata.format > formatVersion };
  }

  async #ids(): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for (const folder of [this.#layout.running, this.#layout.completed]) {
      try {
        for (const name of await readdir(folder)) if (isSessionId(name)) ids.add(name);
      } catch (error) {
        if (systemCode(error) !== "ENOENT") throw unavailable(error, "Listing the sessions", folder);
      }
    }
    return ids;
  }

  /** The metadata of a session that may just be made, moved or broken: it is left out of the list then. */
  #glance(id: string): SessionMetadata | undefined {
    const place = locate(this.#layout, id);
    try {
      return place && readMetadata(place.folder, id);
    } catch (error) {
      if (!isWindrowError(error, "store-corrupt")) throw error;
      // It may have moved between the look for it and the look into it; it moves but once.
      const moved = locate(this.#layout, id);
      return moved && moved.folder !== place?.folder ? this.#glance(id) : undefined;
    }
  }

  #openLog(scope: Scope, id: string, kind: RecordKind): { place: Place; file: number | undefined; path: string } {
    const { place } = this.#find(scope, id);
    const path = join(place.folder, kindFiles[kind]);
    try {
      return { place, file: openSync(path, "r"), path };
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw unavailable(error, "Reading a session", path);
      return existsSync(place.folder) ? { place, file: undefined, path } : this.#openLog(scope, id, kind);
    }
  }

  #noteDamage(id: string, kind: RecordKind, file: number, path: string, span: Damage): void {
    const known = this.#recovered.get(id);
    const name = kindFiles[kind];
    const problem = "damaged";
    if (known?.has(spanKey(name, span.offset))) return;
    const copy = (known?.size ?? 0) < damagedCopies ? keepDamaged(file, path, span.offset, span.length) : undefined;
    this.#note(id, { file: name, ...span, problem, quarantine: copy === undefined ? "" : `${name}.${copy}` });
  }

  #note(id: string, recovered: Recovered): void {
    const spans = this.#recovered.get(id) ?? new Map<string, Recovered>();
    spans.set(spanKey(recovered.file, recovered.offset), recovered);
    this.#recovered.set(id, spans);
  }
}

function spanKey(file: string, offset: number): string {
  return `${file}:${offset}`;
}
