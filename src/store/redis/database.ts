/** A store's place in Redis: how it is asked, what its keys are, and by whose clock it goes. */
import type { Sender } from "./client.ts";
import type { StoreKeys } from "./keys.ts";

/** The place of a store. */
export interface RedisPlace {
  readonly sender: Sender;
  readonly keys: StoreKeys;
  /** The server in messages, without user and password. */
  readonly location: string;
  /** Milliseconds since 1970, by the store's clock, else by the server's. */
  readonly now: () => Promise<number>;
}

/** Runs a script: its keys, then its values. */
export async function run(
  { sender }: RedisPlace,
  script: string,
  keys: readonly string[],
  values: readonly (string | number)[],
): Promise<unknown> {
  return sender.send("EVAL", script, keys.length, ...keys, ...values);
}
