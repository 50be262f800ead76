/** The writing of sessions that a store holds: what waits goes to the engine together, and each session in its order. */
import { isWindrowError } from "../../errors.ts";
import type { StoredRecord } from "../../message/record.ts";
import type { Engine, Step } from "../engine.ts";
import { encodeState } from "../format/documents.ts";
import { GroupWriter } from "../shared/group-writer.ts";
import type { Outcome, Part } from "../shared/group-writer.ts";
import { ownerOf } from "../shared/holder.ts";
import { isUnknownOutcome, unknownOutcome } from "../shared/remote.ts";
import type { Taker } from "../shared/holder.ts";
import { sealOf } from "../shared/session-log.ts";
import type { Counters, Encoded } from "../shared/session-log.ts";
import { fenced } from "../shared/unlock.ts";
import type { SessionState, SessionStatus } from "../store.ts";
import type { LogEnds } from "./ends.ts";
import { listingOf } from "../shared/mark.ts";
import type { Found } from "./found.ts";

/** A session that this store writes. */
export interface Held {
  readonly found: Found;
  readonly id: string;
  readonly counters: Counters;
  holder: Taker;
  revision: number;
  status: SessionStatus;
  /** The session as it was when it was taken; undefined once it was written. */
  taken: Taken | undefined;
  readonly endBeat: () => void;
}

/** A session as it was when a process took it. */
export interface Taken {
  /** When, by the clock of the store. */
  readonly at: number;
  readonly ends: LogEnds;
}

/** Writes the sessions of one store. */
export class SessionWriter {
  readonly #engine: Engine;
  readonly #group: GroupWriter<Held>;

  constructor(engine: Engine) {
    const { batches: mostBatches = 1, mayTear = false, givenUp } = engine;
    this.#engine = engine;
    this.#group = new GroupWriter<Held>((parts) => this.#send(parts), {
      mostBatches,
      mayTear,
      ...(givenUp && { givenUp }),
    });
  }

  /**
   * Adds lines, and replaces the state where one is given, after all that was asked for the session before.
   *
   * @throws WindrowError `fenced`, `not-durable`, `store-unavailable`
   */
  async write(held: Held, encoded: readonly Encoded[], state?: SessionState): Promise<readonly StoredRecord[]> {
    held.taken = undefined;
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
    try {
      await this.#change(held, step);
    } catch (error) {
      if (!isWindrowError(error, "fenced") || !(await this.#hasEnded(held, state))) throw error;
    }
  }

  /** Whether an earlier end of this holder, whose answer was lost, was kept. */
  async #hasEnded({ id, revision }: Held, { status }: SessionState): Promise<boolean> {
    const head = await this.#engine.head(id);
    return head?.revision === revision + 1 && head.listing.status === status && !head.holder;
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

  async #send(parts: readonly Part<Held>[]): Promise<ReadonlyMap<Held, Outcome>> {
    const outcomes = new Map<Held, Outcome>();
    const made = await this.#engine.commit(parts.map((part) => this.#stepOf(part)));
    const again: Part<Held>[] = [];
    for (const [place, part] of parts.entries()) {
      // Other parts are kept by now, and of this one nobody knows while it cannot be asked.
      const asked = async () => this.#outcomeOf(part).catch((error: unknown) => Promise.reject(unknownOutcome(error)));
      const outcome = made[place] ? "kept" : await asked();
      if (outcome) outcomes.set(part.held, outcome);
      else again.push(part);
    }
    if (again.length === 0) return outcomes;
    try {
      return new Map([...outcomes, ...(await this.#send(again))]);
    } catch (error) {
      // A refusal says nothing about what was kept before.
      if (outcomes.size === 0 || !isWindrowError(error) || isUnknownOutcome(error)) throw error;
      return new Map([...outcomes, ...again.map(({ held }) => [held, error] as const)]);
    }
  }

  #stepOf({ held, lines, after, state }: Part<Held>): Step {
    const isDurable = lines.length > 0 || (state !== undefined && state.status !== held.status);
    return { id: held.id, at: held.revision, lines, isDurable, ...(state && this.#stateStep(held, after, state)) };
  }

  /** What became of a part that found another revision; undefined where upkeep changed the session: it is sent again. */
  async #outcomeOf(part: Part<Held>): Promise<Outcome | undefined> {
    const { held } = part;
    const { revision } = held;
    // Where every outcome is known, a step that was refused was not kept, whatever is left of it.
    const isKept = this.#engine.mayTear !== true && (await this.#isThere(part));
    try {
      await this.adopt(held);
    } catch (error) {
      if (isWindrowError(error, "fenced")) return isKept ? "kept" : "fenced";
      throw error;
    }
    // A server that went back to what it was before has not all that it acknowledged.
    if (held.revision < revision) return "elsewhere";
    if (!isKept) return undefined;
    held.revision -= 1;
    return "kept";
  }

  /** Whether an earlier sending of lines, whose answer was lost, or which a client sent again by itself, was kept. */
  async #isThere({ held: { id }, lines }: Part<Held>): Promise<boolean> {
    const last = lines.at(-1);
    if (!last) return false;
    const { log, seq } = last;
    const page = await this.#engine.page(id, log, { from: seq, to: seq, most: 1 });
    return page.lines[0]?.line === last.line;
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
