/**
 * The index of `windrow search`: which stretches of which sessions hold a term. It grows at its end, and is never needed
 * for a right answer: what it does not know yet is read from the sessions themselves.
 *
 * A folder of 256 files of postings, eight bytes each: a term's hash and a stretch's number. `stretches.jsonl` is written
 * after them: a posting of a stretch that it does not name counts for nothing. No text of a session stands in it.
 */
import { appendFileSync, chmodSync, closeSync, constants, existsSync, openSync } from "node:fs";
import { readFileSync, renameSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolders } from "../../disk/folders.ts";
import { systemDisk } from "../../disk/disk.ts";
import { fileMode, systemCode } from "../../disk/safe-write.ts";
import type { FinalStatus } from "../../store/store.ts";

/** Messages of one session that the index knows as one. */
export interface Stretch {
  /** First and last message, by `seq`. */
  readonly from: number;
  readonly to: number;
}

interface NumberedStretch extends Stretch {
  readonly number: number;
}

/** The facts of a session in the index, known without a look into its log. */
export interface IndexedSession {
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly user?: string;
  readonly tenant?: string;
  /** Set once it is finished: nothing will be added. */
  readonly status?: FinalStatus;
}

interface Entry {
  session: IndexedSession;
  readonly stretches: NumberedStretch[];
}

const postingBytes = 8;
const shards = 256;
/** Postings held in memory before they are written: 32 MB of numbers at most. */
const heldPostings = 2_000_000;
const endings: readonly FinalStatus[] = ["completed", "failed", "timeout"];
const tableFile = "stretches.jsonl";
const lockFile = ".lock";

/** An open index. One process writes it at a time; others read it, and the sessions for what it lacks. */
export class SearchIndex {
  readonly #folder: string;
  /** Absent where the folder can be neither made nor written: what is there is read. */
  readonly #lock: number | undefined;
  /** Whether this process may add to it. */
  readonly writable: boolean;
  readonly #sessions = new Map<string, Entry>();
  readonly #held = new Map<number, number[]>();
  #heldCount = 0;
  #lines: string[] = [];
  #next = 1;

  /** @param folder - made where it is not there, for its owner only; one that cannot be written is read */
  constructor(folder: string) {
    this.#folder = folder;
    this.#lock = openLock(folder);
    this.writable = this.#lock !== undefined && systemDisk.tryLock(this.#lock, 0) !== false;
    for (const line of linesOf(join(folder, tableFile))) this.#read(line);
  }

  /** Whether all of a finished session is known. */
  isFinal(sessionId: string): boolean {
    return this.#sessions.get(sessionId)?.session.status !== undefined;
  }

  /** The last message of a session that is known, by `seq`; 0 for none. */
  covered(sessionId: string): number {
    return this.#sessions.get(sessionId)?.stretches.at(-1)?.to ?? 0;
  }

  /** Every session it knows. */
  *sessions(): Generator<readonly [id: string, session: IndexedSession]> {
    for (const [id, { session }] of this.#sessions) yield [id, session];
  }

  /** Tells what a session is; needed before {@link add}, and again when it finished. */
  describe(sessionId: string, session: IndexedSession): void {
    const known = this.#sessions.get(sessionId);
    if (known && known.session.status === session.status) return;
    if (known) known.session = session;
    else this.#sessions.set(sessionId, { session, stretches: [] });
    this.#lines.push(JSON.stringify({ session: sessionId, ...session }));
  }

  /** Adds the messages behind {@link covered}. Written by {@link flush}, or before where there are many. */
  add(sessionId: string, stretch: Stretch, terms: Iterable<string>): void {
    const numbered = { number: this.#next++, from: stretch.from, to: stretch.to };
    this.#sessions.get(sessionId)?.stretches.push(numbered);
    for (const term of terms) {
      const hash = hashOf(term);
      const shard = hash % shards;
      const held = this.#held.get(shard);
      if (held) held.push(hash, numbered.number);
      else this.#held.set(shard, [hash, numbered.number]);
      this.#heldCount++;
    }
    this.#lines.push(JSON.stringify({ session: sessionId, ...numbered }));
    if (this.#heldCount >= heldPostings) this.flush();
  }

  /** Writes what was added. */
  flush(): void {
    for (const [shard, postings] of this.#held) {
      const path = this.#shardPath(shard);
      // A process that died in a write may have left a part of a posting.
      if (existsSync(path)) truncateSync(path, statSync(path).size - (statSync(path).size % postingBytes));
      appendFileSync(path, Buffer.from(Uint32Array.from(postings).buffer), { mode: fileMode });
      chmodSync(path, fileMode);
    }
    this.#held.clear();
    this.#heldCount = 0;
    if (this.#lines.length === 0) return;
    const path = join(this.#folder, tableFile);
    const torn = existsSync(path) && !readFileSync(path, "utf8").endsWith("\n") && statSync(path).size > 0;
    appendFileSync(path, `${torn ? "\n" : ""}${this.#lines.join("\n")}\n`, { mode: fileMode });
    chmodSync(path, fileMode);
    this.#lines = [];
  }

  /** The stretches that may hold all of the terms, oldest first, by session: hashes can be alike. */
  candidates(terms: ReadonlySet<string>): ReadonlyMap<string, readonly Stretch[]> {
    let numbers: Set<number> | undefined;
    for (const term of terms) {
      const found = this.#stretchesWith(hashOf(term), numbers);
      numbers = found;
      if (found.size === 0) break;
    }
    const candidates = new Map<string, readonly Stretch[]>();
    for (const [sessionId, { stretches }] of this.#sessions) {
      const found = numbers ? stretches.filter(({ number }) => numbers.has(number)) : stretches;
      if (found.length > 0) candidates.set(sessionId, found);
    }
    return candidates;
  }

  /**
   * Takes sessions out, as if they had never been there: every file that named them is written anew.
   *
   * @returns the files that were
   */
  forget(sessionIds: ReadonlySet<string>): readonly string[] {
    this.flush();
    const gone = new Set<number>();
    for (const id of sessionIds) {
      for (const { number } of this.#sessions.get(id)?.stretches ?? []) gone.add(number);
      this.#sessions.delete(id);
    }
    const changed: string[] = [];
    for (let shard = 0; shard < shards && gone.size > 0; shard++) {
      const path = this.#shardPath(shard);
      const postings = postingsOf(path);
      const left: number[] = [];
      for (let place = 0; place + 1 < postings.length; place += 2) {
        if (!gone.has(postings[place + 1] ?? 0)) left.push(postings[place] ?? 0, postings[place + 1] ?? 0);
      }
      if (left.length < postings.length) changed.push(replace(path, Buffer.from(Uint32Array.from(left).buffer)));
    }
    const path = join(this.#folder, tableFile);
    const lines = linesOf(path);
    const left = lines.filter((line) => !sessionIds.has(String(parse(line)?.["session"])));
    if (left.length < lines.length) changed.push(replace(path, left.map((line) => `${line}\n`).join("")));
    return changed;
  }

  /** Writes what was added and lets others write. */
  close(): void {
    if (this.writable) this.flush();
    if (this.#lock !== undefined) closeSync(this.#lock);
  }

  #read(line: string): void {
    const { session: id, number, from, to, created, user, tenant, status } = parse(line) ?? {};
    if (typeof id !== "string") return;
    if (typeof created === "number") {
      const ended = endings.find((known) => known === status);
      const session: IndexedSession = {
        created,
        ...(typeof user === "string" && { user }),
        ...(typeof tenant === "string" && { tenant }),
        ...(ended && { status: ended }),
      };
      const known = this.#sessions.get(id);
      if (known) known.session = session;
      else this.#sessions.set(id, { session, stretches: [] });
    }
    if (typeof number !== "number" || typeof from !== "number" || typeof to !== "number") return;
    this.#sessions.get(id)?.stretches.push({ number, from, to });
    this.#next = Math.max(this.#next, number + 1);
  }

  #stretchesWith(hash: number, among: ReadonlySet<number> | undefined): Set<number> {
    const found = new Set<number>();
    const postings = postingsOf(this.#shardPath(hash % shards));
    const held = this.#held.get(hash % shards) ?? [];
    for (const list of [postings, held]) {
      for (let place = 0; place + 1 < list.length; place += 2) {
        const number = list[place + 1] ?? 0;
        if (list[place] === hash && (among === undefined || among.has(number))) found.add(number);
      }
    }
    return found;
  }

  #shardPath(shard: number): string {
    return join(this.#folder, `${shard.toString(16).padStart(2, "0")}.postings`);
  }
}

/** How systems refuse to write; Node 20 says `ENOENT` of a folder to be made on a read-only file system. */
const refusals: readonly unknown[] = ["EROFS", "EACCES", "EPERM", "ENOENT", "ENOSPC", "EDQUOT"];

function openLock(folder: string): number | undefined {
  try {
    makeFolders(folder, 0o700);
    chmodSync(folder, 0o700);
    return openSync(join(folder, lockFile), constants.O_RDWR | constants.O_CREAT, fileMode);
  } catch (error) {
    if (refusals.includes(systemCode(error))) return undefined;
    throw error;
  }
}

function postingsOf(path: string): Uint32Array {
  if (!existsSync(path)) return new Uint32Array(0);
  const bytes = readFileSync(path);
  const whole = bytes.length - (bytes.length % postingBytes);
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + whole));
}

function linesOf(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "");
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

function replace(path: string, content: string | Buffer): string {
  writeFileSync(`${path}.new`, content, { mode: fileMode });
  chmodSync(`${path}.new`, fileMode);
  renameSync(`${path}.new`, path);
  return path;
}

/** FNV-1a of a term's UTF-16, 32 bits. */
function hashOf(term: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < term.length; index++) {
    hash = Math.imul(hash ^ term.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
