/**
 * Facts: short sentences that a model read out of sessions, each with the messages that say it. The newest one about a
 * subject counts; those before it stay as its history. They are entries of a memory's log.
 */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../../errors.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { isObject } from "../../message/json.ts";
import { infoIfThere } from "../../store/if-there.ts";
import { systemClock } from "../../store/shared/clock.ts";
import type { Clock } from "../../store/shared/clock.ts";
import type { Scope, Store } from "../../store/store.ts";
import { termsOf } from "../../window/recall/terms.ts";
import { MemoryLog } from "../log/memory-log.ts";
import type { MemoryEntry, MemoryLogOptions, NewMemoryEntry } from "../log/memory-log.ts";

/** A message that says a fact. */
export interface FactSource {
  readonly sessionId: string;
  /** The message, by `seq`. */
  readonly seq: number;
  /** The words of the message that say it. */
  readonly quote: string;
}

/** A fact, as it is kept. */
export interface Fact {
  /** `f-` and eight characters, never used again. */
  readonly id: string;
  /** The subject, by which a newer fact takes its place. */
  readonly about: string;
  readonly text: string;
  /** The messages that say it; empty only for a correction by hand. */
  readonly sources: readonly FactSource[];
  /** The person who corrected it by hand, if it was. */
  readonly correctedBy?: string;
  /** The time when it was written down; ISO 8601, UTC. */
  readonly timestamp: string;
  /** The time when it was said, which decides what is newest; absent where it is not known. ISO 8601, UTC. */
  readonly saidAt?: string;
  /** The fact that it took the place of. */
  readonly replaces?: string;
}

/** A fact that counts, with those before it, newest first. */
export interface CurrentFact extends Fact {
  readonly history: readonly Fact[];
}

/** A fact as an extraction gives it. */
export type NewFact = Pick<Fact, "about" | "text" | "sources" | "saidAt">;

/** The name of the log. */
export const factsName = "facts";

/** The facts of one owner. */
export class Facts {
  readonly #store: Store;
  readonly #owner: Scope;
  readonly #clock: Clock;
  readonly #log: MemoryLog;

  /** @param owner - the tenant and the user whose facts they are; without a user, those of sessions without one */
  constructor(store: Store, owner: Scope, options: MemoryLogOptions = {}) {
    this.#store = store;
    this.#owner = owner;
    this.#clock = options.clock ?? systemClock;
    this.#log = new MemoryLog(store, owner, factsName, options);
  }

  /** The session that holds them, for what has no other source. */
  get sessionId(): string {
    return this.#log.ids[0] ?? "";
  }

  /** The facts that count, oldest first. */
  async list(): Promise<readonly CurrentFact[]> {
    return currentOf(await factsIn(this.#log.read()));
  }

  /** The newest message of a session that facts were read from, by `seq`; 0 for none. */
  async readTo(sessionId: string): Promise<number> {
    return readToIn(this.#log.read(), sessionId);
  }

  /**
   * Adds the facts of a stretch of a session, and that they were read up to `to`. A stretch that was read before adds
   * nothing; a fact that says what the one that counts says adds nothing either, nor does a session that is not there
   * any more.
   *
   * @param usage - what the model used, for the record
   * @returns the facts that are new
   */
  async add(
    sessionId: string,
    to: number,
    facts: readonly NewFact[],
    usage: JsonObject = {},
  ): Promise<readonly Fact[]> {
    let added: readonly Fact[] = [];
    await this.#log.update(async (entries) => {
      const all: MemoryEntry[] = [];
      for await (const entry of entries()) all.push(entry);
      if ((await readToIn(all, sessionId)) >= to) return [];
      // It may have been erased while it was read; an erasure waits for this log's lock.
      if (!(await infoIfThere(this.#store, this.#owner, sessionId))) return [];
      const known = await factsIn(all);
      const planned = planFacts(known, facts, this.#now());
      added = planned;
      return [...planned.map(entryOf), { type: "read", data: { session: sessionId, to, usage } }];
    });
    return added;
  }

  /**
   * Puts a text in the place of a fact, by hand. The old one stays as history.
   *
   * @param by - who corrects it
   * @throws WindrowError `not-found`, `bad-option` for an empty text
   */
  async correct(id: string, text: string, by: string): Promise<Fact> {
    if (text.trim() === "") throw new WindrowError("bad-option", "A correction has a text; `forget` takes a fact out.");
    let corrected: Fact | undefined;
    await this.#log.update(async (entries) => {
      const known = await factsIn(entries());
      const old = currentOf(known).find((fact) => fact.id === id || fact.history.some((one) => one.id === id));
      if (!old) throw noFact(id);
      const timestamp = this.#now();
      corrected = { id: newId(), about: old.about, text, sources: [], correctedBy: by, replaces: old.id, timestamp };
      return [entryOf(corrected)];
    });
    if (!corrected) throw noFact(id);
    return corrected;
  }

  /**
   * Takes facts out for good, each with its history: the log is written anew, and the old one erased.
   *
   * @returns the ids of what went
   * @throws WindrowError `not-found` where there is no such fact; nothing is changed then
   */
  async forget(ids: readonly string[]): Promise<readonly string[]> {
    const current = await this.list();
    const gone = new Set<string>();
    for (const id of ids) {
      const fact = current.find((one) => one.id === id || one.history.some((old) => old.id === id));
      if (!fact) throw noFact(id);
      for (const one of [fact, ...fact.history]) gone.add(one.id);
    }
    await this.#log.rewrite((entries) => without(entries, ({ data }) => gone.has(textOf(data.id))));
    return [...gone];
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

/** The entries of a log of facts without what was read from some sessions: a fact goes where one of them says it. */
export async function* withoutFactsOf(
  entries: AsyncIterable<MemoryEntry>,
  sessionIds: ReadonlySet<string>,
): AsyncGenerator<MemoryEntry, void, undefined> {
  for await (const entry of entries) {
    if (entry.type === "read" && sessionIds.has(textOf(entry.data.session))) continue;
    const fact = factOf(entry);
    if (!fact || !fact.sources.some(({ sessionId }) => sessionIds.has(sessionId))) yield entry;
  }
}

async function* without(
  entries: AsyncIterable<MemoryEntry>,
  goes: (entry: MemoryEntry) => boolean,
): AsyncGenerator<MemoryEntry, void, undefined> {
  for await (const entry of entries) if (!goes(entry)) yield entry;
}

async function readToIn(entries: AsyncIterable<MemoryEntry> | readonly MemoryEntry[], id: string): Promise<number> {
  let to = 0;
  for await (const { type, data } of entries) if (type === "read" && data.session === id) to = Number(data.to);
  return to;
}

async function factsIn(entries: AsyncIterable<MemoryEntry> | readonly MemoryEntry[]): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  for await (const entry of entries) {
    const fact = factOf(entry);
    if (fact) facts.push(fact);
  }
  return facts;
}

/** New facts, numbered, each in the place of the one that counts about its subject. */
function planFacts(known: readonly Fact[], facts: readonly NewFact[], timestamp: string): readonly Fact[] {
  const all = [...known];
  for (const fact of facts) {
    const before = all
      .filter((one) => subjectOf(one) === subjectOf(fact))
      .toSorted(bySaying)
      .at(-1);
    if (before && comparable(before.text) === comparable(fact.text)) continue;
    const added = { ...fact, id: newId(), timestamp };
    const isNewer = before !== undefined && bySaying(before, added) <= 0;
    all.push({ ...added, ...(isNewer && { replaces: before.id }) });
  }
  return all.slice(known.length);
}

/** The order in which facts were said; of those at one time, in which they were written down. */
function bySaying(one: Fact, other: Fact): number {
  return Date.parse(one.saidAt ?? one.timestamp) - Date.parse(other.saidAt ?? other.timestamp);
}

function currentOf(facts: readonly Fact[]): readonly CurrentFact[] {
  const bySubject = new Map<string, readonly Fact[]>();
  for (const fact of facts.toSorted(bySaying)) {
    const subject = subjectOf(fact);
    bySubject.set(subject, [fact, ...(bySubject.get(subject) ?? [])]);
  }
  return [...bySubject.values()].flatMap(([newest, ...history]) => (newest ? [{ ...newest, history }] : []));
}

/** A subject as it is compared: its words, in any order. */
function subjectOf({ about }: Pick<Fact, "about">): string {
  return [...new Set(termsOf(about))].toSorted().join(" ") || about;
}

function comparable(text: string): string {
  return termsOf(text).join(" ");
}

/** An id that no other fact had, also none that was forgotten. */
function newId(): string {
  return `f-${randomUUID().slice(0, 8)}`;
}

function entryOf({ id, about, text, sources, correctedBy, replaces, saidAt }: Fact): NewMemoryEntry {
  const quoted = sources.map(({ sessionId, seq, quote }): JsonObject => ({ session_id: sessionId, seq, quote }));
  const more = {
    ...(correctedBy !== undefined && { corrected_by: correctedBy }),
    ...(saidAt !== undefined && { said_at: saidAt }),
    ...(replaces && { replaces }),
  };
  return { type: "fact", data: { id, about, text, sources: quoted, ...more } };
}

function factOf({ type, data, timestamp }: MemoryEntry): Fact | undefined {
  const { id, about, text, sources, corrected_by: by, said_at: saidAt, replaces } = data;
  if (type !== "fact" || typeof id !== "string" || typeof about !== "string" || typeof text !== "string")
    return undefined;
  return {
    id,
    about,
    text,
    sources: Array.isArray(sources) ? sources.flatMap(sourceOf) : [],
    ...(typeof by === "string" && { correctedBy: by }),
    ...(typeof saidAt === "string" && { saidAt }),
    ...(typeof replaces === "string" && { replaces }),
    timestamp,
  };
}

function sourceOf(value: JsonValue): readonly FactSource[] {
  if (!isObject(value)) return [];
  const { session_id: sessionId, seq, quote } = value as JsonObject;
  if (typeof sessionId !== "string" || typeof seq !== "number") return [];
  return [{ sessionId, seq, quote: textOf(quote) }];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function noFact(id: string): WindrowError {
  return new WindrowError("not-found", `There is no fact ${id}. \`windrow memory\` lists them.`, { id });
}
