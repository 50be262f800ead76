/**
 * The Redis store: a hash and seven streams for each session, every record as the line a file store would write
 * (docs/format.md).
 */
import { systemClock } from "../shared/clock.ts";
import { sessionStore } from "../session-store/session-store.ts";
import type { Store } from "../store.ts";
import { placeOf } from "./database.ts";
import { redisEngine } from "./engine.ts";
import { checkRedisOptions } from "./options.ts";
import type { RedisStoreOptions } from "./options.ts";

export type { IoRedisClient, NodeRedisClient, NodeRedisCluster, RedisClient } from "./client.ts";
export type { RedisStoreOptions } from "./options.ts";

/**
 * Opens a Redis store on a client that the caller brings.
 *
 * @throws WindrowError `bad-option`; with its first use `bad-option` where the server cannot keep what `strict` promises,
 *   `store-unavailable`
 */
export function redisStore(options: RedisStoreOptions): Store {
  checkRedisOptions(options);
  return redisStoreOn(options, { location: "redis:", owned: false });
}

/** As {@link redisStore}, with the address of the server, and perhaps with a client that ends with the store. */
export function redisStoreOn(
  options: RedisStoreOptions,
  server: { readonly location: string; readonly owned: boolean },
): Store {
  const { mask, clock = systemClock } = options;
  return sessionStore(redisEngine(placeOf(options, server)), { clock, ...(mask && { mask }) });
}
