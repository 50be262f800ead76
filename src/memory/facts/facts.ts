/**
 * Facts: short sentences that a model read out of sessions, each with the messages that say it. The newest one about a
 * subject counts; those before it stay as its history. They are entries of a memory's log.
 */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../../errors.ts";
import type { JsonObject } from "../../message/message.ts";
import { asString, defined, objectsOf } from "../../message/json.ts";
import { infoIfThere } from "../../store/if-there.ts";
import { systemClock } from "../../store/shared/clock.ts";
import type { Clock } from "../../store/shared/clock.ts";
import type { Scope, Store } from "../../store/store.ts";
import { termsOf } from "../../window/recall/terms.ts";
import { folded, FoldedLog } from "../log/memory-log.ts";
import type { Fold, MemoryEntry, MemoryLogOptions, NewMemoryEntry } from "../log/memory-log.ts";

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
}

/** A fact that counts, with those before it, newest first. */
export interface CurrentFact extends Fact {
  readonly history: readonly Fact[];
}

/** A fact as an extraction gives it. */
export type NewFact = Pick<Fact, "about" | "text" | "sources" | "saidAt">;

/** The name of the log. */
export const factsName = "facts";

/** What a log of facts says: the facts as they were written down, and how far each session was read. */
interface Known {
  readonly facts: Fact[];
  readonly readTo: Map<string, number>;
}

const fold: Fold<Known> = {
  empty: () => ({ facts: [], readTo: new Map() }),
  apply({ facts, readTo }, entry) {
    const { session, to } = entry.data;
    if (entry.type === "read") readTo.set(asString(session) ?? "", Number(to));
    else facts.push(...factOf(entry));
  },
};

/** The facts of one owner. */
export class Facts {
  readonly #store: Store;
  readonly #owner: Scope;
  readonly #clock: Clock;
  readonly #log: FoldedLog<Known>;

  /** @param owner - the tenant and the user whose facts they are; without a user, those of sessions without one */
  constructor(store: Store, owner: Scope, options: MemoryLogOptions = {}) {
    this.#store = store;
    this.#owner = owner;
    this.#clock = options.clock ?? systemClock;
    this.#log = new FoldedLog(store, owner, factsName, fold, options);
  }

  /** The session that holds them, for what has no other source. */
  get sessionId(): string {
    return this.#log.ids[0];
  }

  /** The facts that count, oldest first. */
  async list(): Promise<readonly CurrentFact[]> {
    return currentOf((await this.#log.state()).facts);
  }

  /** The newest message of a session that facts were read from, by `seq`; 0 for none. */
  async readTo(sessionId: string): Promise<number> {
    return (await this.#log.state()).readTo.get(sessionId) ?? 0;
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
    await this.#log.change(async (known) => {
      if ((known.readTo.get(sessionId) ?? 0) >= to) return [];
      // It may have been erased while it was read; an erasure waits for this log's lock.
      if (!(await infoIfThere(this.#store, this.#owner, sessionId))) return [];
      added = newFacts(known.facts, facts, this.#now());
      return [...added.map(entryOf), { type: "read", data: { session: sessionId, to, usage } }];
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
    const corrected = { id: newId(), text, sources: [], correctedBy: by, timestamp: this.#now() };
    let about = "";
    await this.#log.change(async ({ facts }) => {
      ({ about } = withId(currentOf(facts), id));
      return [entryOf({ ...corrected, about })];
    });
    return { ...corrected, about };
  }

  /**
   * Takes facts out for good, each with its history: the log is written anew, and the old one erased.
   *
   * @returns the ids of what went
   * @throws WindrowError `not-found` if there is no such fact; nothing is changed then
   */
  async forget(ids: readonly string[]): Promise<readonly string[]> {
    const goneOf = (facts: readonly Fact[]): ReadonlySet<unknown> => {
      const found = ids.map((id) => withId(currentOf(facts), id));
      return new Set(found.flatMap((fact) => [fact, ...fact.history]).map((fact) => fact.id));
    };
    let gone = goneOf((await this.#log.state()).facts);
    await this.#log.rewrite((entries) => {
      gone = goneOf(folded(fold, entries).facts);
      return entries.filter(({ data }) => !gone.has(data.id));
    });
    return [...gone].map(String);
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

/** New facts, without those that say what the one that counts about their subject says. */
function newFacts(known: readonly Fact[], facts: readonly NewFact[], timestamp: string): readonly Fact[] {
  const all = [...known];
  for (const fact of facts) {
    const current = currentOf(all).find((one) => subjectOf(one) === subjectOf(fact));
    if (current && comparable(current.text) === comparable(fact.text)) continue;
    all.push({ ...fact, id: newId(), timestamp });
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

function entryOf({ id, about, text, sources, correctedBy, saidAt }: Fact): NewMemoryEntry {
  const quoted = sources.map(({ sessionId, seq, quote }): JsonObject => ({ session_id: sessionId, seq, quote }));
  const more = defined({ corrected_by: correctedBy, said_at: saidAt });
  return { type: "fact", data: { id, about, text, sources: quoted, ...more } };
}

function factOf({ type, data, timestamp }: MemoryEntry): readonly Fact[] {
  const [id, about, text] = [asString(data.id), asString(data.about), asString(data.text)];
  if (type !== "fact" || id === undefined || about === undefined || text === undefined) return [];
  const more = defined({ correctedBy: asString(data.corrected_by), saidAt: asString(data.said_at) });
  return [{ id, about, text, sources: objectsOf(data.sources).map(sourceOf), ...more, timestamp }];
}

function sourceOf({ session_id: sessionId, seq, quote }: JsonObject): FactSource {
  return { sessionId: asString(sessionId) ?? "", seq: Number(seq), quote: asString(quote) ?? "" };
}

function withId(facts: readonly CurrentFact[], id: string): CurrentFact {
  const found = facts.find((fact) => fact.id === id || fact.history.some((old) => old.id === id));
  if (found) return found;
  throw new WindrowError("not-found", `There is no fact ${id}. \`windrow memory\` lists them.`, { id });
}
