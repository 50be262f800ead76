/**
 * The seal: masked originals, encrypted beside their placeholders (AES-256-GCM). A resume with the key composes the
 * original window; without the key nothing can be restored.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { WindrowError } from "../errors.ts";
import { isObject } from "../message/json.ts";
import type { JsonValue, MaskFlag } from "../message/message.ts";
import type { NewRecord } from "../message/record.ts";
import type { Replaced } from "./rules.ts";

/** Encrypts and restores masked originals. Made by a mask with a key. */
export interface Seal {
  /** A keyed hash of a secret: 16 hexadecimal digits, the same on every machine with the key. */
  readonly fingerprint: (secret: string) => string;
  /**
   * The originals of a record, encrypted, in base64.
   *
   * @param spans - what was replaced in a text as it came
   */
  close(original: NewRecord, masked: NewRecord, spans: (text: string) => readonly Replaced[]): string;
  /** Restores a record with its original flags. A record without a seal, or with another key's, stays as it is. */
  open<R extends NewRecord>(record: R): R;
}

/** A difference between the original and the masked record: a path, and what to put there. */
interface Patch {
  readonly path: readonly (string | number)[];
  /** `[start, length, original]` in the masked text, in order; or the whole original value. */
  readonly pieces?: readonly (readonly [number, number, string])[];
  readonly whole?: JsonValue;
}

const shortestKey = 32;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Makes a seal. Two keys are derived from the given one (HKDF-SHA-256, RFC 5869): one for encryption, one for
 * fingerprints. HKDF does not slow a guesser down, so a short passphrase is no key.
 *
 * @throws WindrowError `bad-option` for a key of less than 32 characters
 */
export function createSeal(key: string): Seal {
  if (key.length < shortestKey) {
    throw new WindrowError(
      "bad-option",
      `The seal's key has ${key.length} characters; it needs ${shortestKey} or more, made at random: ` +
        '"openssl rand -base64 32".',
      { length: key.length },
    );
  }
  const derived = (purpose: string): Buffer => Buffer.from(hkdfSync("sha256", key, "windrow", purpose, 32));
  const [cipherKey, hashKey] = [derived("seal"), derived("fingerprint")];
  return {
    fingerprint: (secret) => createHmac("sha256", hashKey).update(secret).digest("hex").slice(0, 16),
    close(original, masked, spans) {
      const patches: Patch[] = [];
      compare(original as unknown as JsonValue, masked as unknown as JsonValue, [], spans, patches);
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", cipherKey, nonce).setAAD(identity(masked));
      const flags = flagsOf(original);
      const sealed = flags ? { patches, flags } : patches;
      const bytes = Buffer.concat([cipher.update(JSON.stringify(sealed), "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), bytes]).toString("base64");
    },
    open(record) {
      if (record.sealed === undefined) return record;
      const { sealed, ...rest } = record;
      const plain = decrypted(cipherKey, Buffer.from(sealed, "base64"), identity(record));
      if (plain === undefined) return record;
      const content = JSON.parse(plain) as readonly Patch[] | { patches: readonly Patch[]; flags: readonly MaskFlag[] };
      const { patches, flags } = "flags" in content ? content : { patches: content, flags: [] };
      const opened = patches.reduce<JsonValue>(applied, rest as unknown as JsonValue) as unknown;
      return withFlags(opened as typeof record, flags);
    },
  };
}

/** The identity that a seal is bound to, so that it opens no other record. */
function identity(record: NewRecord): Buffer {
  const name = record.kind === "message" ? record.message.id : record.timestamp;
  return Buffer.from(`windrow.seal.1 ${record.kind} ${name}`);
}

function decrypted(key: Buffer, bytes: Buffer, bound: Buffer): string | undefined {
  if (bytes.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes)).setAAD(bound);
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString("utf8");
  } catch {
    // The key differs or the bytes were changed: the record stays masked.
    return undefined;
  }
}

/** Lists the differences between a masked value and the original. */
function compare(
  original: JsonValue,
  masked: JsonValue,
  path: readonly (string | number)[],
  spans: (text: string) => readonly Replaced[],
  patches: Patch[],
): void {
  if (original === masked) return;
  if (typeof original === "string") {
    const pieces = piecesOf(original, spans(original));
    patches.push(pieces.length > 0 ? { path, pieces } : { path, whole: original });
  } else if (Array.isArray(original) && Array.isArray(masked)) {
    for (const [index, item] of original.entries()) {
      compare(item as JsonValue, masked[index] as JsonValue, [...path, index], spans, patches);
    }
  } else if (isObject(original) && isObject(masked)) {
    const names = Object.keys(original).filter((name) => original[name] !== undefined);
    if (names.every((name) => name in masked)) {
      for (const name of names) compare(original[name]!, masked[name]!, [...path, name], spans, patches);
    } else patches.push({ path, whole: original });
  }
}

/** The originals of a text, at the places of their placeholders. */
function piecesOf(original: string, spans: readonly Replaced[]): readonly (readonly [number, number, string])[] {
  let shift = 0;
  return spans.map(({ start, length, placeholder }) => {
    const piece = [start + shift, placeholder.length, original.slice(start, start + length)] as const;
    shift += placeholder.length - length;
    return piece;
  });
}

/** Applies one patch to a value. */
function applied(value: JsonValue, { path, pieces, whole }: Patch): JsonValue {
  const [first, ...rest] = path;
  if (first === undefined) return typeof value === "string" && pieces ? restored(value, pieces) : (whole ?? value);
  const patch: Patch = { path: rest, ...(pieces && { pieces }), ...(whole !== undefined && { whole }) };
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).map((item, index) => (index === first ? applied(item, patch) : item));
  }
  if (!isObject(value) || !(first in value)) return value;
  return { ...value, [first]: applied(value[first]!, patch) };
}

function restored(masked: string, pieces: NonNullable<Patch["pieces"]>): string {
  let text = "";
  let done = 0;
  for (const [start, length, original] of pieces) {
    text += masked.slice(done, start) + original;
    done = start + length;
  }
  return text + masked.slice(done);
}

function flagsOf(record: NewRecord): readonly MaskFlag[] | undefined {
  return record.kind === "message" ? record.message.masks : record.masks;
}

/** The record with other flags. */
function withFlags<T extends NewRecord>(record: T, flags: readonly MaskFlag[]): T {
  const kept = flags.length > 0 && { masks: flags };
  if (record.kind !== "message") {
    const { masks: _masks, ...rest } = record;
    return { ...rest, ...kept } as T;
  }
  const { masks: _masks, ...message } = record.message;
  return { ...record, message: { ...message, ...kept } };
}
