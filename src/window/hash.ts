/** Hashes of messages and of runs of messages, to compare windows. */
import { hashText } from "../message/hash.ts";
import type { Message } from "../message/message.ts";

const hashes = new WeakMap<Message, number>();

/** The hash of what a provider is sent of a message: its role and parts. Kept for as long as the message lives. */
export function hashMessage(message: Message): number {
  let hash = hashes.get(message);
  if (hash === undefined) {
    hash = hashText(JSON.stringify([message.role, message.parts]));
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

function chain(left: number, right: number): number {
  const low = Math.imul(left ^ right, 2_654_435_761) ^ (right >>> 7);
  const high = Math.imul(Math.floor(left / 0x1_0000_0000) ^ Math.floor(right / 0x1_0000_0000) ^ low, 1_597_334_677);
  return 0x1_0000_0000 * (0x1f_ffff & (high ^ (low >>> 11))) + ((low ^ (high >>> 15)) >>> 0);
}
