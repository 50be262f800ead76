/** A cache before a model: an identical request is answered from memory. Off unless a model is wrapped. */
import { createHash } from "node:crypto";
import { checkedModel } from "./answer.ts";
import type { Model, ModelAnswer, ModelLike, ModelRequest } from "./model.ts";

/** Options of {@link cached}. */
export interface CacheOptions {
  /** Milliseconds that an answer stays valid. Default 3,600,000: an hour. */
  readonly ttlMs?: number;
  /** Most bytes of cached answers; the least recently used go first. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
}

interface Entry {
  readonly answer: ModelAnswer;
  readonly bytes: number;
  readonly until: number;
}

/**
 * Wraps a model so that this process remembers its whole answers: those that ended by themselves and hold text. A
 * cached answer reports a usage of 0, because it cost nothing. Errors are never remembered.
 */
export function cached(model: ModelLike, options: CacheOptions = {}): Model {
  const { ttlMs = 3_600_000, maxBytes = 16 * 1_024 * 1_024, now = Date.now } = options;
  const asked = checkedModel(model);
  const entries = new Map<string, Entry>();
  let bytes = 0;
  const forget = (key: string): void => {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  };
  const ask: Model = async (request, signal) => {
    const key = keyOf(request);
    const found = entries.get(key);
    if (found) forget(key);
    if (found && found.until > now()) {
      remember(key, found);
      return { ...found.answer, usage: { input: 0, output: 0 } };
    }
    const answer = await asked(request, signal);
    if (answer.finish === "stop" && answer.text.trim() !== "") {
      remember(key, { answer, bytes: Buffer.byteLength(answer.text), until: now() + ttlMs });
    }
    return answer;
  };
  const remember = (key: string, entry: Entry): void => {
    forget(key);
    entries.set(key, entry);
    bytes += entry.bytes;
    for (const oldest of entries.keys()) {
      if (bytes <= maxBytes) break;
      forget(oldest);
    }
  };
  return Object.assign(ask, asked);
}

function keyOf({ system, prompt, maxOutput }: ModelRequest): string {
  const bytes = JSON.stringify([system ?? null, prompt, maxOutput ?? null]);
  return createHash("sha256").update(bytes).digest("base64");
}
