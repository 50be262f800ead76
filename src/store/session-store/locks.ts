/** The locks of a session store: sessions are made, taken, taken by force and let go here, and here alone. */
import type { NewRecord } from "../../message/record.ts";
import type { Head, Look } from "../engine.ts";
import { noCounts } from "../format/seal.ts";
import { timestamp } from "../shared/clock.ts";
import { HeldSessions } from "../shared/held-sessions.ts";
import { heartbeatMs, ownerOf } from "../shared/holder.ts";
import type { Taker } from "../shared/holder.ts";
import { prepareState } from "../shared/prepare.ts";
import { isBehind } from "../shared/recount.ts";
import { holdingOf } from "../shared/remote.ts";
import { finished, formatVersion, inScope, isFinal, newerFormat, sessionId } from "../shared/rules.ts";
import { encode } from "../shared/session-log.ts";
import type { Continued } from "../shared/session-log.ts";
import { unlockEdit } from "../shared/unlock.ts";
import type { Holding, Lock, NewSession, Scope, UnlockOptions } from "../store.ts";
import type { Beat } from "./beat.ts";
import { endParts, LogEnds } from "./ends.ts";
import { checkFree, checkLinesHere, find } from "./found.ts";
import type { Core, Found } from "./found.ts";
import { created, recountedState, taken } from "./take.ts";
import type { Held, SessionWriter, Taken } from "./writer.ts";

/** Gives out the locks of one store. */
export class Locks {
  /** The sessions that are locked. */
  readonly held = new HeldSessions<Held>(
    () => this.#core.alive(),
    (held) => this.#letGo(held),
  );
  readonly #core: Core;
  readonly #beat: Beat;
  readonly #writer: SessionWriter;

  constructor(core: Core, beat: Beat, writer: SessionWriter) {
    this.#core = core;
    this.#beat = beat;
    this.#writer = writer;
  }

  async create(scope: Scope, session: NewSession): Promise<Lock> {
    this.#core.alive();
    const { found, holder } = await created(this.#core, scope, session);
    const numbers = { seqs: noCounts(), pos: 0 };
    return this.#hold(scope, found, found.head.revision, holder, { counters: numbers, missing: [] });
  }

  async lock(scope: Scope, id: string): Promise<Lock> {
    for (;;) {
      this.#core.alive();
      const at = this.#core.clock.now();
      const look = await this.#core.engine.look?.(sessionId(id), endParts);
      const found = await this.#unfinished(scope, id, look?.head);
      checkLinesHere(found);
      checkFree(found.head);
      const lock = await this.#take(scope, found, [], look && { at, look });
      if (lock) return lock;
    }
  }

  async unlock(scope: Scope, id: string, options: UnlockOptions): Promise<Holding> {
    let edit: NewRecord | undefined;
    for (;;) {
      const found = await this.#unfinished(scope, id);
      const holding = holdingOf(found.head);
      edit = unlockEdit(id, holding, options, timestamp(this.#core.clock)) ?? edit;
      if (holding.state === "none" && !edit) return holding;
      const lock = await this.#take(scope, found, edit && !found.state.archived ? [edit] : []);
      if (!lock) continue;
      await lock.release();
      return holding;
    }
  }

  /** Takes a session as it was found, with records that say why; undefined where somebody changed it since. */
  async #take(
    scope: Scope,
    found: Found,
    records: readonly NewRecord[] = [],
    looked?: { readonly at: number; readonly look: Look },
  ): Promise<Lock | undefined> {
    const { id, head } = found;
    const encoded = records.map((record) => encode(this.#core.mask, record));
    const numbers = looked?.look.numbers ?? (await this.#core.engine.numbers(id));
    const taking = await taken(this.#core, found, encoded, numbers);
    if (!taking) return undefined;
    const { holder, continued } = taking;
    const asTaken = looked && { at: looked.at, ends: new LogEnds(looked.look) };
    const lock = this.#hold(scope, found, head.revision + 1, holder, continued, asTaken);
    // Who let go of a session wrote its state last; of a writer that died or was passed over, the lines may say more.
    // Those in an archive say nothing.
    if (found.state.archived || (!head.holder && !isBehind(head.documents.state, numbers))) return lock;
    try {
      const state = await recountedState(this.#core, found);
      await this.#writer.write(this.held.writable(lock), [], prepareState(this.#core.mask, state));
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
    const recovery = [...(this.#core.engine.recovered?.(found.head) ?? []), ...missing];
    return this.held.add({ id, scope, recovery, owner: () => ownerOf(held.holder) }, held);
  }

  /** A session that is not finished, of a format that this version writes. */
  async #unfinished(scope: Scope, id: string, head?: Head): Promise<Found> {
    const found = await find(this.#core, scope, id, head);
    const { metadata, state } = found;
    if (metadata.format > formatVersion) throw newerFormat(id, metadata.format);
    if (isFinal(state.status)) {
      await this.#core.engine.settle?.(found.head);
      throw finished(id);
    }
    return found;
  }

  /** A session as this store took it, until it writes it, and while no other one can have passed it over for its silence. */
  asTaken(scope: Scope, id: string): Held | undefined {
    this.#core.alive();
    const held = this.held.open(id);
    const isFresh = held?.taken && Math.abs(this.#core.clock.now() - held.taken.at) < heartbeatMs;
    return isFresh && inScope(scope, held.found.metadata) ? held : undefined;
  }

  async #letGo(held: Held): Promise<void> {
    held.endBeat();
    const { id, revision: at, holder } = held;
    await this.#core.givingBack.lettingGo({ id, at, holder }, this.#writer.release(held));
  }
}
