/** The durability of a Redis server: what an acknowledged write survives, as far as the server says it. */
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { Clock } from "../shared/clock.ts";
import { heartbeatMs } from "../shared/holder.ts";
import { unknownOutcome } from "../shared/remote.ts";
import type { Sender } from "./client.ts";

/** The settings of a server that syncs each write before it answers, also while it writes its file anew. */
const syncing = [
  ["appendonly", "yes"],
  ["appendfsync", "always"],
  ["no-appendfsync-on-rewrite", "no"],
] as const;

/** A look at the server, and when it began. */
interface Looked {
  readonly at: number;
  readonly found: Promise<void>;
}

/** The durability that a store promises, and the server's part in it. */
export class Durability {
  readonly #sender: Sender;
  readonly #promised: "strict" | "group";
  readonly #location: string;
  readonly #clock: Clock;
  #looked: Looked | undefined;
  #wasAssured = false;

  constructor(sender: Sender, promised: "strict" | "group", location: string, clock: Clock) {
    this.#sender = sender;
    this.#promised = promised;
    this.#location = location;
    this.#clock = clock;
    // Behind a new connection may be another server.
    sender.onChange(() => (this.#looked = undefined));
  }

  /**
   * Makes sure that the server keeps what the store promises: looked at with every heartbeat, and on every new connection.
   *
   * @throws WindrowError as {@link checkServer}; `not-durable` where the server kept its promise before
   */
  async assured(): Promise<void> {
    const wasAssured = this.#wasAssured;
    try {
      await this.#look();
    } catch (error) {
      throw wasAssured ? notDurable(error) : error;
    }
  }

  /** As {@link assured}, once: a store that only reads asks no more. */
  async assuredOnce(): Promise<void> {
    if (!this.#wasAssured) await this.assured();
  }

  /**
   * As {@link assured}, behind a write.
   *
   * @throws WindrowError `store-unavailable`: it is not known whether the write is kept
   */
  async confirmed(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      throw unknownOutcome(error);
    }
  }

  async #look(): Promise<void> {
    for (;;) {
      const looked = (this.#looked = this.#fresh() ?? {
        at: this.#now(),
        found: checkServer(this.#sender, this.#promised, this.#location),
      });
      try {
        await looked.found;
        this.#wasAssured = true;
        if (this.#looked === looked) return;
      } catch (error) {
        if (this.#looked === looked) this.#looked = undefined;
        throw error;
      }
    }
  }

  #now(): number {
    return this.#clock.elapsed?.() ?? this.#clock.now();
  }

  #fresh(): Looked | undefined {
    return this.#looked && Math.abs(this.#now() - this.#looked.at) < heartbeatMs ? this.#looked : undefined;
  }
}

/**
 * Refuses a server that keeps too little.
 *
 * @throws WindrowError `bad-option` where `strict` is asked for, and the server does not sync each write; whatever is
 *   asked for, where the server throws keys away when its memory is full
 */
async function checkServer(sender: Sender, durability: "strict" | "group", location: string): Promise<void> {
  await checkEviction(sender, location);
  if (durability === "group") return;
  const isSyncing = (settings: ReadonlyMap<string, string>): boolean =>
    syncing.every(([name, value]) => settings.get(name) === value);
  const all = await sender.settings(syncing.map(([name]) => name));
  const lacking = all.findIndex((settings) => !settings || !isSyncing(settings));
  if (lacking === -1) return;
  const settings = all[lacking];
  const told = settings
    ? `its settings are ${syncing.map(([name]) => `${name} ${settings.get(name)}`).join(", ")}`
    : "it does not tell its settings";
  const wanted = syncing.map((one) => one.join(" ")).join(", ");
  const message =
    `The Redis server ${location} may lose what it acknowledged: ${told}. Set ${wanted}` +
    `${sender.isCluster ? " on every master of the cluster" : ""}, or open the store with durability "group" and take ` +
    "the loss of what the server had not yet synced.";
  throw new WindrowError("bad-option", message, { option: "durability", location });
}

/**
 * Refuses a server that removes keys when its memory is full. Policies for keys that expire take no session: none expires.
 * `INFO` says it where a managed server hides its settings.
 */
async function checkEviction(sender: Sender, location: string): Promise<void> {
  for (const send of await sender.masters()) {
    const text = await send("INFO", "memory");
    const memory = typeof text === "string" ? text : "";
    const policy = /maxmemory_policy:(\S+)/.exec(memory)?.[1] ?? "";
    const limit = Number(/maxmemory:(\d+)/.exec(memory)?.[1] ?? 0);
    if (limit === 0 || !policy.startsWith("allkeys-")) continue;
    const message =
      `The Redis server ${location} throws keys away when its memory is full, sessions too: maxmemory-policy ${policy}, ` +
      `maxmemory ${limit}. Set maxmemory-policy noeviction, or take a server that is no cache.`;
    throw new WindrowError("bad-option", message, { option: "store", location, policy });
  }
}

/** The error of a server that no longer keeps what the store promises; any other error as it is. */
function notDurable(error: unknown): unknown {
  if (!isWindrowError(error, "bad-option")) return error;
  return new WindrowError("not-durable", `${error.message} Nothing was written.`, error.data, { cause: error });
}
