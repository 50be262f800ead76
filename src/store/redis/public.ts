/** `windrow/store/redis`: sessions in Redis or Valkey, on a client of one's own. docs/fleet.md describes it. */
export { redisStore } from "./redis.ts";
export type { IoRedisClient, NodeRedisClient, RedisStoreOptions } from "./redis.ts";
