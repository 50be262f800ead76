/** A cache before a model: the same request, byte for byte, is answered from memory. Off unless a model is wrapped. */
import { createHash } from "node:crypto";
import type { Model, ModelAnswer, ModelRequest } from "./model.ts";

/** Options of {@link cached}. */
export interface CacheOptions {
  /** Milliseconds an answer is good for. Default 3,600,000: an hour (seed 001's CACHE_TTL). */
  readonly ttlMs?: number;
  /** Most bytes of answers kept; the least recently used go first. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly now?: () => number;
}

interface Kept {
  readonly answer: ModelAnswer;
  readonly bytes: number;
  readonly until: number;
}

/**
 * The model, with its whole answers remembered in this process: only those that ended by themselves and hold text. What
 * comes from the cache reports a usage of 0, as it cost nothing. Errors are never remembered.
 */
export function cached(model: Model, options: CacheOptions = {}): Model {
  const { ttlMs = 3_600_000, maxBytes = 16 * 1_024 * 1_024, now = Date.now } = options;
  const kept = new Map<string, Kept>();
  let bytes = 0;
  const forget = (key: string): void => {
    bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };
  const ask: Model = async (request, signal) => {
    const key = keyOf(request);
    const found = kept.get(key);
    if (found) forget(key);
    if (found && found.until > now()) {
      keep(key, found);
      return { ...found.answer, usage: { input: 0, output: 0 } };
    }
    const answer = await model(request, signal);
    if (answer.finish === "stop" && answer.text.trim() !== "") {
      keep(key, { answer, bytes: Buffer.byteLength(answer.text), until: now() + ttlMs });
    }
    return answer;
  };
  const keep = (key: string, entry: Kept): void => {
    forget(key);
    kept.set(key, entry);
    bytes += entry.bytes;
    for (const oldest of kept.keys()) {
      if (bytes <= maxBytes) break;
      forget(oldest);
    }
  };
  const { id, contextWindow } = model;
  return Object.assign(ask, {
    ...(id !== undefined && { id }),
    ...(contextWindow !== undefined && { contextWindow }),
  });
}

function keyOf({ system, prompt, maxOutput }: ModelRequest): string {
  const bytes = JSON.stringify([system ?? null, prompt, maxOutput ?? null]);
  return createHash("sha256").update(bytes).digest("base64");
}
