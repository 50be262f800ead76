/** A store with the index of its sessions: it is caught up before every question, and asked by one at a time. */
import { knownSecrets, textMask } from "../../mask/text.ts";
import type { Message } from "../../message/message.ts";
import { catchUp, projectKey, toolMark } from "../../search/catch-up.ts";
import type { Field, RankedMessage } from "../../search/rank.ts";
import { SearchIndex } from "../../search/search.ts";
import type { IndexedEntry } from "../../search/table.ts";
import { inScope, isAboutRecords } from "../../store/shared/rules.ts";
import type { Scope, Store } from "../../store/store.ts";
import { isWindrowError } from "../../errors.ts";
import type { WindrowError } from "../../errors.ts";
import type { TextMask } from "../../window/window.ts";
import type { MemoryFilter } from "../memory.ts";

/** The place of a store's index, and the owner of the sessions that are asked. */
export interface StoreMemoryOptions {
  /**
   * The folder of the index: that of `windrow search` is `searchFolderOf(target)`. One that another process writes just
   * now, or that cannot be written, is read, and what it lacks is kept in memory. Default: an index in memory, built from
   * the whole store at the first question.
   */
  readonly index?: string;
  /** The owner of the sessions. Default: those of no tenant, of every user. */
  readonly scope?: Scope;
  /** Told of sessions that cannot be read, as damaged and archived ones. Default: they are passed over. */
  readonly unreadable?: (sessionId: string, error: WindrowError) => void;
}

/** Postings that are kept in memory beside a folder that another process writes: 16 MB. */
const mostBeside = 2_000_000;

/** Messages between two that are asked for, up to which they are read in one go. */
const readAlong = 4;

/** The sessions of a store's scope, and the index of them. */
export class IndexedStore {
  readonly store: Store;
  readonly scope: Scope;
  /** The store's own mask, for texts that are cut. */
  readonly mask: TextMask;
  readonly folder: string | undefined;
  readonly unreadable: (sessionId: string, error: WindrowError) => void;
  readonly #index: SearchIndex;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Store, { index, scope = {}, unreadable = () => undefined }: StoreMemoryOptions) {
    this.store = store;
    this.scope = scope;
    this.folder = index;
    this.unreadable = unreadable;
    this.mask = textMask(store.capabilities.mask ?? knownSecrets);
    this.#index = new SearchIndex(index);
  }

  /** Brings the index up to date and does some work with it, alone. */
  async ask<T>(work: (index: SearchIndex) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#turn;
    const mine = (async (): Promise<T> => {
      await before.catch(() => undefined);
      const index = this.#index;
      index.open();
      try {
        const mostHeld = this.folder === undefined ? Infinity : mostBeside;
        await catchUp(index, this.store, this.scope, { mostHeld, unreadable: this.unreadable }, signal);
      } finally {
        index.close();
      }
      return await work(index);
    })();
    this.#turn = mine;
    return mine;
  }

  /** The sessions of the scope, and which of their messages may be an answer. */
  field(index: SearchIndex, where: MemoryFilter = {}, asking?: string): Omit<Field, "limit"> {
    const { sessionId, status, project, since, until, tool } = where;
    const key = project === undefined ? undefined : projectKey(project);
    const listed = Array.isArray(sessionId) ? new Set<string>(sessionId) : undefined;
    const answers = ({ id, session }: IndexedEntry): boolean =>
      id !== asking &&
      (typeof sessionId !== "string" || id === sessionId) &&
      (status === undefined || (session.status ?? "unfinished") === status) &&
      (key === undefined || session.projects?.includes(key) === true);
    const [from, to] = [seconds(since, -Infinity), seconds(until, Infinity)];
    const marked = tool === undefined ? undefined : index.marked(toolMark(tool));
    const isOpen = since === undefined && until === undefined && !marked;
    const holds = (number: number): boolean => {
      const time = index.timeOf(number);
      return time >= from && time < to && (marked === undefined || marked[number] === 1);
    };
    const isSeen = ({ id, session }: IndexedEntry): boolean =>
      inScope(this.scope, session) && (!listed || listed.has(id));
    const entries = [...index.entries()].filter(isSeen);
    return { entries, answers, ...(!isOpen && { holds }) };
  }

  /** The messages of hits, by number: those that are still there, in this scope. */
  async messages(hits: readonly RankedMessage[], signal?: AbortSignal): Promise<ReadonlyMap<number, Message>> {
    const found = new Map<number, Message>();
    for (const run of runsOf(hits)) {
      signal?.throwIfAborted();
      const numbers = new Map(run.map(({ seq, number }) => [seq, number]));
      const { entry, seq: from } = run[0]!;
      const query = { kind: "message", from, to: run.at(-1)!.seq } as const;
      await this.attempt(entry.id, async () => {
        for await (const { seq, message } of this.store.read(this.scope, entry.id, query)) {
          const number = numbers.get(seq);
          if (number !== undefined) found.set(number, message);
        }
      });
    }
    return found;
  }

  /** Work on one session; undefined where it was taken away or cannot be read: the others answer. */
  async attempt<T>(id: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (isAboutRecords(error)) this.unreadable(id, error);
      else if (!isWindrowError(error, "session-not-found")) throw error;
      return undefined;
    }
  }
}

/** The messages of a session in an index, oldest first. */
export function* messagesIn({ stretches }: IndexedEntry): Generator<{ readonly number: number; readonly seq: number }> {
  for (const { number, from, count } of stretches) {
    for (let at = 0; at < count; at++) yield { number: number + at, seq: from + at };
  }
}

function seconds(date: Date | undefined, otherwise: number): number {
  return date === undefined ? otherwise : date.getTime() / 1_000;
}

/** Messages that are read in one go: those of a session that stand close together, in their order. */
function runsOf(hits: readonly RankedMessage[]): readonly (readonly RankedMessage[])[] {
  const runs: RankedMessage[][] = [];
  for (const hit of hits.toSorted((left, right) => left.number - right.number)) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (last?.entry === hit.entry && hit.seq - last.seq <= readAlong) run?.push(hit);
    else runs.push([hit]);
  }
  return runs;
}
