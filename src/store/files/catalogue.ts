/**
 * The list of a store's sessions. The folders are the truth; `index.jsonl` beside them saves looking into every one. A
 * session that the index lacks is looked up and added; a line without a session is ignored.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Disk } from "../../disk/disk.ts";
import { fileMode, removeDrafts, replaceFile, unavailable, writeAll } from "../../disk/safe-write.ts";
import type { Listing } from "../engine.ts";
import { isFinal, isSessionId } from "../shared/rules.ts";
import type { FinalStatus, SessionStatus } from "../store.ts";
import type { ErasedPlace } from "../upkeep.ts";
import { lookedIn, textOf } from "./folder.ts";
import { indexFile, lineOf, readEntries } from "./index-file.ts";
import type { EndEntry, IndexEntry } from "./index-file.ts";
import { readIndex } from "./index-reader.ts";
import { namesIn, placeIn } from "./layout.ts";
import type { Place } from "./layout.ts";

/** Sessions looked into between two turns of the event loop. */
const lookedAtOnce = 64;

/** A folder that changed this recently may change again within the tick of its clock, in milliseconds. */
const settledMs = 100;

const toAppend = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

/** How folders and index looked when they were last read. */
interface Seen {
  readonly running: number;
  readonly completed: number;
  readonly indexNode: number;
  readonly indexSize: number;
}

/** The sessions that lists show. */
export class Catalogue {
  readonly #base: string;
  readonly #disk: Disk;
  readonly #path: string;
  readonly #entries = new Map<string, IndexEntry>();
  #refreshing: Promise<unknown> = Promise.resolve();
  #newestFirst: readonly IndexEntry[] | undefined;
  #seen: Seen | undefined;

  constructor(base: string, disk: Disk) {
    this.#base = base;
    this.#disk = disk;
    this.#path = join(base, indexFile);
  }

  /** The sessions newest first, as they were when this was last asked for, else as they are now. */
  async lastListed(): Promise<readonly IndexEntry[]> {
    return this.#newestFirst ?? this.listed();
  }

  /** The sessions newest first, as they are now. Those who ask at the same time are served one after the other. */
  listed(): Promise<readonly IndexEntry[]> {
    const next = this.#refreshing.then(() => this.#refreshed());
    this.#refreshing = next.catch(() => undefined);
    return next;
  }

  /** What the index says of a session. */
  async entryOf(id: string): Promise<IndexEntry | undefined> {
    await this.listed();
    return this.#entries.get(id);
  }

  /** A session was made, or is shown again. */
  made(id: string, { createdMs: created, user, tenant, status }: Listing): void {
    const owner = { ...(user !== undefined && { user }), ...(tenant !== undefined && { tenant }) };
    this.add([{ id, created, ...owner, ...(isFinal(status as SessionStatus) && { status: status as FinalStatus }) }]);
  }

  /** Adds lines. */
  add(lines: readonly (IndexEntry | EndEntry)[]): void {
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

  /** Writes the index anew, from the sessions; returns how many there are. */
  async rebuild(): Promise<number> {
    const entries: IndexEntry[] = [];
    await this.listed();
    for (const place of await this.#places()) {
      const looked = lookedIn(place, this.#disk);
      // Of one whose metadata cannot be read, the index may be all that says whose it is.
      const entry = looked?.isBroken ? this.#entries.get(place.id) : looked;
      if (entry) entries.push(entry);
      if (entries.length % lookedAtOnce === 0) await nextTurn();
    }
    try {
      await replaceFile(this.#path, entries.map((entry) => lineOf(entry)).join(""), false, this.#disk);
    } catch (error) {
      throw unavailable(error, "Writing the index", this.#path);
    }
    this.#seen = undefined;
    return entries.length;
  }

  /**
   * Takes out of the index, and of drafts of it that a crash left, what it says of sessions that lists do not show.
   *
   * @returns how much that was
   */
  async scrub(): Promise<ErasedPlace> {
    const there = new Set((await this.#places()).map(({ id }) => id));
    let [count, bytes] = [0, 0];
    const left: string[] = [];
    for (const line of textOf(this.#path, this.#disk).split("\n").filter(Boolean)) {
      const [entry] = readEntries([line]);
      if (entry && there.has(entry.id)) left.push(`${line}\n`);
      else [count, bytes] = [count + 1, bytes + Buffer.byteLength(line) + 1];
    }
    if (count > 0) await replaceFile(this.#path, left.join(""), true, this.#disk);
    await removeDrafts(this.#base, this.#disk);
    return { kind: "index", place: indexFile, count, bytes };
  }

  /** How many lines of the index are unreadable, or say something else than the sessions. */
  async wrongLines(): Promise<number> {
    const places = new Map((await this.#places()).map((place) => [place.id, place]));
    const known = new Map<string, IndexEntry>();
    let wrong = 0;
    for (const line of textOf(this.#path, this.#disk).split("\n").filter(Boolean)) {
      const [entry] = readEntries([line]);
      if (!entry) wrong += 1;
      else if ("created" in entry) known.set(entry.id, entry);
      else if (known.has(entry.id)) known.set(entry.id, { ...known.get(entry.id)!, status: entry.status });
    }
    for (const [id, entry] of known) {
      const place = places.get(id);
      const now = place && lookedIn(place, this.#disk);
      // A line without a session is ignored; of one whose metadata cannot be read the index may be all that is left.
      if (!now || now.isBroken) continue;
      const isEnd = entry.status === undefined || entry.status === now.status;
      const isSame = now.created === entry.created && now.user === entry.user && now.tenant === entry.tenant;
      if (!isSame || !isEnd) wrong += 1;
    }
    return wrong;
  }

  async #refreshed(): Promise<readonly IndexEntry[]> {
    const now = this.#glimpse();
    if (this.#seen && this.#newestFirst && sameLook(this.#seen, now) && isSettled(now)) {
      // A caller that lists in a loop must give the event loop its turn.
      await nextTurn();
      return this.#newestFirst;
    }
    // The index is read up to the glimpse, so that its sessions were there before the names are.
    const [places] = await Promise.all([this.#places(), this.#readIndex(now)]);
    const there = new Set(places.map(({ id }) => id));
    for (const id of this.#entries.keys()) if (!there.has(id)) this.#entries.delete(id);
    const added: IndexEntry[] = [];
    const broken: IndexEntry[] = [];
    for (const [looked, place] of places.filter(({ id }) => !this.#entries.has(id)).entries()) {
      const entry = lookedIn(place, this.#disk);
      if (entry) (entry.isBroken ? broken : added).push(entry);
      if (looked % lookedAtOnce === 0) await nextTurn();
    }
    for (const entry of added) this.#entries.set(entry.id, entry);
    this.add(added);
    this.#seen = now;
    this.#newestFirst = [...this.#entries.values(), ...broken].sort(byCreation);
    return this.#newestFirst;
  }

  #glimpse(): Seen {
    const stat = (path: string) => {
      try {
        return this.#disk.statPath(path);
      } catch {
        return undefined;
      }
    };
    const index = stat(this.#path);
    return {
      running: stat(join(this.#base, "running"))?.mtimeMs ?? 0,
      completed: stat(join(this.#base, "completed"))?.mtimeMs ?? 0,
      indexNode: index?.ino ?? 0,
      indexSize: index?.size ?? 0,
    };
  }

  /** Reads what was added to the index since it was last read, or all of a new one. */
  async #readIndex(now: Seen): Promise<void> {
    const goesOn = this.#seen?.indexNode === now.indexNode && this.#seen.indexSize <= now.indexSize;
    if (!goesOn) this.#entries.clear();
    const from = goesOn ? (this.#seen?.indexSize ?? 0) : 0;
    await readIndex({ path: this.#path, from, to: now.indexSize, disk: this.#disk }, (entry) => {
      if ("created" in entry) this.#entries.set(entry.id, entry);
      else if (entry.status !== undefined && this.#entries.has(entry.id)) {
        this.#entries.get(entry.id)!.status = entry.status;
      }
    });
  }

  /** The places of all sessions that lists may show, each once. */
  async #places(): Promise<readonly Place[]> {
    const places = new Map<string, Place>();
    // Running ones come first: one that moves meanwhile is then seen twice, and not missed.
    for (const parent of ["running", "completed"] as const) {
      for (const id of await namesIn(join(this.#base, parent), this.#disk)) {
        if (isSessionId(id)) places.set(id, placeIn(this.#base, parent, id));
      }
    }
    return [...places.values()];
  }
}

/** The order of a list. */
export function byCreation(one: Pick<IndexEntry, "id" | "created">, other: Pick<IndexEntry, "id" | "created">): number {
  return other.created - one.created || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

function sameLook(a: Seen, b: Seen): boolean {
  return (
    a.running === b.running && a.completed === b.completed && a.indexNode === b.indexNode && a.indexSize === b.indexSize
  );
}

function isSettled(seen: Seen): boolean {
  return Date.now() - Math.max(seen.running, seen.completed) > settledMs;
}
