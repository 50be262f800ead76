/** The writing of sessions that a store holds: what waits goes to the engine together, and each session in its order. */
import { isWindrowError } from "../../errors.ts";
import type { StoredRecord } from "../../message/record.ts";
import type { Engine, Step } from "../engine.ts";
import { encodeState } from "../format/documents.ts";
import { GroupWriter } from "../shared/group-writer.ts";
import type { Outcome, Part } from "../shared/group-writer.ts";
import { ownerOf } from "../shared/holder.ts";
import type { Taker } from "../shared/holder.ts";
import { sealOf } from "../shared/session-log.ts";
import type { Counters, Encoded } from "../shared/session-log.ts";
import { fenced } from "../shared/unlock.ts";
import type { SessionState, SessionStatus } from "../store.ts";
import { listingOf } from "./found.ts";
import type { Found } from "./found.ts";

/** A session that this store writes. */
export interface Held {
  readonly found: Found;
  readonly id: string;
  readonly counters: Counters;
  holder: Taker;
  revision: number;
  status: SessionStatus;
  readonly endBeat: () => void;
}

/** Writes the sessions of one store. */
export class SessionWriter {
  readonly #engine: Engine;
  readonly #group = new GroupWriter<Held>((parts, mayBeKept) => this.#send(parts, mayBeKept));

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Adds lines, and replaces the state where one is given, after all that was asked for the session before.
   *
   * @throws WindrowError `fenced`, `not-durable`, `store-unavailable`
   */
  async write(held: Held, encoded: readonly Encoded[], state?: SessionState): Promise<readonly StoredRecord[]> {
    const stored = await this.#group.write(held, encoded, state);
    if (state) held.status = state.status;
    return stored;
  }

  /**
   * Waits until all that was asked for is kept.
   *
   * @throws WindrowError `store-unavailable` where that is not known
   */
  written(held: Held): Promise<void> {
    return this.#group.written(held);
  }

  /** Writes the last state of a session, with the hash over its lines, and lets go of it. */
  async end(held: Held, state: SessionState, hash: string): Promise<void> {
    const step = { ...this.#stateStep(held, held.counters, state, hash), holder: null, isDurable: true };
    await this.#change(held, step);
  }

  /** Lets go of a session, unless another process has it by now. */
  async release(held: Held): Promise<void> {
    await this.#group.settled(held);
    try {
      await this.#change(held, { holder: null, isDurable: false });
    } catch (error) {
      if (!isWindrowError(error, "fenced")) throw error;
    }
  }

  async #send(parts: readonly Part<Held>[], mayBeKept: boolean): Promise<ReadonlyMap<Held, Outcome>> {
    const outcomes = new Map<Held, Outcome>();
    for (let left = parts; left.length > 0;) {
      const made = await this.#engine.commit(left.map((part) => this.#stepOf(part)));
      const again: Part<Held>[] = [];
      for (const [place, part] of left.entries()) {
        const outcome = made[place] ? "kept" : await this.#outcomeOf(part, mayBeKept);
        if (outcome) outcomes.set(part.held, outcome);
        else again.push(part);
      }
      left = again;
    }
    return outcomes;
  }

  #stepOf({ held, lines, after, state }: Part<Held>): Step {
    const isDurable = lines.length > 0 || (state !== undefined && state.status !== held.status);
    return { id: held.id, at: held.revision, lines, isDurable, ...(state && this.#stateStep(held, after, state)) };
  }

  /** What became of a part that found another revision; undefined where upkeep changed the session: it is sent again. */
  async #outcomeOf({ held, lines, after }: Part<Held>, mayBeKept: boolean): Promise<Outcome | undefined> {
    try {
      await this.adopt(held);
    } catch (error) {
      if (isWindrowError(error, "fenced")) return "fenced";
      throw error;
    }
    if (!mayBeKept || lines.length === 0 || (await this.#engine.numbers(held.id)).pos < after.pos) return undefined;
    // An earlier sending, whose answer was lost, was kept.
    held.revision -= 1;
    return "kept";
  }

  /**
   * Goes on from the session's revision as it is now.
   *
   * @throws WindrowError `fenced` where another process has the session, or lists leave it out
   */
  async adopt(held: Held): Promise<void> {
    const head = await this.#engine.head(held.id);
    if (head?.holder?.taking !== held.holder.taking || head.listing.isHidden)
      throw fenced({ owner: ownerOf(held.holder) });
    held.revision = head.revision;
  }

  /** Makes a change of a session for which nothing waits. */
  async #change(held: Held, step: Omit<Step, "id" | "at">): Promise<void> {
    for (;;) {
      const [isMade] = await this.#engine.commit([{ id: held.id, at: held.revision, ...step }]);
      if (isMade) break;
      await this.adopt(held);
    }
    held.revision += 1;
  }

  #stateStep({ found: { metadata } }: Held, counters: Counters, state: SessionState, hash?: string) {
    return {
      documents: { state: encodeState(state, {}, sealOf(counters, hash)) },
      listing: listingOf(metadata, state, {}),
    };
  }
}
