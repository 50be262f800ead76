/** Opening a Redis store by its address, with the package `ioredis` or `redis` that the user installed. */
import { WindrowError } from "../../errors.ts";
import type { Store } from "../store.ts";
import type { IoRedisClient, NodeRedisClient } from "./client.ts";
import { checkRedisOptions } from "./options.ts";
import type { RedisStoreOptions } from "./options.ts";
import { redisStoreOn } from "./redis.ts";

/** How long it waits for a connection, and for an answer where the address names no `timeout`, in milliseconds. */
const connectMs = 10_000;
const answerMs = 60_000;

interface Listening {
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** The parts of the packages that are used. */
type IoRedisPackage = { readonly Redis: new (url: string, options: object) => IoRedisClient & Listening };
interface NodeRedisPackage {
  createClient(options: object): NodeRedisClient & Listening & { connect(): Promise<unknown> };
}

/**
 * Opens a store by an address as `redis://user:password@host:6379/0?prefix=windrow:&timeout=60000`.
 *
 * @throws WindrowError `package-missing` without `ioredis` and `redis`; `bad-option` for an address that names no server;
 *   `store-unavailable` where `redis` cannot connect
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
  for (const name of ["prefix", "timeout"]) url.searchParams.delete(name);
  const location = `${url.protocol}//${url.host}${url.pathname}`;
  const client = (await ioRedis(url.href, timeout)) ?? (await nodeRedis(url.href, timeout, location));
  if (!client) {
    const message =
      "A store in Redis needs the package ioredis or redis, and none is installed. Run: npm install ioredis";
    throw new WindrowError("package-missing", message, { package: "ioredis" });
  }
  const all = { ...options, client, ...(prefix !== undefined && { prefix }) };
  checkRedisOptions(all);
  return redisStoreOn(all, { location, owned: true });
}

async function ioRedis(url: string, commandTimeout: number): Promise<IoRedisClient | undefined> {
  const loaded = await loadedPackage<IoRedisPackage>("ioredis");
  if (!loaded) return undefined;
  const client = new loaded.Redis(url, {
    connectTimeout: connectMs,
    commandTimeout,
    // A command fails soon after the server is gone; the store sends it again by itself.
    maxRetriesPerRequest: 1,
    connectionName: "windrow",
  });
  // Without a listener, a lost connection would be written to the console.
  client.on("error", () => undefined);
  return client;
}

async function nodeRedis(url: string, timeout: number, location: string): Promise<NodeRedisClient | undefined> {
  const loaded = await loadedPackage<NodeRedisPackage>("redis");
  if (!loaded) return undefined;
  const client = loaded.createClient({
    url,
    name: "windrow",
    socket: { connectTimeout: connectMs },
    commandOptions: { timeout },
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The Redis server ${location} cannot be reached: ${reason}.`;
    throw new WindrowError("store-unavailable", message, { location, reason }, { cause: error });
  }
  return client;
}

async function loadedPackage<T>(name: string): Promise<T | undefined> {
  try {
    const loaded = (await import(name)) as { readonly default?: unknown };
    return { ...(loaded.default as object), ...loaded } as T;
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    if (isMissing && error.message.includes(name)) return undefined;
    throw error;
  }
}
