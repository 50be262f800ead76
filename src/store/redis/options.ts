/** The options of a Redis store, and the check of them. */
import type { Mask } from "../../mask/mask.ts";
import type { Clock } from "../shared/clock.ts";
import { badOption, checkOwnOptions } from "../shared/own-options.ts";
import { isRedisClient } from "./client.ts";
import type { RedisClient } from "./client.ts";

/** How a Redis store works. */
export interface RedisStoreOptions {
  /** A `Redis` or `Cluster` of `ioredis`, or a connected client or cluster of `redis`. It stays the caller's. */
  readonly client: RedisClient;
  /** The beginning of every key. Default `windrow:`. */
  readonly prefix?: string;
  /** Default: secrets of a known form are masked. */
  readonly mask?: Mask;
  /**
   * The events that an acknowledged append survives. `strict` (default): the death of the server, because it syncs every
   * write (`appendfsync always`); a server of which that cannot be seen is refused. `group`: the
   * death of the process that appends; of the server, what its own settings say, as a second with `appendfsync everysec`.
   */
  readonly durability?: "strict" | "group";
  /** Default: the server's clock for who lives, the system's for times of records. */
  readonly clock?: Clock;
}

const optionNames: readonly string[] = ["client", "prefix", "mask", "durability", "clock"];

/**
 * Refuses an option that is misspelled or has a wrong value.
 *
 * @throws WindrowError `bad-option`
 */
export function checkRedisOptions(options: RedisStoreOptions): void {
  checkOwnOptions("Redis", options, optionNames);
  const { client, prefix } = options;
  if (typeof client !== "object" || client === null || !isRedisClient(client)) {
    throw badOption("`client` is a Redis or Cluster of ioredis, or a connected client or cluster of redis.", "client");
  }
  if (prefix !== undefined && (typeof prefix !== "string" || /[{}]/.test(prefix))) {
    throw badOption("`prefix` is a text without braces.", "prefix");
  }
}
