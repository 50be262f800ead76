/**
 * The list of a store's sessions. The folders are the truth; `index.jsonl` beside them saves looking into every one. A
 * session that the index lacks is looked up and added; a line without a session is ignored.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isWindrowError } from "../../errors.ts";
import { inScope, isFinal, isSessionId, notFound, sessionId } from "../shared/rules.ts";
import type { FinalStatus, ListQuery, Scope, SessionInfo, SessionMetadata } from "../store.ts";
import type { Disk } from "../../disk/disk.ts";
import { readMetadata, readState } from "../format/documents.ts";
import { FinishedSessions, settledMs } from "./finished-sessions.ts";
import { entryOf, indexFile, lineOf } from "./index-file.ts";
import { readIndex } from "./index-reader.ts";
import type { EndEntry, IndexEntry } from "./index-file.ts";
import { follow, foundAt, makingOf } from "./follow.ts";
import type { Follow, Found } from "./follow.ts";
import { locate } from "./layout.ts";
import { fileMode, replaceFile, systemCode, unavailable, writeAll } from "../../disk/safe-write.ts";
import type { Layout, Place } from "./layout.ts";
import { hasNoLog } from "./layout.ts";
import { isBeingMade, isMade } from "./made.ts";

/** Sessions looked into between two turns of the event loop. */
const lookedAtOnce = 64;

const toAppend = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

/** How folders and index looked when they were last read. */
interface Seen {
  readonly running: number;
  readonly completed: number;
  readonly indexNode: number;
  readonly indexSize: number;
}

/** The names in the folders of running and of ended sessions. */
interface Names {
  readonly running: readonly string[];
  readonly completed: readonly string[];
}

/** The sessions of a store. */
export class Catalogue {
  readonly #layout: Layout;
  readonly #disk: Disk;
  readonly #path: string;
  readonly #entries = new Map<string, IndexEntry>();
  #refreshing: Promise<unknown> = Promise.resolve();
  readonly #finished = new FinishedSessions((path) => this.#stat(path)?.mtimeMs);
  #newestFirst: readonly IndexEntry[] | undefined;
  #seen: Seen | undefined;
  /** Sessions that the index does not know and that cannot be looked into. */
  #broken: readonly Place[] = [];

  constructor(layout: Layout, disk: Disk) {
    this.#layout = layout;
    this.#disk = disk;
    this.#path = join(layout.base, indexFile);
  }

  /**
   * A session in either folder, if the scope sees it.
   *
   * @throws WindrowError `session-id-invalid`, `session-not-found`, `store-corrupt`
   */
  find(scope: Scope, id: string): Found {
    const place = locate(this.#layout, sessionId(id), this.#disk);
    if (!place) throw notFound(id);
    let found: Found;
    try {
      found = foundAt(place, this.#disk);
    } catch (error) {
      // It may have moved between the two looks.
      if (!this.#disk.exists(place.folder)) return this.find(scope, id);
      if (isBeingMade(place, this.#disk)) throw notFound(id);
      if (!isWindrowError(error, "store-corrupt")) throw error;
      // Its making may have ended between the two looks.
      found = foundAt(place, this.#disk);
    }
    if (!inScope(scope, found.metadata)) throw notFound(id);
    return found;
  }

  /**
   * Finds a session, and then the same one again.
   *
   * @throws WindrowError as {@link Catalogue.find}
   */
  follow(scope: Scope, id: string): Follow {
    return follow(this.#layout, this.find(scope, id), this.#disk);
  }

  /**
   * The sessions a query may ask for, newest first; whether one has the status is left to who asks.
   *
   * @param describe - looks into one
   */
  async *list(
    scope: Scope,
    query: ListQuery,
    describe: (now: Follow) => Promise<SessionInfo>,
  ): AsyncGenerator<SessionInfo> {
    for (const entry of await this.#refresh()) {
      if (!inScope(scope, entry)) continue;
      if (query.status !== undefined && (entry.status ?? query.status) !== query.status) continue;
      if (entry.status !== undefined && (query.unfinished === true || query.without?.(entry.id) === true)) continue;
      const known = entry.status && this.#finished.get(entry.id);
      if (known && inScope(scope, known.metadata)) {
        yield known;
        continue;
      }
      const place = locate(this.#layout, entry.id, this.#disk);
      const making = place && makingOf(place.folder, this.#disk);
      const metadata = place && this.#glance(place);
      if (place && !metadata) this.#tell(place, query);
      if (!place || !metadata || !inScope(scope, metadata)) continue;
      const info = await orGone(describe(follow(this.#layout, { place, metadata, making }, this.#disk)));
      if (!info) continue;
      if (place.completed) this.#finished.add(place, info);
      yield info;
    }
    // Their owner is unknown: only a scope of every user's sessions may know of them.
    if (scope.user !== undefined || scope.tenant !== undefined) return;
    for (const place of this.#broken) this.#tell(place, query);
  }

  /** Reports a session whose metadata is damaged to the `unreadable` of a query. */
  #tell(place: Place, { unreadable }: ListQuery): void {
    if (!unreadable || !isMade(place, this.#disk)) return;
    try {
      readMetadata(place.folder, place.id, this.#disk);
    } catch (error) {
      if (!isWindrowError(error, "store-corrupt")) throw error;
      if (this.#disk.exists(place.folder)) unreadable(place.id, error);
    }
  }

  /** A session was made. */
  made(metadata: SessionMetadata): void {
    this.#append([entryOf(metadata.uuid, metadata)]);
  }

  /** A session ended. */
  ended(id: string, status: FinalStatus): void {
    this.#append([{ id, status }]);
  }

  /** Writes the index anew, from the sessions; returns how many there are. */
  async rebuild(): Promise<number> {
    const entries: IndexEntry[] = [];
    for (const [id, completed] of placesByName(await this.#names())) {
      const place = this.#placeOf(id, completed);
      const entry = !isSessionId(id) || hasNoLog(place, this.#disk) ? undefined : this.#look(place);
      if (entry) entries.push(entry);
      if (entries.length % lookedAtOnce === 0) await nextTurn();
    }
    const lines = entries.map((entry) => lineOf(entry)).join("");
    try {
      await replaceFile(this.#path, lines, false, this.#disk);
    } catch (error) {
      throw unavailable(error, "Writing the index", this.#path);
    }
    this.#seen = undefined;
    return entries.length;
  }

  /** The sessions newest first, as they are now. Those who ask at the same time are served one after the other. */
  #refresh(): Promise<readonly IndexEntry[]> {
    const next = this.#refreshing.then(() => this.#refreshed());
    this.#refreshing = next.catch(() => undefined);
    return next;
  }

  async #refreshed(): Promise<readonly IndexEntry[]> {
    const now = this.#glimpse();
    if (this.#seen && this.#newestFirst && sameLook(this.#seen, now) && isSettled(now)) {
      // A caller that lists in a loop must give the event loop its turn.
      await nextTurn();
      return this.#newestFirst;
    }
    this.#newestFirst = undefined;
    // The index is read up to the glimpse, so that its sessions were there before the names are.
    const [names] = await Promise.all([this.#names(), this.#readIndex(now)]);
    const unknown: IndexEntry[] = [];
    const broken: Place[] = [];
    const strangers = {
      running: names.running.filter((id) => !this.#entries.has(id)),
      completed: names.completed.filter((id) => !this.#entries.has(id)),
    };
    const known = names.running.length + names.completed.length - strangers.running.length - strangers.completed.length;
    // A session that moved meanwhile is counted twice, and may stand for one that is gone.
    if (known !== this.#entries.size || names.running.length > 0) {
      const there = placesByName(names);
      for (const id of this.#entries.keys()) if (!there.has(id)) this.#entries.delete(id);
    }
    const found = placesByName(strangers);
    let looked = 0;
    for (const [id, completed] of found) {
      if (!isSessionId(id)) continue;
      const place = this.#placeOf(id, completed);
      const entry = this.#look(place);
      if (entry) unknown.push(entry);
      else broken.push(place);
      looked += 1;
      if (looked % lookedAtOnce === 0) await nextTurn();
    }
    for (const entry of unknown) this.#entries.set(entry.id, entry);
    // The index has a line only of what was made to its end: the doctor tells a cut-short making by that.
    this.#append(unknown.filter(({ id }) => !hasNoLog(this.#placeOf(id, found.get(id) === true), this.#disk)));
    this.#broken = broken;
    this.#seen = now;
    this.#newestFirst = [...this.#entries.values()].sort(newestFirst);
    return this.#newestFirst;
  }

  #glimpse(): Seen {
    const index = this.#stat(this.#path);
    return {
      running: this.#stat(this.#layout.running)?.mtimeMs ?? 0,
      completed: this.#stat(this.#layout.completed)?.mtimeMs ?? 0,
      indexNode: index?.ino ?? 0,
      indexSize: index?.size ?? 0,
    };
  }

  #stat(path: string): { readonly mtimeMs: number; readonly ino: number; readonly size: number } | undefined {
    try {
      return this.#disk.statPath(path);
    } catch {
      return undefined;
    }
  }

  /** Reads what was added to the index since it was last read, or all of a new one. */
  async #readIndex(now: Seen): Promise<void> {
    const goesOn = this.#seen?.indexNode === now.indexNode && this.#seen.indexSize <= now.indexSize;
    if (!goesOn) this.#entries.clear();
    const from = goesOn ? (this.#seen?.indexSize ?? 0) : 0;
    await readIndex({ path: this.#path, from, to: now.indexSize, disk: this.#disk }, (entry) => this.#apply(entry));
  }

  #apply(entry: IndexEntry | EndEntry): void {
    if ("created" in entry) {
      this.#entries.set(entry.id, entry);
      return;
    }
    const known = this.#entries.get(entry.id);
    if (known && entry.status !== undefined) known.status = entry.status;
  }

  #append(lines: readonly (IndexEntry | EndEntry)[]): void {
    if (lines.length === 0) return;
    try {
      const file = this.#disk.open(this.#path, toAppend, fileMode);
      try {
        this.#disk.setMode(file, fileMode);
        writeAll(file, Buffer.from(lines.map((line) => lineOf(line)).join("")), this.#disk);
      } finally {
        this.#disk.close(file);
      }
    } catch {
      // Without an index, or with a line less in it, every answer is the same, only slower.
    }
  }

  /** The names in both folders; some may be no session's. */
  async #names(): Promise<Names> {
    const namesIn = async (folder: string): Promise<readonly string[]> => {
      try {
        return await this.#disk.readFolder(folder);
      } catch (error) {
        if (systemCode(error) === "ENOENT") return [];
        throw unavailable(error, "Listing the sessions", folder);
      }
    };
    // Running ones come first: one that moves meanwhile is then seen twice, and not missed.
    const running = await namesIn(this.#layout.running);
    return { running, completed: await namesIn(this.#layout.completed) };
  }

  #placeOf(id: string, completed: boolean): Place {
    return { id, folder: join(completed ? this.#layout.completed : this.#layout.running, id), completed };
  }

  #look(place: Place): IndexEntry | undefined {
    const { id } = place;
    const metadata = this.#glance(place);
    if (!metadata) return undefined;
    const status = place.completed ? readState(place.folder, this.#disk)?.status : undefined;
    return { ...entryOf(id, metadata), ...(status !== undefined && isFinal(status) ? { status } : {}) };
  }

  /** A session's metadata; undefined while the session is being made or moved, or when the metadata is damaged. */
  #glance({ id, folder }: Place): SessionMetadata | undefined {
    try {
      return readMetadata(folder, id, this.#disk);
    } catch (error) {
      if (!isWindrowError(error, "store-corrupt")) throw error;
      // It may have moved between the look for it and the look into it; it moves but once.
      const moved = locate(this.#layout, id, this.#disk);
      return moved && moved.folder !== folder ? this.#glance(moved) : undefined;
    }
  }
}

/** The order of a list; a session whose time is none is older than all others. */
function newestFirst(a: IndexEntry, b: IndexEntry): number {
  const [left, right] = [a, b].map(({ created }) => (Number.isNaN(created) ? -Infinity : created));
  return left === right ? (a.id < b.id ? -1 : 1) : (right ?? 0) > (left ?? 0) ? 1 : -1;
}

/** Each name once, with whether it is that of an ended session. */
function placesByName({ running, completed }: Names): ReadonlyMap<string, boolean> {
  const places = new Map<string, boolean>();
  for (const name of running) places.set(name, false);
  for (const name of completed) places.set(name, true);
  return places;
}

/** A session that may go into the trash while it is looked into. */
async function orGone(info: Promise<SessionInfo>): Promise<SessionInfo | undefined> {
  try {
    return await info;
  } catch (error) {
    if (isWindrowError(error, "session-not-found")) return undefined;
    throw error;
  }
}

function sameLook(a: Seen, b: Seen): boolean {
  return (
    a.running === b.running && a.completed === b.completed && a.indexNode === b.indexNode && a.indexSize === b.indexSize
  );
}

function isSettled(seen: Seen): boolean {
  return Date.now() - Math.max(seen.running, seen.completed) > settledMs;
}
