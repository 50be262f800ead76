/** Opening a Redis store by its address, with the package `ioredis` that the user installed. */
import { WindrowError } from "../../errors.ts";
import { withPackage } from "../../peer.ts";
import type { Store } from "../store.ts";
import { failureOf } from "./client.ts";
import type { IoRedisClient } from "./client.ts";
import { checkRedisOptions } from "./options.ts";
import type { RedisStoreOptions } from "./options.ts";
import { redisStoreOn } from "./redis.ts";

/** How long it waits for a connection, and for an answer where the address names no `timeout`, in milliseconds. */
const connectMs = 10_000;
const answerMs = 60_000;

/** The part of the package `ioredis` that is used. */
interface RedisPackage {
  readonly Redis: new (url: string, options: object) => Connecting;
  readonly Cluster: new (nodes: readonly object[], options: object) => Connecting;
}
interface Connecting extends IoRedisClient {
  on(event: "error", listener: (error: Error) => void): unknown;
  disconnect(): void;
}

/** A server, or one node of the cluster that is meant. */
interface Server {
  readonly url: URL;
  readonly timeout: number;
  readonly isCluster: boolean;
  /** Without user and password. */
  readonly location: string;
}

/**
 * Opens a store by an address as `redis://user:password@host:6379/0?prefix=windrow:&timeout=60000`. With `cluster=true` the
 * host is one node of a cluster, which tells of the others.
 *
 * @throws WindrowError `package-missing` without `ioredis`; `bad-option` for an address that names no server;
 *   `store-unavailable` where the server has no database of the number
 */
export async function openRedis(address: string, options: Omit<RedisStoreOptions, "client">): Promise<Store> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || url.host === "") {
    throw new WindrowError("bad-option", "The address names no server: write redis://host:6379.", { scheme: "redis" });
  }
  const prefix = url.searchParams.get("prefix") ?? undefined;
  const timeout = Number(url.searchParams.get("timeout") ?? answerMs);
  if (!Number.isSafeInteger(timeout) || timeout < 1) {
    throw new WindrowError("bad-option", '"timeout" is a number of milliseconds from 1.', { option: "timeout" });
  }
  const cluster = url.searchParams.get("cluster") ?? "false";
  if (cluster !== "true" && cluster !== "false") {
    throw new WindrowError("bad-option", '"cluster" is true or false.', { option: "cluster" });
  }
  const [, database] = /^\/?(\d{0,9})$/.exec(url.pathname) ?? [];
  if (database === undefined || (cluster === "true" && Number(database) > 0)) {
    const message = "The address ends with the number of a database, as redis://host:6379/1; a cluster has none but 0.";
    throw new WindrowError("bad-option", message, { path: url.pathname });
  }
  for (const name of ["prefix", "timeout", "cluster"]) url.searchParams.delete(name);
  const location = `${url.protocol}//${url.host}${url.pathname}`;
  const client = await connect({ url, timeout, isCluster: cluster === "true", location });
  const all = { ...options, client, ...(prefix !== undefined && { prefix }) };
  checkRedisOptions(all);
  return redisStoreOn(all, { location, owned: true });
}

/** Makes the client of an address; it connects when it is asked first, or to see that the database is there. */
async function connect({ url, timeout, isCluster, location }: Server): Promise<IoRedisClient> {
  const name = "ioredis";
  const loaded = (await withPackage(name, "A store in Redis", () => import(name))) as { readonly default: unknown };
  const { Redis, Cluster } = (loaded.default ?? loaded) as RedisPackage;
  const options = {
    connectTimeout: connectMs,
    commandTimeout: timeout,
    // A command fails as soon as its connection is gone: the store alone knows what may be sent again.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectionName: "windrow",
  };
  const { hostname: host, port, username, password, protocol } = url;
  const redisOptions = {
    ...options,
    ...(username !== "" && { username: decodeURIComponent(username) }),
    ...(password !== "" && { password: decodeURIComponent(password) }),
    ...(protocol === "rediss:" && { tls: {} }),
  };
  const client = isCluster
    ? new Cluster([{ host, port: Number(port || 6_379) }], { redisOptions })
    : new Redis(url.href, options);
  // Without a listener, a lost connection would be written to the console.
  let trouble: unknown;
  client.on("error", (error) => (trouble = error));
  const database = url.pathname.slice(1);
  if (Number(database) === 0) return client;
  try {
    // `ioredis` goes on in the first one where the server has no such number.
    await client.call("SELECT", database);
  } catch (error) {
    client.disconnect();
    throw failureOf(error, location, trouble);
  }
  return client;
}
