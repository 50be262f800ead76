/** The options of a Redis store, and the check of them. */
import { WindrowError } from "../../errors.ts";
import type { Mask } from "../../mask/mask.ts";
import { nearest } from "../../nearest.ts";
import type { Clock } from "../shared/clock.ts";
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
  for (const name of Object.keys(options)) {
    if (optionNames.includes(name)) continue;
    throw bad(`The Redis store has no option "${name}".${nearest(name, optionNames)}`, name);
  }
  const { client, prefix, durability } = options;
  if (typeof client !== "object" || client === null || !isRedisClient(client)) {
    throw bad("`client` is a Redis or Cluster of ioredis, or a connected client or cluster of redis.", "client");
  }
  if (prefix !== undefined && (typeof prefix !== "string" || /[{}]/.test(prefix))) {
    throw bad("`prefix` is a text without braces.", "prefix");
  }
  if (!["strict", "group", undefined].includes(durability)) {
    throw bad(`"durability" is "strict" or "group", not "${String(durability)}".`, "durability");
  }
}

function bad(message: string, option: string): WindrowError {
  return new WindrowError("bad-option", message, { option });
}
