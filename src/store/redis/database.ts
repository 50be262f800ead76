/** A store's place in Redis: how it is asked, what its keys are, and by whose clock it goes. */
import { createHash } from "node:crypto";
import { WindrowError } from "../../errors.ts";
import { systemClock } from "../shared/clock.ts";
import { senderOf } from "./client.ts";
import type { Sender } from "./client.ts";
import { Durability } from "./durability.ts";
import { keysOf } from "./keys.ts";
import type { StoreKeys } from "./keys.ts";
import type { RedisStoreOptions } from "./options.ts";

/** The place of a store. */
export interface RedisPlace {
  readonly sender: Sender;
  readonly keys: StoreKeys;
  /** The server in messages, without user and password. */
  readonly location: string;
  /** Milliseconds since 1970, by the store's clock, else by the server's. */
  readonly now: () => Promise<number>;
  readonly durability: Durability;
}

/** The place of a store with these options. */
export function placeOf(
  { client, prefix = "windrow:", clock, durability = "strict" }: RedisStoreOptions,
  server: { readonly location: string; readonly owned: boolean },
): RedisPlace {
  const sender = senderOf(client, server);
  const { location } = server;
  const serverTime = async (): Promise<number> => {
    const [seconds, micros] = (await sender.send("TIME")) as readonly string[];
    return 1_000 * Number(seconds) + Math.floor(Number(micros) / 1_000);
  };
  return {
    ...{ sender, keys: keysOf(prefix), location, now: clock ? async () => clock.now() : serverTime },
    durability: new Durability(sender, durability, location, clock ?? systemClock),
  };
}

/**
 * Runs a script: its keys, then its values. The server is sent the text of a script once, and afterwards its name.
 *
 * @throws WindrowError as {@link Sender.send}
 */
export async function run(
  { sender }: Pick<RedisPlace, "sender">,
  script: string,
  keys: readonly string[],
  values: readonly (string | number)[],
): Promise<unknown> {
  const name = nameOf(script);
  try {
    return await sender.send("EVALSHA", name, keys.length, ...keys, ...values);
  } catch (error) {
    if (!(error instanceof WindrowError) || error.data?.["reply"] !== "NOSCRIPT") throw error;
    return sender.send("EVAL", script, keys.length, ...keys, ...values);
  }
}

const names = new Map<string, string>();

/** The name that a server knows a script by. */
function nameOf(script: string): string {
  const name = names.get(script) ?? createHash("sha1").update(script).digest("hex");
  names.set(script, name);
  return name;
}
