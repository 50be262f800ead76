/** The epochs of windows that no log keeps: a conversation is found again by the messages it begins with. */
import type { Message } from "../../message/message.ts";
import { hashMessage } from "../../window/hash.ts";
import type { WindowState } from "../../window/window.ts";

/** How many conversations are remembered; the oldest one goes first. */
const mostConversations = 64;

interface Remembered {
  readonly hashes: readonly number[];
  readonly state: WindowState;
}

/** How a history stands to the remembered ones. */
export interface Recognised {
  /** The state to go on from; undefined for a history whose beginning no remembered one shares. */
  readonly state?: WindowState;
  /** The first place, from 0, at which it is no continuation of the newest one; undefined where it is one. */
  readonly brokenAt?: number;
}

/** Remembers the window state of the newest conversations. */
export class RememberedEpochs {
  #conversations: readonly Remembered[] = [];

  /** Compares a history with the remembered ones. */
  recognise(history: readonly Message[]): Recognised {
    const hashes = history.map(hashMessage);
    const known = this.#find(hashes);
    const newest = this.#conversations.at(-1)?.hashes ?? [];
    const brokenAt = newest.findIndex((hash, at) => hashes[at] !== hash);
    return { ...(known && { state: known.state }), ...(brokenAt !== -1 && { brokenAt }) };
  }

  /** Remembers the state of a history's window, in place of the state it went on from. */
  remember(history: readonly Message[], state: WindowState): void {
    const hashes = history.map(hashMessage);
    const known = this.#find(hashes);
    const others = this.#conversations.filter((one) => one !== known);
    this.#conversations = [...others.slice(1 - mostConversations), { hashes, state }];
  }

  /** The longest one that the history continues, else one whose epoch opened within what both share. */
  #find(hashes: readonly number[]): Remembered | undefined {
    const begins = (count: number, one: Remembered): boolean =>
      count <= hashes.length && one.hashes.slice(0, count).every((hash, at) => hash === hashes[at]);
    return this.#conversations
      .filter((one) => begins(one.hashes.length, one) || (one.state.opened > 0 && begins(one.state.opened, one)))
      .toSorted((left, right) => right.hashes.length - left.hashes.length)[0];
  }
}
