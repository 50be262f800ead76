/** The durability of a Redis server: what an acknowledged write survives, as far as the server says it. */
import { setTimeout as wait } from "node:timers/promises";
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { Clock } from "../shared/clock.ts";
import { heartbeatMs } from "../shared/holder.ts";
import { unknownOutcome } from "../shared/remote.ts";
import type { Sender } from "./client.ts";

/** The way in which a strict write is made sure of: the server syncs it, or a replica acknowledges it. */
export type Assurance = "synced" | "replicated" | "none";

/** The settings of a server that syncs each write before it answers, also while it writes its file anew. */
const syncing = [
  ["appendonly", "yes"],
  ["appendfsync", "always"],
  ["no-appendfsync-on-rewrite", "no"],
] as const;

/** How long a replica may take to acknowledge, and the pause before it is looked at again, in milliseconds. */
const replicaMs = 1_000;
const replicaPause = 20;

/** A look at the server, and when it began. */
interface Looked {
  readonly at: number;
  readonly found: Promise<Assurance>;
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
   * The assurance of the server as it is now: looked at with every heartbeat, and on every new connection.
   *
   * @throws WindrowError as {@link assuranceOf}; `not-durable` where the server kept its promise before
   */
  async assured(): Promise<Assurance> {
    const wasAssured = this.#wasAssured;
    try {
      return await this.#assurance();
    } catch (error) {
      throw wasAssured ? notDurable(error) : error;
    }
  }

  async #assurance(): Promise<Assurance> {
    for (;;) {
      const looked = (this.#looked = this.#fresh() ?? {
        at: this.#now(),
        found: assuranceOf(this.#sender, this.#promised, this.#location),
      });
      try {
        const found = await looked.found;
        this.#wasAssured = true;
        if (this.#looked === looked) return found;
      } catch (error) {
        if (this.#looked === looked) this.#looked = undefined;
        throw error;
      }
    }
  }

  /** As {@link assured}, once: a store that only reads asks no more. */
  async assuredOnce(): Promise<void> {
    if (!this.#wasAssured) await this.assured();
  }

  /**
   * Waits until what was written is as safe as the store promises.
   *
   * @param isThere - whether the server has it now; its first command is sent when it is called
   * @throws WindrowError `store-unavailable` where that is not known
   */
  async safe(isThere: () => Promise<boolean>): Promise<void> {
    try {
      if ((await this.#assurance()) === "replicated") await replicated(this.#sender, isThere);
    } catch (error) {
      throw unknownOutcome(error);
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
 * The assurance of a server.
 *
 * @throws WindrowError `bad-option` where `strict` is asked for, and the server promises too little for it; whatever is
 *   asked for, where the server throws keys away when its memory is full
 */
async function assuranceOf(sender: Sender, durability: "strict" | "group", location: string): Promise<Assurance> {
  await checkEviction(sender, location);
  if (durability === "group") return "none";
  const told: string[] = [];
  for (const settings of await sender.settings(syncing.map(([name]) => name))) {
    if (settings && syncing.every(([name, value]) => settings.get(name) === value)) continue;
    told.push(
      settings
        ? `its settings are ${syncing.map(([name]) => `${name} ${settings.get(name)}`).join(", ")}`
        : "it does not tell its settings",
    );
  }
  if (told.length === 0) return "synced";
  // The acknowledgement of a replica is asked for on the connection that wrote, which a cluster has one of for each node.
  if (!sender.isCluster && (await replicationOf(sender)).acknowledged >= 0) return "replicated";
  const [where, lacks] = sender.isCluster ? [" on every master of the cluster", ""] : ["", ", and it has no replica"];
  const wanted = syncing.map((one) => one.join(" ")).join(", ");
  const message =
    `The Redis server ${location} may lose what it acknowledged: ${told[0]}${lacks}. Set ${wanted}${where}, or open the ` +
    `store with durability "group" and take the loss of what the server had not yet synced.`;
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

/**
 * Waits until a replica has what was written. Connections may change at any time, and with them servers: one server says
 * how far its log of writes goes, and later that a replica has all of that; and what was written is there even then.
 *
 * @throws WindrowError `store-unavailable` where no replica has it in time, or another server answers
 */
async function replicated(sender: Sender, isThere: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + replicaMs;
  // Where this connection wrote nothing, the waiting is over at once, and the replica says by itself how far it is.
  const asked = [replicationOf(sender), sender.send("WAIT", 1, replicaMs), replicationOf(sender), isThere()] as const;
  const [written, , first, firstThere] = await Promise.all(asked);
  for (let [now, there] = [first, firstThere]; ; [now, there] = await Promise.all([replicationOf(sender), isThere()])) {
    if (!there || !written.isMaster || now.history !== written.history) {
      throw unavailable("The server changed while a replica was waited for.");
    }
    if (now.acknowledged >= written.offset) return;
    if (performance.now() > until) throw unavailable("No replica acknowledged the write in time.");
    await wait(replicaPause);
  }
}

/** The error of a server that no longer keeps what the store promises; any other error as it is. */
function notDurable(error: unknown): unknown {
  if (!isWindrowError(error, "bad-option")) return error;
  return new WindrowError("not-durable", `${error.message} Nothing was written.`, error.data, { cause: error });
}

function unavailable(message: string): WindrowError {
  return new WindrowError("store-unavailable", message, {});
}

/** A server's log of writes. */
interface Replication {
  readonly isMaster: boolean;
  /** The name of its history. */
  readonly history: string;
  readonly offset: number;
  /** The farthest place that a replica acknowledged; -1 where there is none. */
  readonly acknowledged: number;
}

async function replicationOf(sender: Sender): Promise<Replication> {
  const text = String(await sender.send("INFO", "replication"));
  const offsets = [...text.matchAll(/^slave\d+:.*\bstate=online\b.*\boffset=(\d+)/gm)].map(([, offset]) =>
    Number(offset),
  );
  return {
    isMaster: text.includes("role:master"),
    history: /^master_replid:(\w+)/m.exec(text)?.[1] ?? "",
    offset: Number(/^master_repl_offset:(\d+)/m.exec(text)?.[1] ?? Number.POSITIVE_INFINITY),
    acknowledged: Math.max(-1, ...offsets),
  };
}
