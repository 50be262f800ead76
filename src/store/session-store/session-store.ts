/**
 * The session store: every promise of a {@link Store}, kept over an engine. A session has one writer, whose taking the
 * engine's revision fences: a step goes through only where nobody else changed the session since.
 */
import { createMask } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../../message/record.ts";
import type { Engine } from "../engine.ts";
import { kindLogs } from "../format/logs.ts";
import { systemClock } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { DamageList } from "../shared/damage-list.ts";
import type { Taker } from "../shared/holder.ts";
import { prepareState, readRecord } from "../shared/prepare.ts";
import { holdingOf } from "../shared/remote.ts";
import { checkQuery, formatVersion, isFinal, storeClosed } from "../shared/rules.ts";
import { continuedFrom, encode, recordOf } from "../shared/session-log.ts";
import type { FinalStatus, ListQuery, Lock, LogName, NewSession, ReadQuery, Recovered, Scope } from "../store.ts";
import type { SessionInfo, SessionState, Store, StoreCapabilities, StoreCheckup, StoreDetaching } from "../store.ts";
import type { StoreHolding, StoreTransfer } from "../store.ts";
import type { Upkeep } from "../upkeep.ts";
import { Beat } from "./beat.ts";
import { detachingOf } from "./detach.ts";
import { checkLinesHere, fileOf, find } from "./found.ts";
import type { Core, Found } from "./found.ts";
import { GivingBack } from "./giving-back.ts";
import { listed } from "./list.ts";
import { dumpOf, knownLines, linesOf, numbersOf, sealHashOf } from "./lines.ts";
import { Locks } from "./locks.ts";
import { restore } from "./transfer.ts";
import { upkeepOf } from "./upkeep.ts";
import { SessionWriter } from "./writer.ts";

/** The options of every session store. */
export interface SessionStoreOptions {
  /** Default: secrets of a known form are masked ({@link createMask}). */
  readonly mask?: Mask;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** Makes a store over an engine. */
export function sessionStore(
  engine: Engine,
  { mask = createMask(), clock = systemClock }: SessionStoreOptions = {},
): Store {
  return new SessionStore(engine, mask, clock);
}

class SessionStore implements Store {
  readonly name: string;
  readonly capabilities: StoreCapabilities;
  readonly holding: StoreHolding = {
    holder: async (scope, id) => holdingOf((await find(this.#core, scope, id)).head),
    unlock: (scope, id, options = {}) => this.#working(this.#locks.unlock(scope, id, options)),
  };
  readonly checkup: StoreCheckup = {
    examine: (options, signal) => this.#examine(options?.mend ?? false, signal),
    rebuildIndex: async () => (await import("./examine.ts")).rebuildListings(this.#core),
  };
  readonly transfer: StoreTransfer = {
    dump: async (scope, id) =>
      dumpOf(this.#core, await find(this.#core, scope, id), (...damage) => this.#damage(id, ...damage)),
    restore: async (scope, dump, signal) => {
      this.#core.alive();
      return this.#working(restore(this.#core, scope, dump, signal));
    },
  };
  readonly upkeep: Upkeep;
  readonly detaching?: StoreDetaching;
  readonly #core: Core;
  readonly #engine: Engine;
  readonly #mask: Mask;
  readonly #writer: SessionWriter;
  readonly #locks: Locks;
  readonly #damaged = new DamageList();
  /** What takes or makes sessions, or writes to them without a lock: closing waits for it. */
  readonly #works = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, mask: Mask, clock: Clock) {
    this.name = engine.name;
    this.capabilities = {
      ...{ durable: engine.survives !== "nothing", shared: engine.isShared, inOrder: engine.mayTear !== true },
      ...{ liveMask: mask.liveMask, mask: { rules: mask.rules } },
    };
    this.#engine = engine;
    this.#mask = mask;
    const beat = new Beat(engine, clock);
    this.#writer = new SessionWriter(engine);
    const alive = (): void => {
      if (this.#closing) throw storeClosed();
      engine.check();
    };
    const beating = (id: string, holder: Taker) => beat.begin(id, { holder });
    this.#core = { engine, mask, clock, alive, beating, givingBack: new GivingBack(engine) };
    this.#locks = new Locks(this.#core, beat, this.#writer);
    this.upkeep = upkeepOf(this.#core);
    if (engine.survives !== "nothing") this.detaching = detachingOf(this.#core);
  }

  create(scope: Scope, session: NewSession): Promise<Lock> {
    return this.#working(this.#locks.create(scope, session));
  }

  async info(scope: Scope, id: string): Promise<SessionInfo> {
    const found = this.#locks.asTaken(scope, id)?.found ?? (await find(this.#core, scope, id));
    await this.#engine.settle?.(found.head);
    return this.#describe(found);
  }

  list(scope: Scope, query: ListQuery = {}): AsyncGenerator<SessionInfo> {
    return listed(this.#core, scope, query, (found) => this.#describe(found));
  }

  lock(scope: Scope, id: string): Promise<Lock> {
    return this.#working(this.#locks.lock(scope, id));
  }

  async append(lock: Lock, records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    const held = this.#locks.held.writable(lock);
    const encoded = records.map((record) => encode(this.#mask, record));
    return encoded.length === 0 ? [] : this.#writer.write(held, encoded);
  }

  async *read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncGenerator<StoredRecordOf<K>> {
    checkQuery(query);
    const held = this.#locks.asTaken(scope, id);
    const found = held?.found ?? (await find(this.#core, scope, id));
    checkLinesHere(found);
    const log = kindLogs[query.kind];
    const known = held?.taken?.ends.known(query);
    const lines = known ? knownLines(this.#core, found, log, known) : linesOf(this.#core, found, log, query);
    for await (const { line, row } of lines) {
      const record = recordOf(query.kind, line);
      if (record) yield readRecord(this.#mask, query, record as StoredRecordOf<K>);
      else this.#damage(id, log, row, line);
    }
  }

  async setState(lock: Lock, state: SessionState): Promise<void> {
    await this.#writer.write(this.#locks.held.writable(lock), [], prepareState(this.#mask, state));
  }

  async finish(lock: Lock, state: SessionState & { readonly status: FinalStatus }): Promise<void> {
    const prepared = prepareState(this.#mask, state);
    await this.#locks.held.finish(lock, async (held) => {
      held.taken = undefined;
      await this.#writer.written(held);
      // A store that is closed meanwhile waits for what ends.
      const hash = await sealHashOf({ ...this.#core, alive: () => undefined }, held.found).catch(
        async (error: unknown) => {
          await this.#writer.adopt(held);
          throw error;
        },
      );
      await this.#writer.end(held, prepared, hash);
      held.endBeat();
    });
  }

  async recovery(scope: Scope, id: string): Promise<readonly Recovered[]> {
    const found = await find(this.#core, scope, id);
    const seen = [...(this.#engine.recovered?.(found.head) ?? []), ...this.#damaged.of(id)];
    if (found.state.archived) return seen;
    const { missing } = continuedFrom(await numbersOf(this.#core, found), found.head.documents.state, this.#engine);
    return [...seen, ...missing];
  }

  async prepareClose(): Promise<void> {
    this.#engine.hurry?.();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#engine.hurry?.();
    await Promise.allSettled(this.#works);
    try {
      await this.#locks.held.releaseAll();
    } finally {
      await this.#core.givingBack.end();
      await this.#engine.close();
    }
  }

  async #working<T>(work: Promise<T>): Promise<T> {
    this.#works.add(work);
    try {
      return await work;
    } finally {
      this.#works.delete(work);
    }
  }

  async *#examine(mend: boolean, signal: AbortSignal | undefined) {
    this.#core.alive();
    yield* (await import("./examine.ts")).examine(this.#core, mend, signal);
  }

  #damage(id: string, log: LogName, row: number, line: string): void {
    const span = { file: fileOf(this.#core, log), offset: Math.floor(row), length: line.length };
    this.#damaged.add(id, { ...span, problem: "damaged", quarantine: "" });
  }

  #describe({ id, metadata, state }: Found): SessionInfo {
    const readOnly = isFinal(state.status) || metadata.format > formatVersion;
    return { metadata, state, location: this.#engine.locationOf(id), readOnly };
  }
}
