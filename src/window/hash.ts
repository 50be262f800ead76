/**
 * Hashes of windows: 53 bits, to see whether bytes are the same, not to keep anybody out. In plain JavaScript, so that
 * the window runs wherever its host does.
 */
import type { Message } from "../message/message.ts";

/** A running hash over text, by two multiply-xor lanes. `seed` chains one text to what came before it. */
export function hashText(text: string, seed = 0): number {
  let high = 0xdeadbeef ^ (seed >>> 0);
  let low = 0x41c6ce57 ^ Math.floor(seed / 0x1_0000_0000);
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 0x1_0000_0000 * (0x1f_ffff & low) + (high >>> 0);
}

/** As text, for records and reports. */
export function hashName(hash: number): string {
  return hash.toString(16).padStart(14, "0");
}

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
