/** `windrow/store/redis`: sessions in Redis or Valkey, on a client of one's own. docs/fleet.md describes it. */
export { redisStore } from "./redis.ts";
export type { IoRedisClient, NodeRedisClient, NodeRedisCluster, RedisStoreOptions } from "./redis.ts";
