/**
 * The messages of a session as columns of small figures, for a session whose calls name no window: its calls are its
 * assistant's messages, and a window is the log up to there. Read once, and later only what was added.
 */
import type { Role, Usage } from "../../message/message.ts";
import { Turns } from "../../turns.ts";
import type { Place } from "./epoch-index.ts";

const roles: readonly Role[] = ["system", "user", "assistant", "tool"];

/** A call of a session without recorded windows: one answer of its model. */
export interface AnsweredCall {
  /** The answer's message. */
  readonly seq: number;
  readonly pos: number;
  readonly timestamp: string;
  readonly model: string | undefined;
  readonly usage: Usage | undefined;
}

/** Roles and token counts of a log's messages, and the calls that they answer. */
export class LogColumns {
  readonly #place: Place;
  readonly #calls: AnsweredCall[] = [];
  #roles = new Uint8Array(1_024);
  #tokens = new Uint32Array(1_024);
  #read = 0;
  #total = 0;
  #growing: Promise<void> = Promise.resolve();

  constructor(place: Place) {
    this.#place = place;
  }

  /** The newest message that was read. */
  get read(): number {
    return this.#read;
  }

  /** Tokens of all messages. */
  get total(): number {
    return this.#total;
  }

  /** The answers so far, oldest first. */
  get calls(): readonly AnsweredCall[] {
    return this.#calls;
  }

  /** The role of a message. */
  role(seq: number): Role {
    return roles[this.#roles[seq] ?? 1] ?? "user";
  }

  /** The tokens of a message. */
  tokens(seq: number): number {
    return this.#tokens[seq] ?? 0;
  }

  /** Reads what was added since the last call. Calls at the same time read one after the other. */
  grow(): Promise<void> {
    const next = this.#growing.then(() => this.#grow());
    this.#growing = next.catch(() => undefined);
    return next;
  }

  async #grow(): Promise<void> {
    const { store, scope, id } = this.#place;
    const turns = new Turns();
    for await (const record of store.read(scope, id, { kind: "message", from: this.#read + 1 })) {
      await turns.turn();
      const { seq, pos, message, tokenCount, timestamp } = record;
      const { role, model, usage } = message;
      if (seq >= this.#roles.length) this.#widen(seq);
      this.#roles[seq] = roles.indexOf(role);
      this.#tokens[seq] = tokenCount;
      this.#total += tokenCount;
      this.#read = seq;
      if (role === "assistant") this.#calls.push({ seq, pos, timestamp, model, usage });
    }
  }

  #widen(seq: number): void {
    const length = Math.max(seq + 1, 2 * this.#roles.length);
    const wider = new Uint8Array(length);
    wider.set(this.#roles);
    this.#roles = wider;
    const counts = new Uint32Array(length);
    counts.set(this.#tokens);
    this.#tokens = counts;
  }
}
