/** Hashes of messages and of runs of messages, to compare windows. */
import { hashJson, hashName } from "../message/hash.ts";
import type { Message } from "../message/message.ts";
import { sharedPrefix } from "../message/shared-prefix.ts";

const hashes = new WeakMap<Message, number>();

/** The hash of what a provider is sent of a message: its role and parts. Kept for as long as the message lives. */
export function hashMessage(message: Message): number {
  let hash = hashes.get(message);
  if (hash === undefined) {
    hash = hashJson([message.role, message.parts]);
    hashes.set(message, hash);
  }
  return hash;
}

/** The hash of a stretch of messages, from `from` on, chained to `seed`. */
export function hashMessages(messages: readonly Message[], seed = 0, from = 0, to = messages.length): number {
  let hash = seed;
  for (let index = from; index < to; index++) {
    const message = messages[index];
    if (message) hash = chain(hash, hashMessage(message));
  }
  return hash;
}

/** Names the hashes of lists that mostly grow: what a list shares with the one before is chained once. */
export class ListHashes {
  #last: readonly Message[] = [];
  /** The hash up to each message of the last list. */
  #values: number[] = [];
  #named = { hash: 0, name: hashName(0) };

  /** The name of the hash of the first `length` messages. */
  nameOf(messages: readonly Message[], length = messages.length): string {
    if (messages !== this.#last) {
      this.#values.length = Math.min(this.#values.length, sharedPrefix(this.#last, messages));
      this.#last = messages;
    }
    const values = this.#values;
    const end = Math.min(length, messages.length);
    for (let at = values.length; at < end; at++) values.push(hashMessages(messages, values[at - 1] ?? 0, at, at + 1));
    const hash = values[end - 1] ?? 0;
    if (hash !== this.#named.hash) this.#named = { hash, name: hashName(hash) };
    return this.#named.name;
  }
}

function chain(left: number, right: number): number {
  const low = Math.imul(left ^ right, 2_654_435_761) ^ (right >>> 7);
  const high = Math.imul(Math.floor(left / 0x1_0000_0000) ^ Math.floor(right / 0x1_0000_0000) ^ low, 1_597_334_677);
  return 0x1_0000_0000 * (0x1f_ffff & (high ^ (low >>> 11))) + ((low ^ (high >>> 15)) >>> 0);
}
