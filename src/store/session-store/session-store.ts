/**
 * The session store: every promise of a {@link Store}, kept over an engine. A session has one writer, whose taking the
 * engine's revision fences: a step goes through only where nobody else changed the session since.
 */
import { createMask } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../../message/record.ts";
import type { Engine } from "../engine.ts";
import { encodeMetadata, encodeState, initialState } from "../format/documents.ts";
import { noCounts } from "../format/seal.ts";
import { kindLogs } from "../format/logs.ts";
import { systemClock, timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { DamageList } from "../shared/damage-list.ts";
import { HeldSessions } from "../shared/held-sessions.ts";
import { newTaker, ownerOf } from "../shared/holder.ts";
import type { Taker } from "../shared/holder.ts";
import { cannotStore, prepareMetadata, prepareRecord, prepareState, readRecord } from "../shared/prepare.ts";
import { recounted } from "../shared/recount.ts";
import { heldBy, holdingOf } from "../shared/remote.ts";
import { checkQuery, finished, formatVersion, isFinal, newerFormat, sessionId, storeClosed } from "../shared/rules.ts";
import { checkMessages, continuedFrom, encode, numberLine, recordOf } from "../shared/session-log.ts";
import type { Continued } from "../shared/session-log.ts";
import { busy, unlockEdit } from "../shared/unlock.ts";
import type { FinalStatus, Holding, ListQuery, Lock, NewSession, ReadQuery, Recovered, Scope } from "../store.ts";
import type { SessionInfo, SessionState, Store, StoreCapabilities, StoreCheckup, StoreDetaching } from "../store.ts";
import type { StoreHolding, StoreTransfer, UnlockOptions } from "../store.ts";
import type { Upkeep } from "../upkeep.ts";
import { Beat } from "./beat.ts";
import { checkLinesHere, find, firstRevision, headsOf, listingOf, pageSize, read, unreadable } from "./found.ts";
import type { Core, Found } from "./found.ts";
import { detachingOf } from "./detach.ts";
import { dumpOf, linesOf, sealHashOf } from "./lines.ts";
import { make, restore } from "./transfer.ts";
import { upkeepOf } from "./upkeep.ts";
import { SessionWriter } from "./writer.ts";
import type { Held } from "./writer.ts";

/** The options of every session store. */
export interface SessionStoreOptions {
  /** Default: secrets of a known form are masked ({@link createMask}). */
  readonly mask?: Mask;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** Makes a store over an engine. */
export function sessionStore(engine: Engine, { mask = createMask(), clock = systemClock }: SessionStoreOptions): Store {
  return new SessionStore(engine, mask, clock);
}

class SessionStore implements Store {
  readonly name: string;
  readonly capabilities: StoreCapabilities;
  readonly holding: StoreHolding = {
    holder: async (scope, id) => holdingOf((await find(this.#core, scope, id)).head),
    unlock: (scope, id, options = {}) => this.#working(this.#unlock(scope, id, options)),
  };
  readonly checkup: StoreCheckup = {
    examine: (options, signal) => this.#examine(options?.mend ?? false, signal),
    rebuildIndex: async () => (await import("./examine.ts")).rebuildListings(this.#core),
  };
  readonly transfer: StoreTransfer = {
    dump: async (scope, id) => dumpOf(this.#core, await find(this.#core, scope, id)),
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
  readonly #clock: Clock;
  readonly #beat: Beat;
  readonly #writer: SessionWriter;
  readonly #held = new HeldSessions<Held>(
    () => this.#core.alive(),
    (held) => this.#letGo(held),
  );
  readonly #damaged = new DamageList();
  /** What takes or makes sessions, or writes to them without a lock: closing waits for it. */
  readonly #works = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, mask: Mask, clock: Clock) {
    this.name = engine.name;
    this.capabilities = {
      ...{ durable: engine.survives !== "nothing", shared: engine.isShared, inOrder: true },
      ...{ liveMask: mask.liveMask, mask: { rules: mask.rules } },
    };
    this.#engine = engine;
    this.#mask = mask;
    this.#clock = clock;
    this.#beat = new Beat(engine, clock);
    this.#writer = new SessionWriter(engine);
    const alive = (): void => {
      if (this.#closing) throw storeClosed();
      engine.check();
    };
    const beating = (id: string, holder: Taker) => this.#beat.begin(id, { holder });
    this.#core = { engine, mask, clock, alive, beating };
    this.upkeep = upkeepOf(this.#core);
    if (engine.survives !== "nothing") this.detaching = detachingOf(this.#core);
  }

  create(scope: Scope, session: NewSession): Promise<Lock> {
    return this.#working(this.#create(scope, session));
  }

  async #create(scope: Scope, session: NewSession): Promise<Lock> {
    this.#core.alive();
    const id = sessionId(session.uuid);
    const metadata = prepareMetadata(this.#mask, scope, session);
    const state = initialState(session.createdAt);
    const head = {
      id,
      documents: { metadata: encodeMetadata(metadata), state: encodeState(state), mark: "" },
      listing: listingOf(metadata, state, {}),
      revision: firstRevision(),
      holder: newTaker(1, timestamp(this.#clock)),
    };
    await make(this.#core, head);
    const { revision, holder } = head;
    const made: Found = {
      id,
      head: { ...head, made: revision, origin: revision, generation: 1, silentMs: 0 },
      metadata,
      state,
      mark: {},
    };
    return this.#hold(scope, made, revision, holder, { counters: { seqs: noCounts(), pos: 0 }, missing: [] });
  }

  async info(scope: Scope, id: string): Promise<SessionInfo> {
    return this.#describe(await find(this.#core, scope, id));
  }

  async *list(scope: Scope, query: ListQuery = {}): AsyncGenerator<SessionInfo> {
    this.#core.alive();
    let left = query.limit ?? Number.POSITIVE_INFINITY;
    if (left === 0) return;
    const asked = { scope, status: query.status, isHidden: false };
    for await (const head of headsOf(this.#core, asked, Math.min(pageSize, left))) {
      const found = read(head);
      if (!found) {
        query.unreadable?.(head.id, unreadable(head.id));
        continue;
      }
      yield this.#describe(found);
      this.#core.alive();
      left -= 1;
      if (left === 0) return;
    }
  }

  lock(scope: Scope, id: string): Promise<Lock> {
    return this.#working(this.#lock(scope, id));
  }

  async #lock(scope: Scope, id: string): Promise<Lock> {
    for (;;) {
      const found = await this.#writable(scope, id);
      const owner = heldBy(found.head);
      if (owner) throw busy(owner);
      const lock = await this.#take(scope, found);
      if (lock) return lock;
    }
  }

  async append(lock: Lock, records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    const held = this.#held.writable(lock);
    const encoded = records.map((record) => encode(this.#prepared(record)));
    return encoded.length === 0 ? [] : this.#writer.write(held, encoded);
  }

  async *read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncGenerator<StoredRecordOf<K>> {
    checkQuery(query);
    const found = await find(this.#core, scope, id);
    checkLinesHere(found);
    const file = kindLogs[query.kind];
    for await (const { line, row } of linesOf(this.#core, found, file, query)) {
      const record = recordOf(query.kind, line);
      if (record) yield readRecord(this.#mask, query, record as StoredRecordOf<K>);
      else this.#damaged.add(id, { file, offset: row, length: line.length, problem: "damaged", quarantine: "" });
    }
  }

  async setState(lock: Lock, state: SessionState): Promise<void> {
    await this.#writer.write(this.#held.writable(lock), [], prepareState(this.#mask, state));
  }

  async finish(lock: Lock, state: SessionState & { readonly status: FinalStatus }): Promise<void> {
    const prepared = prepareState(this.#mask, state);
    await this.#held.finish(lock, async (held) => {
      await this.#writer.written(held);
      const hash = await sealHashOf(this.#core, held.found).catch(async (error: unknown) => {
        await this.#writer.adopt(held);
        throw error;
      });
      await this.#writer.end(held, prepared, hash);
      held.endBeat();
    });
  }

  async recovery(scope: Scope, id: string): Promise<readonly Recovered[]> {
    const { head, state } = await find(this.#core, scope, id);
    if (state.archived) return this.#damaged.of(id);
    const { missing } = continuedFrom(await this.#engine.numbers(id), head.documents.state);
    return [...this.#damaged.of(id), ...missing];
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#works);
    try {
      await this.#held.releaseAll();
    } finally {
      await this.#engine.close();
    }
  }

  async #unlock(scope: Scope, id: string, options: UnlockOptions): Promise<Holding> {
    for (;;) {
      const found = await this.#writable(scope, id);
      const holding = holdingOf(found.head);
      const edit = unlockEdit(id, holding, options, timestamp(this.#clock));
      if (holding.state === "none") return holding;
      const lock = await this.#take(scope, found, edit && [edit]);
      if (!lock) continue;
      await lock.release();
      return holding;
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

  /** Takes a session as it was found, with records that say why; undefined where somebody changed it since. */
  async #take(scope: Scope, found: Found, records: readonly NewRecord[] = []): Promise<Lock | undefined> {
    const { id, head } = found;
    const encoded = records.map((record) => encode(this.#prepared(record)));
    const numbers = await this.#engine.numbers(id);
    const continued = continuedFrom(numbers, head.documents.state);
    checkMessages(id, numbers, continued);
    const holder = newTaker(head.generation + 1, timestamp(this.#clock));
    const lines = encoded.map((one) => numberLine(continued.counters, one));
    const [isTaken] = await this.#engine.commit([{ id, at: head.revision, holder, lines, isDurable: true }]);
    if (!isTaken) return undefined;
    const lock = this.#hold(scope, found, head.revision + 1, holder, continued);
    // Who let go of a session wrote its state last; of a writer that died or was passed over, the lines may say more.
    if (head.holder) await this.#recount(found, lock);
    return lock;
  }

  async #recount(found: Found, lock: Lock): Promise<void> {
    try {
      const state = await recounted(found, found.head.documents.state, (log) => linesOf(this.#core, found, log));
      await this.setState(lock, state);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  #hold(scope: Scope, found: Found, revision: number, holder: Taker, { counters, missing }: Continued): Lock {
    const { id, state } = found;
    const held: Held = { found, id, counters, holder, revision, status: state.status, endBeat: () => endBeat() };
    const endBeat = this.#beat.begin(id, held);
    return this.#held.add({ id, scope, recovery: missing, owner: () => ownerOf(held.holder) }, held);
  }

  /** A session that is not finished, of a format that this version writes, and whose lines are here. */
  async #writable(scope: Scope, id: string): Promise<Found> {
    const found = await find(this.#core, scope, id);
    const { metadata, state } = found;
    if (metadata.format > formatVersion) throw newerFormat(id, metadata.format);
    if (isFinal(state.status)) throw finished(id);
    checkLinesHere(found);
    return found;
  }

  #prepared(record: NewRecord): NewRecord {
    try {
      return prepareRecord(this.#mask, record);
    } catch (error) {
      throw cannotStore(record.kind, error);
    }
  }

  #describe({ id, metadata, state }: Found): SessionInfo {
    const readOnly = isFinal(state.status) || metadata.format > formatVersion;
    return { metadata, state, location: this.#engine.locationOf(id), readOnly };
  }

  async #letGo(held: Held): Promise<void> {
    held.endBeat();
    await this.#writer.release(held);
  }
}
