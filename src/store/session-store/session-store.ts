/**
 * The session store: every promise of a {@link Store}, kept over an engine. A session has one writer, whose taking the
 * engine's revision fences: a step goes through only where nobody else changed the session since.
 */
import { createMask } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../../message/record.ts";
import type { Engine, Head, Look } from "../engine.ts";
import { noCounts } from "../format/seal.ts";
import { kindLogs } from "../format/logs.ts";
import { systemClock, timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { DamageList } from "../shared/damage-list.ts";
import { HeldSessions } from "../shared/held-sessions.ts";
import { heartbeatMs, ownerOf } from "../shared/holder.ts";
import type { Taker } from "../shared/holder.ts";
import { prepareState, readRecord } from "../shared/prepare.ts";
import { isBehind } from "../shared/recount.ts";
import { holdingOf } from "../shared/remote.ts";
import {
  checkQuery,
  finished,
  formatVersion,
  inScope,
  isFinal,
  newerFormat,
  sessionId,
  storeClosed,
} from "../shared/rules.ts";
import { continuedFrom, encode, recordOf } from "../shared/session-log.ts";
import type { Continued } from "../shared/session-log.ts";
import { unlockEdit } from "../shared/unlock.ts";
import type {
  FinalStatus,
  Holding,
  ListQuery,
  Lock,
  LogName,
  NewSession,
  ReadQuery,
  Recovered,
  Scope,
} from "../store.ts";
import type { SessionInfo, SessionState, Store, StoreCapabilities, StoreCheckup, StoreDetaching } from "../store.ts";
import type { StoreHolding, StoreTransfer, UnlockOptions } from "../store.ts";
import type { Upkeep } from "../upkeep.ts";
import { Beat } from "./beat.ts";
import { detachingOf } from "./detach.ts";
import { endParts, LogEnds } from "./ends.ts";
import { checkFree, checkLinesHere, fileOf, find } from "./found.ts";
import type { Core, Found } from "./found.ts";
import { GivingBack } from "./giving-back.ts";
import { listed } from "./list.ts";
import { dumpOf, knownLines, linesOf, numbersOf, sealHashOf } from "./lines.ts";
import { created, recountedState, taken } from "./take.ts";
import { restore } from "./transfer.ts";
import { upkeepOf } from "./upkeep.ts";
import { SessionWriter } from "./writer.ts";
import type { Held, Taken } from "./writer.ts";

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
    unlock: (scope, id, options = {}) => this.#working(this.#unlock(scope, id, options)),
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
      ...{ durable: engine.survives !== "nothing", shared: engine.isShared, inOrder: engine.mayTear !== true },
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
    this.#core = { engine, mask, clock, alive, beating, givingBack: new GivingBack(engine) };
    this.upkeep = upkeepOf(this.#core);
    if (engine.survives !== "nothing") this.detaching = detachingOf(this.#core);
  }

  create(scope: Scope, session: NewSession): Promise<Lock> {
    return this.#working(this.#create(scope, session));
  }

  async #create(scope: Scope, session: NewSession): Promise<Lock> {
    this.#core.alive();
    const { found, holder } = await created(this.#core, scope, session);
    const numbers = { seqs: noCounts(), pos: 0 };
    return this.#hold(scope, found, found.head.revision, holder, { counters: numbers, missing: [] });
  }

  async info(scope: Scope, id: string): Promise<SessionInfo> {
    const found = this.#asTaken(scope, id)?.found ?? (await find(this.#core, scope, id));
    await this.#engine.settle?.(found.head);
    return this.#describe(found);
  }

  list(scope: Scope, query: ListQuery = {}): AsyncGenerator<SessionInfo> {
    return listed(this.#core, scope, query, (found) => this.#describe(found));
  }

  lock(scope: Scope, id: string): Promise<Lock> {
    return this.#working(this.#lock(scope, id));
  }

  async #lock(scope: Scope, id: string): Promise<Lock> {
    for (;;) {
      this.#core.alive();
      const at = this.#clock.now();
      const look = await this.#engine.look?.(sessionId(id), endParts);
      const found = await this.#unfinished(scope, id, look?.head);
      checkLinesHere(found);
      checkFree(found.head);
      const lock = await this.#take(scope, found, [], look && { at, look });
      if (lock) return lock;
    }
  }

  async append(lock: Lock, records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    const held = this.#held.writable(lock);
    const encoded = records.map((record) => encode(this.#mask, record));
    return encoded.length === 0 ? [] : this.#writer.write(held, encoded);
  }

  async *read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncGenerator<StoredRecordOf<K>> {
    checkQuery(query);
    const held = this.#asTaken(scope, id);
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
    await this.#writer.write(this.#held.writable(lock), [], prepareState(this.#mask, state));
  }

  async finish(lock: Lock, state: SessionState & { readonly status: FinalStatus }): Promise<void> {
    const prepared = prepareState(this.#mask, state);
    await this.#held.finish(lock, async (held) => {
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
      await this.#held.releaseAll();
    } finally {
      await this.#core.givingBack.end();
      await this.#engine.close();
    }
  }

  async #unlock(scope: Scope, id: string, options: UnlockOptions): Promise<Holding> {
    let edit: NewRecord | undefined;
    for (;;) {
      const found = await this.#unfinished(scope, id);
      const holding = holdingOf(found.head);
      edit = unlockEdit(id, holding, options, timestamp(this.#clock)) ?? edit;
      if (holding.state === "none" && !edit) return holding;
      const lock = await this.#take(scope, found, edit && !found.state.archived ? [edit] : []);
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
  async #take(
    scope: Scope,
    found: Found,
    records: readonly NewRecord[] = [],
    looked?: { readonly at: number; readonly look: Look },
  ): Promise<Lock | undefined> {
    const { id, head } = found;
    const encoded = records.map((record) => encode(this.#mask, record));
    const numbers = looked?.look.numbers ?? (await this.#engine.numbers(id));
    const taking = await taken(this.#core, found, encoded, numbers);
    if (!taking) return undefined;
    const { holder, continued } = taking;
    const asTaken = looked && { at: looked.at, ends: new LogEnds(looked.look) };
    const lock = this.#hold(scope, found, head.revision + 1, holder, continued, asTaken);
    // Who let go of a session wrote its state last; of a writer that died or was passed over, the lines may say more.
    // Those in an archive say nothing.
    if (found.state.archived || (!head.holder && !isBehind(head.documents.state, numbers))) return lock;
    try {
      await this.setState(lock, await recountedState(this.#core, found));
    } catch (error) {
      await lock.release();
      throw error;
    }
    return lock;
  }

  #hold(
    scope: Scope,
    found: Found,
    revision: number,
    holder: Taker,
    { counters, missing }: Continued,
    taken?: Taken,
  ): Lock {
    const { id, state } = found;
    const { status } = state;
    const held: Held = { found, id, counters, holder, revision, status, taken, endBeat: () => endBeat() };
    const endBeat = this.#beat.begin(id, held);
    const recovery = [...(this.#engine.recovered?.(found.head) ?? []), ...missing];
    return this.#held.add({ id, scope, recovery, owner: () => ownerOf(held.holder) }, held);
  }

  /** A session that is not finished, of a format that this version writes. */
  async #unfinished(scope: Scope, id: string, head?: Head): Promise<Found> {
    const found = await find(this.#core, scope, id, head);
    const { metadata, state } = found;
    if (metadata.format > formatVersion) throw newerFormat(id, metadata.format);
    if (isFinal(state.status)) {
      await this.#engine.settle?.(found.head);
      throw finished(id);
    }
    return found;
  }

  /** A session as this store took it, until it writes it, and while no other one can have passed it over for its silence. */
  #asTaken(scope: Scope, id: string): Held | undefined {
    this.#core.alive();
    const held = this.#held.open(id);
    const isFresh = held?.taken && Math.abs(this.#clock.now() - held.taken.at) < heartbeatMs;
    return isFresh && inScope(scope, held.found.metadata) ? held : undefined;
  }

  #damage(id: string, log: LogName, row: number, line: string): void {
    const span = { file: fileOf(this.#core, log), offset: Math.floor(row), length: line.length };
    this.#damaged.add(id, { ...span, problem: "damaged", quarantine: "" });
  }

  #describe({ id, metadata, state }: Found): SessionInfo {
    const readOnly = isFinal(state.status) || metadata.format > formatVersion;
    return { metadata, state, location: this.#engine.locationOf(id), readOnly };
  }

  async #letGo(held: Held): Promise<void> {
    held.endBeat();
    const { id, revision: at, holder } = held;
    await this.#core.givingBack.lettingGo({ id, at, holder }, this.#writer.release(held));
  }
}
