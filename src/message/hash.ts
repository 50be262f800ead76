/**
 * Hashes of texts, 53 bits: they tell whether two texts are equal and resist no attacker. Plain JavaScript, so that a
 * window needs nothing of Node.
 */

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

/** The hash as 14 hexadecimal digits, for records and reports. */
export function hashName(hash: number): string {
  return hash.toString(16).padStart(14, "0");
}
