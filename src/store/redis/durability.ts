/** The durability of a Redis server: what an acknowledged write survives, as far as the server says it. */
import { WindrowError } from "../../errors.ts";
import type { Send, Sender } from "./client.ts";

/** The way in which a strict write is made sure of: the server syncs it, or a replica acknowledges it. */
export type Assurance = "synced" | "replicated" | "none";

/** The settings of a server that syncs each write before it answers, also while it writes its file anew. */
const syncing = [
  ["appendonly", "yes"],
  ["appendfsync", "always"],
  ["no-appendfsync-on-rewrite", "no"],
] as const;

/** How long a replica may take to acknowledge, in milliseconds. */
const replicaMs = 1_000;

/**
 * The assurance of a server.
 *
 * @throws WindrowError `bad-option` where `strict` is asked for, and the server promises too little for it; whatever is
 *   asked for, where the server throws keys away when its memory is full
 */
export async function assuranceOf(
  sender: Sender,
  durability: "strict" | "group",
  location: string,
): Promise<Assurance> {
  await checkEviction(sender, location);
  if (durability === "group") return "none";
  const told: string[] = [];
  for (const send of await sender.masters()) {
    const settings = await settingsOf(send);
    if (settings && syncing.every(([name, value]) => settings.get(name) === value)) continue;
    told.push(
      settings
        ? `its settings are ${syncing.map(([name]) => `${name} ${settings.get(name)}`).join(", ")}`
        : "it does not tell its settings",
    );
  }
  if (told.length === 0) return "synced";
  // The acknowledgement of a replica is asked for on the connection that wrote, which a cluster has one of for each node.
  if (!sender.isCluster && (await replicas(sender)) > 0) return "replicated";
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
 * Waits until a replica has what was written.
 *
 * @param key - written first: the server waits for what the connection wrote, which may be another one by now
 * @throws WindrowError `store-unavailable` where no replica has it in time
 */
export async function replicated(sender: Sender, key: string): Promise<void> {
  const waited = [sender.send("SET", key, "", "PX", replicaMs), sender.send("WAIT", 1, replicaMs)] as const;
  const [, replicas] = await Promise.all(waited);
  if (Number(replicas) < 1) {
    throw new WindrowError("store-unavailable", "No replica acknowledged the write in time.", {});
  }
}

/** Undefined where a managed server does not tell its settings. */
async function settingsOf(send: Send): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const settings = new Map<string, string>();
    for (const [name] of syncing) {
      const reply = (await send("CONFIG", "GET", name)) as readonly unknown[] | Readonly<Record<string, unknown>>;
      settings.set(name, String(Array.isArray(reply) ? reply[1] : (reply as Readonly<Record<string, unknown>>)[name]));
    }
    return settings;
  } catch {
    return undefined;
  }
}

async function replicas(sender: Sender): Promise<number> {
  const text = await sender.send("INFO", "replication");
  return Number(/connected_slaves:(\d+)/.exec(typeof text === "string" ? text : "")?.[1] ?? 0);
}
