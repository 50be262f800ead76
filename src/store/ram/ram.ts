/** A store in memory: for tests, and for hosts that keep their messages themselves. It ends with its process. */
import { hostname } from "node:os";
import { WindrowError } from "../../errors.ts";
import { createMask } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../../message/record.ts";
import { systemClock, timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { decodeRecord, encodeRecord } from "../format/record.ts";
import { encodeMetadata, encodeState, parseDocument } from "../format/documents.ts";
import { encodeLine, lineText } from "../format/lines.ts";
import { HeldSessions } from "../shared/held-sessions.ts";
import { cannotStore, prepareMetadata, prepareRecord, prepareState, readRecord } from "../shared/prepare.ts";
import { alreadyExists, checkQuery, finished, inScope } from "../shared/rules.ts";
import { initialState } from "../format/documents.ts";
import { isFinal, notFound, sessionId, storeClosed } from "../shared/rules.ts";
import { busy, unlockEdit } from "../shared/unlock.ts";
import { SealHash, checksumOf, noCounts } from "../format/seal.ts";
import type { Seal } from "../format/seal.ts";
import type { FinalStatus, Holding, ListQuery, Lock, LockOwner, NewSession, ReadQuery } from "../store.ts";
import type { Recovered, Restored, Scope, SessionDump, SessionInfo, SessionMetadata, SessionState } from "../store.ts";
import type { Store, StoreCapabilities, StoreHolding, StoreTransfer, UnlockOptions } from "../store.ts";
import { recountedBy } from "../shared/state-count.ts";
import { admit, compareExisting, weigh } from "../shared/transfer.ts";
import { logKinds, logNames } from "../format/logs.ts";
import { checkFreeId, ramUpkeep } from "./upkeep.ts";
import type { RamSessions } from "./upkeep.ts";
import type { Upkeep } from "../upkeep.ts";

/** How a store in memory works. */
export interface RamStoreOptions {
  /** Default: secrets of a known form are masked ({@link createMask}). */
  readonly mask?: Mask;
  /** Default: the system's. */
  readonly clock?: Clock;
}

interface Origin {
  readonly metadata: JsonObject;
  readonly fields: JsonObject;
  /** The state that `fields` were read from; once the session has another one, they are old. */
  readonly state: SessionState;
  readonly lines: ReadonlyMap<StoredRecord, string>;
}

interface RamSession {
  readonly metadata: SessionMetadata;
  /** The lines and fields of a restored session: records do not have all that lines can have. */
  readonly origin?: Origin;
  readonly records: Map<RecordKind, StoredRecord[]>;
  state: SessionState;
  pos: number;
  generation: number;
  holder: Lock | undefined;
}

/** Opens a store in memory, empty. */
export function ramStore(options: RamStoreOptions = {}): Store {
  return new RamStore(options.mask ?? createMask(), options.clock ?? systemClock);
}

class RamStore implements Store {
  readonly name = "ram";
  readonly capabilities: StoreCapabilities;
  readonly holding: StoreHolding = {
    holder: async (scope, id) => holdingOf(this.#find(scope, id)),
    unlock: async (scope, id, options = {}) => this.#unlock(this.#find(scope, id), options),
  };
  readonly transfer: StoreTransfer = {
    dump: async (scope, id) => dumpOf(this.#find(scope, id)),
    restore: (scope, dump, signal) => this.#restore(scope, dump, signal),
  };
  readonly upkeep: Upkeep;
  readonly #mask: Mask;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, RamSession>();
  readonly #all: RamSessions<RamSession> = { sessions: this.#sessions, trash: new Map() };
  readonly #held = new HeldSessions<RamSession>(
    () => this.#alive(),
    async (session) => void (session.holder = undefined),
  );
  #closed = false;

  constructor(mask: Mask, clock: Clock) {
    this.capabilities = {
      durable: false,
      shared: false,
      liveMask: mask.liveMask,
      mask: { rules: mask.rules },
    };
    this.#mask = mask;
    this.#clock = clock;
    this.upkeep = ramUpkeep(this.#all, mask, () => this.#alive());
  }

  async create(scope: Scope, session: NewSession): Promise<Lock> {
    this.#alive();
    const id = sessionId(session.uuid);
    const metadata = copy(prepareMetadata(this.#mask, scope, session));
    checkFreeId(this.#all, metadata);
    const made: RamSession = {
      metadata,
      records: new Map(),
      state: initialState(session.createdAt),
      pos: 0,
      generation: 0,
      holder: undefined,
    };
    this.#sessions.set(id, made);
    return this.#hold(scope, made);
  }

  async info(scope: Scope, id: string): Promise<SessionInfo> {
    return describe(this.#find(scope, id));
  }

  async *list(scope: Scope, query: ListQuery = {}): AsyncGenerator<SessionInfo> {
    this.#alive();
    const seen = [...this.#sessions.values()].filter(
      ({ metadata, state }) => inScope(scope, metadata) && (query.status ?? state.status) === state.status,
    );
    const created = (session: RamSession): number => Date.parse(session.metadata.createdAt);
    seen.sort((a, b) => created(b) - created(a) || (a.metadata.uuid < b.metadata.uuid ? -1 : 1));
    for (const session of seen.slice(0, query.limit)) yield describe(session);
  }

  async lock(scope: Scope, id: string): Promise<Lock> {
    const session = this.#find(scope, id);
    if (isFinal(session.state.status)) throw finished(id);
    if (session.holder) throw busy(session.holder.owner);
    return this.#hold(scope, session);
  }

  async append(lock: Lock, records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    const session = this.#held.writable(lock);
    const prepared = records.map((record) => this.#prepared(record));
    return copy(prepared.map((record) => this.#add(session, record)));
  }

  async *read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncGenerator<StoredRecordOf<K>> {
    checkQuery(query);
    const log = this.#log(this.#find(scope, id), query.kind);
    const asked = log.slice(Math.max(0, (query.from ?? 1) - 1), query.to);
    const wanted =
      query.last === undefined ? asked.slice(0, query.limit) : asked.slice(Math.max(0, asked.length - query.last));
    for (const record of wanted) yield readRecord(this.#mask, query, copy(record) as StoredRecordOf<K>);
  }

  async setState(lock: Lock, state: SessionState): Promise<void> {
    this.#held.writable(lock).state = copy(prepareState(this.#mask, state));
  }

  async finish(lock: Lock, state: SessionState & { readonly status: FinalStatus }): Promise<void> {
    await this.#held.finish(lock, async (session) => {
      session.state = copy(prepareState(this.#mask, state));
      session.holder = undefined;
    });
  }

  async recovery(scope: Scope, id: string): Promise<readonly Recovered[]> {
    this.#find(scope, id);
    return [];
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sessions.clear();
  }

  async #restore(scope: Scope, dump: SessionDump, signal?: AbortSignal): Promise<Restored> {
    this.#alive();
    const admitted = admit(scope, this.#mask, dump);
    const existing = this.#sessions.get(dump.id);
    if (existing && !inScope(scope, existing.metadata)) throw alreadyExists(dump.id);
    if (existing) return compareExisting(admitted, dumpOf(existing));
    const weighed = weigh(admitted.dump);
    const records = new Map<RecordKind, StoredRecord[]>();
    const lines = new Map<StoredRecord, string>();
    let pos = 0;
    for await (const { log, line } of weighed.dump.lines()) {
      if (signal?.aborted) throw new WindrowError("aborted", "The restore was stopped; nothing of it was kept.");
      const kind = logKinds[log];
      const record = decodeRecord(kind, JSON.parse(line) as JsonObject);
      const kept = records.get(kind) ?? [];
      kept.push(record);
      records.set(kind, kept);
      lines.set(record, line);
      pos = Math.max(pos, record.pos);
    }
    const { metadata, state } = admitted;
    checkFreeId(this.#all, metadata);
    const origin = { metadata: admitted.dump.metadata, fields: admitted.dump.state, state, lines };
    this.#sessions.set(dump.id, { metadata, records, state, pos, generation: 0, holder: undefined, origin });
    return { outcome: "written", masked: admitted.masked(), hash: weighed.summary().hash };
  }

  #alive(): void {
    if (this.#closed) throw storeClosed();
  }

  #unlock(session: RamSession, options: UnlockOptions): Holding {
    const { metadata } = session;
    if (isFinal(session.state.status)) throw finished(metadata.uuid);
    const found = holdingOf(session);
    const edit = unlockEdit(metadata.uuid, found, options, timestamp(this.#clock));
    if (!edit) return found;
    session.holder = undefined;
    this.#held.fence(metadata.uuid);
    this.#add(session, this.#prepared(edit));
    session.state = recountedBy(session.state, metadata.createdAt, [...session.records.values()].flat());
    return found;
  }

  #add(session: RamSession, record: NewRecord): StoredRecord {
    const log = this.#log(session, record.kind);
    session.pos += 1;
    const numbered = { ...record, seq: log.length + 1, pos: session.pos };
    log.push(numbered);
    return numbered;
  }

  #prepared(record: NewRecord): NewRecord {
    try {
      return copy(prepareRecord(this.#mask, record));
    } catch (error) {
      throw cannotStore(record.kind, error);
    }
  }

  #find(scope: Scope, id: string): RamSession {
    this.#alive();
    const session = this.#sessions.get(sessionId(id));
    if (!session || !inScope(scope, session.metadata)) throw notFound(id);
    return session;
  }

  #hold(scope: Scope, session: RamSession): Lock {
    const now = timestamp(this.#clock);
    session.generation += 1;
    const owner: LockOwner = {
      processId: process.pid,
      hostname: hostname(),
      acquiredAt: now,
      heartbeatAt: now,
      generation: session.generation,
    };
    const id = session.metadata.uuid;
    session.holder = this.#held.add({ id, scope, recovery: [], owner: () => owner }, session);
    return session.holder;
  }

  #log(session: RamSession, kind: RecordKind): StoredRecord[] {
    const log = session.records.get(kind) ?? [];
    session.records.set(kind, log);
    return log;
  }
}

function holdingOf({ holder }: RamSession): Holding {
  return holder ? { state: "held", owner: holder.owner } : { state: "none" };
}

function describe(session: RamSession): SessionInfo {
  const { metadata, state } = session;
  return copy({ metadata, state, location: `ram:${metadata.uuid}`, readOnly: isFinal(state.status) });
}

function dumpOf(session: RamSession): SessionDump {
  const { metadata, state, records, origin } = session;
  return {
    id: metadata.uuid,
    metadata: copy(origin?.metadata ?? parseDocument(encodeMetadata(metadata)) ?? {}),
    state: copy(
      origin?.state === state ? origin.fields : (parseDocument(encodeState(state, {}, sealOf(session))) ?? {}),
    ),
    async *lines() {
      for (const log of logNames) {
        for (const record of [...(records.get(logKinds[log]) ?? [])]) yield { log, line: lineOf(record, origin) };
      }
    },
  };
}

/** The seal that a state on disk would have. */
function sealOf({ state, records, pos, origin }: RamSession): Seal {
  const counts = noCounts();
  const hash = new SealHash();
  for (const log of logNames) {
    for (const record of records.get(logKinds[log]) ?? []) {
      counts[log] = record.seq;
      if (!isFinal(state.status)) continue;
      const text = lineOf(record, origin);
      hash.add(log, record.seq, checksumOf({ fields: JSON.parse(text) as JsonObject, text }));
    }
  }
  return { counts, pos, ...(isFinal(state.status) && { hash: hash.digest() }) };
}

function lineOf(record: StoredRecord, origin: Origin | undefined): string {
  const line = origin?.lines.get(record);
  return (
    line ??
    encodeLine(lineText(encodeRecord(record)), record.seq, record.pos)
      .toString("utf8")
      .trimEnd()
  );
}

/** A copy of what JSON carries, as any other store would keep it. */
function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
