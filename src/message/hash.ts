/**
 * Hashes of texts, 53 bits: they tell whether two texts are equal and resist no attacker. Plain JavaScript, so that a
 * window needs nothing of Node.
 */

/** The two lanes of a hash that is not finished. */
type Lanes = Int32Array;

/** A running hash over text, by two multiply-xor lanes. `seed` chains one text to what came before it. */
export function hashText(text: string, seed = 0): number {
  const lanes = begun(seed);
  mix(lanes, text);
  return finished(lanes);
}

/** As {@link hashText} of a value's JSON text, which is never written as a whole. */
export function hashJson(value: unknown): number {
  const lanes = begun(0);
  mixJson(lanes, value);
  return finished(lanes);
}

function begun(seed: number): Lanes {
  return Int32Array.of(0xdeadbeef ^ (seed >>> 0), 0x41c6ce57 ^ Math.floor(seed / 0x1_0000_0000));
}

function finished(lanes: Lanes): number {
  let high = lanes[0]!;
  let low = lanes[1]!;
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 0x1_0000_0000 * (0x1f_ffff & low) + (high >>> 0);
}

function mix(lanes: Lanes, text: string): void {
  let high = lanes[0]!;
  let low = lanes[1]!;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  lanes[0] = high;
  lanes[1] = low;
}

function mixJson(lanes: Lanes, value: unknown): void {
  if (typeof value === "string") return mixQuoted(lanes, value);
  if (Array.isArray(value)) {
    mix(lanes, "[");
    for (let index = 0; index < value.length; index++) {
      if (index > 0) mix(lanes, ",");
      mixJson(lanes, value[index] ?? null);
    }
    return mix(lanes, "]");
  }
  if (!isPlain(value)) return mix(lanes, JSON.stringify(value) ?? "null");
  let before = "{";
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item === undefined || typeof item === "function" || typeof item === "symbol") continue;
    mix(lanes, before);
    mixQuoted(lanes, key);
    mix(lanes, ":");
    mixJson(lanes, item);
    before = ",";
  }
  mix(lanes, before === "{" ? "{}" : "}");
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || "toJSON" in value) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The characters of ASCII as JSON writes them within a text. */
const written = Array.from({ length: 128 }, (_, unit) => JSON.stringify(String.fromCharCode(unit)).slice(1, -1));
/** Whether JSON writes a character of ASCII as it is. */
const stays = Uint8Array.from(written, ({ length }) => (length === 1 ? 1 : 0));

/** Mixes a text as JSON quotes it. */
function mixQuoted(lanes: Lanes, text: string): void {
  mix(lanes, '"');
  let high = lanes[0]!;
  let low = lanes[1]!;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 128 ? stays[unit] === 1 : (unit & 0xf800) !== 0xd800) {
      high = Math.imul(high ^ unit, 2_654_435_761);
      low = Math.imul(low ^ unit, 1_597_334_677);
      continue;
    }
    lanes[0] = high;
    lanes[1] = low;
    if (unit < 128) mix(lanes, written[unit]!);
    else {
      const character = String.fromCodePoint(text.codePointAt(index)!);
      mix(lanes, JSON.stringify(character).slice(1, -1));
      index += character.length - 1;
    }
    high = lanes[0]!;
    low = lanes[1]!;
  }
  lanes[0] = high;
  lanes[1] = low;
  mix(lanes, '"');
}

/** The hash as 14 hexadecimal digits, for records and reports. */
export function hashName(hash: number): string {
  return hash.toString(16).padStart(14, "0");
}
