/** The client of a Redis or Valkey server, which the user brings: one of `ioredis` or of `redis`. */
import { WindrowError } from "../../errors.ts";

/** A client of `ioredis`. */
export interface IoRedisClient {
  call(command: string, ...args: (string | Buffer | number)[]): Promise<unknown>;
  quit?(): Promise<unknown>;
}

/** A client of the package `redis` that is connected. */
export interface NodeRedisClient {
  sendCommand(args: string[]): Promise<unknown>;
  close?(): Promise<unknown> | void;
}

/** Sends commands to a server. */
export interface Sender {
  /**
   * @throws WindrowError `store-unavailable` where the server cannot be reached: what it did with the command is not known;
   *   `not-durable` where it refused to write
   */
  send(command: string, ...args: readonly (string | number)[]): Promise<unknown>;
  end(): Promise<void>;
}

/** Whether something is a client of a Redis server. */
export function isRedisClient(target: object): target is IoRedisClient | NodeRedisClient {
  return isIoRedis(target) || ("sendCommand" in target && typeof target.sendCommand === "function");
}

function isIoRedis(target: object): target is IoRedisClient {
  return "call" in target && typeof target.call === "function";
}

/** Sends through a client. */
export function senderOf(
  client: IoRedisClient | NodeRedisClient,
  { location, owned }: { readonly location: string; readonly owned: boolean },
): Sender {
  const send = isIoRedis(client)
    ? (command: string, args: readonly (string | number)[]) => client.call(command, ...args)
    : (command: string, args: readonly (string | number)[]) => client.sendCommand([command, ...args.map(String)]);
  return {
    async send(command, ...args) {
      try {
        return await send(command, args);
      } catch (error) {
        throw failureOf(error, location);
      }
    },
    async end() {
      if (!owned) return;
      if (isIoRedis(client)) await client.quit?.();
      else await client.close?.();
    },
  };
}

/** The first words of a server's refusals to write: no memory, a replica, a disk that cannot be written, too few replicas. */
const refusals = /^(?:OOM|READONLY|MISCONF|NOREPLICAS)\b/;

/** The first words of a server that has to be asked again later: it loads its data, or runs a script that takes long. */
const later = /^(?:LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\b/;

/** The error of a command inside a script, by the server's words. */
export function refusalOf(words: string, location: string): WindrowError {
  return failureOf(words.replace(/^-/, "").trim(), location);
}

function failureOf(error: unknown, location: string): WindrowError {
  const reason = error instanceof Error && error.message !== "" ? error.message : String(error);
  const code = /^[A-Z]{2,}\b/.exec(reason)?.[0];
  const about = { location, reason, ...(code !== undefined && { reply: code }) };
  if (refusals.test(reason)) {
    const message = `The Redis server ${location} refused to write: ${reason}. Nothing of it was kept; it can be tried again.`;
    return new WindrowError("not-durable", message, about, { cause: error });
  }
  if (code === undefined || later.test(reason)) {
    const message = `The Redis server ${location} cannot be asked: ${reason}. Check that it runs and can be reached.`;
    return new WindrowError("store-unavailable", message, about, { cause: error });
  }
  const message = `The Redis server ${location} answered with an error: ${reason}.`;
  return new WindrowError("store-unavailable", message, { ...about, refused: true }, { cause: error });
}
