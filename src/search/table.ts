/**
 * The table of an index: its sessions, and which numbers their messages have. A file of JSON lines that grows at its end;
 * a line that is cut off counts for nothing.
 */
import type { FinalStatus } from "../store/store.ts";

/** The facts of a session in the index, known without a look into its log. */
export interface IndexedSession {
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly user?: string;
  readonly tenant?: string;
  /** Hashes of its project's names ({@link projectKeys}). */
  readonly projects?: readonly string[];
  /** Set once it is finished: nothing will be added. */
  readonly status?: FinalStatus;
  /** The time of the state in which it was put to rest: until that changes, nothing was added. */
  readonly rested?: string;
}

/** Messages of one session that follow on each other, in the log and in the index. */
export interface Stretch {
  /** The index's number of the first. */
  readonly number: number;
  /** Its `seq`. */
  readonly from: number;
  readonly count: number;
}

/** A session of the index with its messages, oldest first. */
export interface IndexedEntry {
  readonly id: string;
  readonly session: IndexedSession;
  readonly stretches: readonly Stretch[];
}

interface Entry extends IndexedEntry {
  session: IndexedSession;
  readonly stretches: Stretch[];
  /** Messages of its last stretch that are not in the file yet. */
  unwritten: number;
}

const endings: readonly FinalStatus[] = ["completed", "failed", "timeout"];

/** The sessions of an index. */
export class Table {
  readonly #entries = new Map<string, Entry>();
  /** Sessions whose facts or messages are not in the file yet. */
  readonly #described = new Set<Entry>();
  readonly #extended = new Set<Entry>();
  /** The number that the next message gets. */
  next = 0;
  /** One more than the largest number of a message in the file. */
  end = 0;
  /** Bytes that the files of postings had when the newest lines were written. */
  postingBytes = 0;
  /** Lines that were read and written. */
  lines = 0;

  /** Every session. */
  entries(): Iterable<IndexedEntry> {
    return this.#entries.values();
  }

  /** One session. */
  entry(id: string): IndexedEntry | undefined {
    return this.#entries.get(id);
  }

  /** How many lines would say all of it. */
  get leastLines(): number {
    let sum = this.#entries.size + 2;
    for (const { stretches } of this.#entries.values()) sum += stretches.length;
    return sum;
  }

  /** Takes the facts of a session. */
  describe(id: string, session: IndexedSession): void {
    const known = this.#entries.get(id);
    if (known && sameFacts(known.session, session)) return;
    this.#described.add(this.#set(id, session));
  }

  /** Gives the message of a session that follows on those it has a number. */
  add(id: string, seq: number): number {
    const entry = this.#entries.get(id);
    if (!entry) throw new Error(`The session ${id} was not described.`);
    const number = this.next++;
    // Each flush begins a stretch of its own in the file; in memory it is one.
    this.#extend(entry, { number, from: seq, count: 1 });
    entry.unwritten++;
    this.#extended.add(entry);
    return number;
  }

  /** The lines that the file lacks, which it has from now on. */
  take(): readonly string[] {
    // The facts that say that a session has ended come behind its messages: a write may be cut off between the two.
    const begun = [...this.#described].filter((entry) => this.#extended.has(entry));
    const lines = begun.map(({ id, session }) => {
      const { status: _, rested: __, ...rest } = session;
      return lineOf({ id, session: rest });
    });
    for (const entry of this.#extended) {
      for (const stretch of newest(entry)) lines.push(JSON.stringify({ session: entry.id, ...stretch }));
      entry.unwritten = 0;
    }
    for (const entry of this.#described) lines.push(lineOf(entry));
    this.#described.clear();
    this.#extended.clear();
    // One that reserves numbers stands before them, one about the postings behind.
    if (lines.length > 0) this.lines += lines.length + 2;
    return lines;
  }

  /** The lines that say all of it. */
  all(): readonly string[] {
    return [
      JSON.stringify({ reserved: this.next }),
      ...[...this.#entries.values()].flatMap((entry) => [
        lineOf(entry),
        ...entry.stretches.map((stretch) => JSON.stringify({ session: entry.id, ...stretch })),
      ]),
    ];
  }

  /** Takes a session out; returns its messages. */
  forget(id: string): readonly Stretch[] {
    const stretches = this.#entries.get(id)?.stretches ?? [];
    this.#entries.delete(id);
    return stretches;
  }

  /** Reads a line of the file. */
  read(line: string): void {
    this.lines++;
    const { session: id, number, from, count, reserved, postings, created, ...facts } = parse(line);
    if (typeof reserved === "number") this.next = Math.max(this.next, reserved);
    if (typeof postings === "number") this.postingBytes = postings;
    if (typeof id !== "string") return;
    if (typeof created === "number") {
      const { user, tenant, projects, rested } = facts;
      const status = endings.find((known) => known === facts["status"]);
      this.#set(id, {
        created,
        ...(typeof user === "string" && { user }),
        ...(typeof tenant === "string" && { tenant }),
        ...(Array.isArray(projects) && { projects: projects.filter((one) => typeof one === "string") }),
        ...(status && { status }),
        ...(typeof rested === "string" && { rested }),
      });
    }
    const entry = this.#entries.get(id);
    if (!entry || typeof number !== "number" || typeof from !== "number" || typeof count !== "number") return;
    this.#extend(entry, { number, from, count });
    this.end = Math.max(this.end, number + count);
    this.next = Math.max(this.next, this.end);
  }

  #set(id: string, session: IndexedSession): Entry {
    const known = this.#entries.get(id);
    if (known) known.session = session;
    const entry = known ?? { id, session, stretches: [], unwritten: 0 };
    this.#entries.set(id, entry);
    return entry;
  }

  #extend({ stretches }: Entry, added: Stretch): void {
    const last = stretches.at(-1);
    if (last && last.number + last.count === added.number && last.from + last.count === added.from) {
      stretches[stretches.length - 1] = { ...last, count: last.count + added.count };
    } else stretches.push(added);
  }
}

/** The last message of a session that the index knows, by `seq`; 0 for none. */
export function covered(entry: IndexedEntry | undefined): number {
  const last = entry?.stretches.at(-1);
  return last ? last.from + last.count - 1 : 0;
}

function sameFacts(known: IndexedSession, session: IndexedSession): boolean {
  return known.status === session.status && known.rested === session.rested;
}

function lineOf({ id, session }: Pick<IndexedEntry, "id" | "session">): string {
  return JSON.stringify({ session: id, ...session });
}

/** The stretches of the messages that are not in the file yet. */
function newest({ stretches, unwritten }: Entry): readonly Stretch[] {
  const found: Stretch[] = [];
  let left = unwritten;
  for (const { number, from, count } of stretches.toReversed()) {
    if (left <= 0) break;
    const taken = Math.min(left, count);
    const known = count - taken;
    found.unshift({ number: number + known, from: from + known, count: taken });
    left -= taken;
  }
  return found;
}

function parse(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
