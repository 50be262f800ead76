/**
 * The turns with hidden rounds of one client's session, kept as records of sessions of the store: the first that this
 * process can write, and a next one where the one before was ended, is in the trash, or belongs to another gateway.
 */
import { createHash, hash } from "node:crypto";
import { isWindrowError } from "../../errors.ts";
import { asArray, asName, objectsOf } from "../../message/json.ts";
import type { JsonObject } from "../../message/message.ts";
import type { NewRecord, StoredRecordOf } from "../../message/record.ts";
import type { Lock, Store } from "../../store/store.ts";

/** A turn of which the client knows only a part. */
export interface HiddenTurn {
  /** A hash of what the client knows of it; sealed where it was kept. */
  readonly said: string;
  /** Ids, hashes of signatures and places by which it is found, each behind a letter; sealed where it was kept. */
  readonly traces: readonly string[];
  /** Its messages as the model wrote them, with the results in between. */
  readonly messages: readonly JsonObject[];
  /** Results that go behind it, before the client's own. */
  readonly pending: readonly JsonObject[];
}

/** The types of records. */
const types = { line: "hidden-line", round: "hidden-round", lost: "hidden-lost" } as const;

/** Codes of a session that others ended, threw away or write: the next one is taken. */
const taken = ["read-only", "session-busy", "session-exists", "session-archived", "store-corrupt"] as const;

/** Codes of a session whose rounds nobody can read now: those of the others count. */
const unreadable = ["session-archived", "store-corrupt"] as const;

/** Sessions in a row that are not there, behind which none is looked for: one in between may have been erased. */
const mostMissing = 3;

/** Codes of a lock that is worth nothing any more. */
const gone = ["fenced", "closed", "read-only", "session-not-found"] as const;

/** Most sessions of clients in memory. */
const mostScopes = 256;

/** Digits of a sealed hash. */
const sealDigits = 40;

/** Makes of a hash one that nobody can try words against who has not the gateway's secret. */
type Seal = (text: string) => string;

function sealBy(secret: Buffer): Seal {
  const key = secret.toString("hex");
  return (text) => hash("sha256", `${key}\nhidden rounds\n${text}`, "hex").slice(0, sealDigits);
}

/** All known turns, by tenant and client's session. */
export class TurnStore {
  readonly #store: Store | undefined;
  readonly #seal: Seal;
  readonly #now: () => Date;
  readonly #scopes = new Map<string, Promise<KnownTurns>>();

  /**
   * @param store - keeps them; without it they are gone with the process
   * @param secret - of the store: by it hashes of what was said are made, which say nothing without it
   */
  constructor(store: Store | undefined, secret: Buffer, now: () => Date = () => new Date()) {
    this.#store = store;
    this.#seal = sealBy(secret);
    this.#now = now;
  }

  /**
   * The turns of a session of a client; all of its tenant's where the client names none.
   *
   * @throws WindrowError as `Store.lock` and `Store.read`
   */
  of(tenant: string, session: string | undefined): Promise<KnownTurns> {
    const key = JSON.stringify([tenant, session ?? null]);
    const known = this.#scopes.get(key);
    this.#scopes.delete(key);
    const turns = known ?? this.#open(key, tenant, session);
    this.#scopes.set(key, turns);
    for (const [name, old] of this.#scopes) {
      if (this.#scopes.size <= mostScopes) break;
      this.#scopes.delete(name);
      void old.then((one) => one.close()).catch(() => undefined);
    }
    return turns;
  }

  #open(key: string, tenant: string, session: string | undefined): Promise<KnownTurns> {
    const taskKey = { gateway_recall: 1, tenant, ...(session !== undefined && { session }) };
    const idAt = (place: number): string => uuidOf(place === 0 ? key : `${key}\n${place}`);
    const turns = new KnownTurns({ store: this.#store, idAt, taskKey, seal: this.#seal, now: this.#now });
    const loaded = turns.load().then(() => turns);
    loaded.catch(() => this.#scopes.delete(key));
    return loaded;
  }

  /** Lets go of every session. */
  async close(): Promise<void> {
    const open = [...this.#scopes.values()];
    this.#scopes.clear();
    await Promise.all(open.map((one) => one.then((turns) => turns.close()).catch(() => undefined)));
  }
}

/** The parts of one session's turns. */
interface TurnParts {
  readonly store: Store | undefined;
  /** The id of its first session in the store, at 0, and of those behind it. */
  readonly idAt: (place: number) => string;
  readonly taskKey: JsonObject;
  readonly seal: Seal;
  readonly now: () => Date;
}

/** The turns of one session. */
export class KnownTurns {
  readonly #store: Store | undefined;
  readonly #idAt: (place: number) => string;
  readonly #taskKey: JsonObject;
  readonly #seal: Seal;
  readonly #now: () => Date;
  readonly #lines = new Set<string>();
  readonly #turns = new Map<string, HiddenTurn | "lost">();
  readonly #behindLost = new Set<string>();
  /** Records that are not on the disk yet, oldest first: what the store refused goes with the next. */
  readonly #unkept: NewRecord[] = [];
  #lock: Lock | undefined;
  #isClosed = false;
  /** The newest append, which the next one waits for. */
  #newest: Promise<void> = Promise.resolve();

  constructor({ store, idAt, taskKey, seal, now }: TurnParts) {
    this.#store = store;
    this.#seal = seal;
    this.#idAt = idAt;
    this.#taskKey = taskKey;
    this.#now = now;
  }

  /** Reads what earlier processes, and others at work, kept. */
  async load(): Promise<void> {
    if (!this.#store) return;
    for (let place = 0, missing = 0; missing < mostMissing; place += 1) {
      try {
        for await (const record of this.#store.read({}, this.#idAt(place), { kind: "edit" })) this.#take(record);
        missing = 0;
      } catch (error) {
        if (isWindrowError(error, "session-not-found")) missing += 1;
        else if (!unreadable.some((code) => isWindrowError(error, code))) throw error;
      }
    }
  }

  /** Whether nothing is known. */
  get isEmpty(): boolean {
    return this.#lines.size === 0 && this.#turns.size === 0;
  }

  /** Whether a line with this opening began with the tool. */
  hasBegun(opening: string): boolean {
    return this.#lines.has(this.#seal(opening));
  }

  /** Keeps that a line begins with the tool. It counts at once. @throws WindrowError where that cannot be kept */
  async begin(opening: string): Promise<void> {
    const sealed = this.#seal(opening);
    this.#lines.add(sealed);
    await this.#append(types.line, { opening: sealed });
  }

  /** Takes back, for this process, that a line begins with the tool. */
  unbegin(opening: string): void {
    this.#lines.delete(this.#seal(opening));
  }

  /**
   * A turn by any of its traces; `lost` for one whose hidden rounds cannot be given back.
   *
   * @param said - the hash of what the client has of it: a turn that its client wrote anew is lost
   */
  find(traces: readonly string[], said: string): HiddenTurn | "lost" | undefined {
    for (const trace of traces) {
      const turn = this.#turns.get(this.#trace(trace));
      if (turn) return turn !== "lost" && turn.said !== this.#seal(said) ? "lost" : turn;
    }
    return undefined;
  }

  /** Keeps a turn: it is known at once, also where the store refuses it. @throws WindrowError where it does */
  async keep({ messages, pending, ...turn }: HiddenTurn): Promise<void> {
    const said = this.#seal(turn.said);
    const traces = turn.traces.map((trace) => this.#trace(trace));
    for (const trace of traces) this.#turns.set(trace, { said, traces, messages, pending });
    await this.#append(types.round, { said, traces, messages, pending });
  }

  /** Whether an answer with one of these traces was given behind a turn that is lost. */
  isBehindLost(traces: readonly string[]): boolean {
    return traces.some((trace) => this.#behindLost.has(this.#trace(trace)));
  }

  /** Keeps that an answer was given behind a turn that is lost. @throws WindrowError where that cannot be kept */
  async keepBehindLost(traces: readonly string[]): Promise<void> {
    const sealed = traces.map((trace) => this.#trace(trace));
    for (const trace of sealed) this.#behindLost.add(trace);
    await this.#append(types.lost, { traces: sealed });
  }

  /** Tries once more what the store refused, and lets go of the session. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#inTurn((store) => this.#appendTo(store, this.#unkept.at(-1)));
  }

  /** A trace behind its letter, sealed. */
  #trace(trace: string): string {
    return `${trace.slice(0, 2)}${this.#seal(trace)}`;
  }

  #take({ type, data, masks }: StoredRecordOf<"edit">): void {
    const opening = asName(data["opening"]);
    if (type === types.line && opening !== undefined) this.#lines.add(opening);
    const traces = (asArray(data["traces"]) ?? []).map(String);
    if (type === types.lost) for (const trace of traces) this.#behindLost.add(trace);
    if (type !== types.round) return;
    // The original of a masked text is nowhere on the disk, so its turn cannot be sent as the model wrote it.
    const { said, messages, pending } = data;
    const turn: HiddenTurn | "lost" = masks
      ? "lost"
      : { said: asName(said) ?? "", traces, messages: objectsOf(messages), pending: objectsOf(pending) };
    for (const trace of traces) this.#turns.set(trace, turn);
  }

  #append(type: string, data: JsonObject): Promise<void> {
    const record: NewRecord = { kind: "edit", type, data, timestamp: this.#now().toISOString() };
    return this.#inTurn(async (store) => {
      this.#unkept.push(record);
      try {
        await this.#appendTo(store, record);
      } catch (error) {
        // Whoever begins a line is told that it cannot be kept, and leaves it.
        if (type === types.line) this.#unkept.pop();
        throw error;
      }
    });
  }

  /** Runs work on the disk behind all that was begun before. */
  #inTurn(work: (store: Store) => Promise<void>): Promise<void> {
    const store = this.#store;
    if (!store) return Promise.resolve();
    this.#newest = this.#behind(this.#newest, () => work(store));
    return this.#newest;
  }

  async #behind(before: Promise<void>, work: () => Promise<void>): Promise<void> {
    await before.catch(() => undefined);
    try {
      await work();
    } finally {
      if (this.#isClosed) await this.#letGo();
    }
  }

  /** Keeps records up to one of them. */
  async #appendTo(store: Store, last: NewRecord | undefined): Promise<void> {
    while (last && this.#unkept.includes(last)) await this.#appendNext(store);
  }

  async #appendNext(store: Store): Promise<void> {
    const [next] = this.#unkept;
    if (!next) return;
    try {
      this.#lock ??= await this.#locked(store);
      await store.append(this.#lock, [next]);
      this.#unkept.shift();
    } catch (error) {
      // Any other error leaves the lock with this process, which could not take it a second time.
      if (gone.some((code) => isWindrowError(error, code))) this.#lock = undefined;
      if (isWindrowError(error, "bad-message")) this.#unkept.shift();
      throw error;
    }
  }

  async #letGo(): Promise<void> {
    const lock = this.#lock;
    this.#lock = undefined;
    await lock?.release();
  }

  async #locked(store: Store): Promise<Lock> {
    for (let place = 0; ; place += 1) {
      try {
        return await this.#lockedAt(store, this.#idAt(place));
      } catch (error) {
        if (!taken.some((code) => isWindrowError(error, code))) throw error;
      }
    }
  }

  async #lockedAt(store: Store, id: string): Promise<Lock> {
    try {
      return await store.lock({}, id);
    } catch (error) {
      if (!isWindrowError(error, "session-not-found")) throw error;
      const createdAt = this.#now().toISOString();
      return store.create({}, { uuid: id, taskKey: this.#taskKey, config: {}, createdAt });
    }
  }
}

/** A name as a UUID of version 4, the same for the same name. */
function uuidOf(name: string): string {
  const digits = createHash("sha256").update(`hidden rounds\n${name}`).digest("hex");
  const variant = "89ab"[Number.parseInt(digits[16] ?? "0", 16) % 4] ?? "8";
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
