/** The client of a Redis or Valkey server, which the user brings: one of `ioredis` or of `redis`. */
import type { WindrowError } from "../../errors.ts";
import { Farewell } from "../shared/farewell.ts";
import { isUnknownOutcome, serverErrors } from "../shared/remote.ts";

/** A client of `ioredis`: a `Redis`, or a `Cluster`. */
export interface IoRedisClient {
  call(command: string, ...args: (string | Buffer | number)[]): Promise<unknown>;
  quit?(): Promise<unknown>;
  disconnect?(): void;
  on?(event: "ready" | "error", listener: (error?: unknown) => void): unknown;
  off?(event: "ready", listener: () => void): unknown;
}

/** A client of the package `redis` that is connected. */
export interface NodeRedisClient {
  sendCommand(args: string[]): Promise<unknown>;
}

/** A cluster of the package `redis` that is connected. */
export interface NodeRedisCluster<Node = unknown> {
  sendCommand(firstKey: string | undefined, isReadonly: boolean | undefined, args: string[]): Promise<unknown>;
  readonly masters: readonly Node[];
  nodeClient(node: Node): Promise<NodeRedisClient> | NodeRedisClient;
}

/** A client that a store takes. */
export type RedisClient = IoRedisClient | NodeRedisClient | NodeRedisCluster<never>;

/** Sends a command to a server. */
export type Send = (command: string, ...args: readonly (string | number)[]) => Promise<unknown>;

/** Sends commands to a server, or to the nodes of a cluster. */
export interface Sender {
  /**
   * @throws WindrowError `store-unavailable` where the server cannot be reached: what it did with the command is not known;
   *   `not-durable` where it refused to write
   */
  readonly send: Send;
  /** Keys of several sessions lie on several nodes, and one script is for those of one session. */
  readonly isCluster: boolean;
  /** Every node that has keys: one, or the masters of a cluster. */
  masters(): Promise<readonly Send[]>;
  /** These settings of every such node; undefined where it does not tell them. A refusal is no sign of a change. */
  settings(names: readonly string[]): Promise<readonly (ReadonlyMap<string, string> | undefined)[]>;
  /** Calls back where there is a new connection, as far as the client tells, and where a command was not answered. */
  onChange(changed: () => void): void;
  /** The patience with a server that is silent while its store is closed. */
  readonly farewell: Farewell;
  /** Ends the client where it is the store's own: in order, or, where the server is silent, at once. */
  end(): Promise<void>;
}

/** Whether something is a client of a Redis server. */
export function isRedisClient(target: object): target is RedisClient {
  return isIoRedis(target) || ("sendCommand" in target && typeof target.sendCommand === "function");
}

function isIoRedis(target: object): target is IoRedisClient {
  return "call" in target && typeof target.call === "function";
}

/** A `Cluster` of `ioredis`. */
interface IoRedisCluster extends IoRedisClient {
  readonly isCluster: true;
  nodes(role: "master"): readonly IoRedisClient[];
}

function isIoRedisCluster(target: IoRedisClient): target is IoRedisCluster {
  return "isCluster" in target && target.isCluster === true;
}

function isNodeCluster(target: NodeRedisClient | NodeRedisCluster<never>): target is NodeRedisCluster<never> {
  return "nodeClient" in target;
}

/** The commands of a client, without a word on errors. */
interface Commands {
  readonly send: Send;
  readonly masters?: () => Promise<readonly Send[]>;
}

function commandsOf(client: RedisClient): Commands {
  if (isIoRedis(client)) {
    const send: Send = async (command, ...args) => client.call(command, ...args);
    if (!isIoRedisCluster(client)) return { send };
    return {
      send,
      async masters() {
        // Before the first answer a cluster knows no nodes.
        if (client.nodes("master").length === 0) await client.call("TIME");
        return client.nodes("master").map((node) => commandsOf(node).send);
      },
    };
  }
  if (!isNodeCluster(client)) return { send: async (command, ...args) => client.sendCommand(texts(command, args)) };
  return {
    send: async (command, ...args) => client.sendCommand(keyOf(command, args), false, texts(command, args)),
    masters: async () =>
      Promise.all(client.masters.map(async (node) => commandsOf(await client.nodeClient(node)).send)),
  };
}

function texts(command: string, args: readonly (string | number)[]): string[] {
  return [command, ...args.map(String)];
}

/** The first key of a command. */
function keyOf(command: string, args: readonly (string | number)[]): string | undefined {
  const at = command === "EVAL" || command === "EVALSHA" ? 2 : command === "MEMORY" ? 1 : 0;
  const isKeyless = command === "TIME" || command === "CONFIG" || command === "INFO";
  return isKeyless ? undefined : String(args[at]);
}

/** Sends through a client. */
export function senderOf(
  client: RedisClient,
  { location, owned }: { readonly location: string; readonly owned: boolean },
): Sender {
  const { send, masters } = commandsOf(client);
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const ioRedis = client as Partial<IoRedisClient>;
  ioRedis.on?.("ready", changed);
  let trouble: unknown;
  if (owned) ioRedis.on?.("error", (error) => (trouble = error));
  const farewell = new Farewell(isAnswer, (error) => failureOf(error, location, trouble));
  const heard =
    (one: Send): Send =>
    (command, ...args) =>
      farewell.heard(() => one(command, ...args));
  const guarded =
    (one: Send): Send =>
    async (command, ...args) => {
      try {
        return await heard(one)(command, ...args);
      } catch (error) {
        if (isUnknownOutcome(error)) changed();
        throw error;
      }
    };
  const nodes = async (): Promise<readonly Send[]> => {
    const all = masters ? await farewell.heard(masters) : [send];
    if (all.length === 0) throw failureOf(new Error("the cluster names no master"), location);
    return all;
  };
  return {
    send: guarded(send),
    isCluster: masters !== undefined,
    masters: async () => (await nodes()).map(guarded),
    settings: async (names) => Promise.all((await nodes()).map(async (node) => settingsOf(heard(node), names))),
    onChange: (listener) => void listeners.push(listener),
    farewell,
    async end() {
      ioRedis.off?.("ready", changed);
      try {
        if (owned) await farewell.heard(async () => ioRedis.quit?.());
      } catch {
        ioRedis.disconnect?.();
      } finally {
        farewell.end();
      }
    },
  };
}

/** Whether `ioredis` gave a command up: its error names its own option, and not why there is no connection. */
function isGivenUp(error: unknown): boolean {
  return error instanceof Error && error.name === "MaxRetriesPerRequestError";
}

async function settingsOf(send: Send, names: readonly string[]): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const settings = new Map<string, string>();
    for (const name of names) {
      const reply = (await send("CONFIG", "GET", name)) as readonly unknown[] | Readonly<Record<string, unknown>>;
      settings.set(name, String(Array.isArray(reply) ? reply[1] : (reply as Readonly<Record<string, unknown>>)[name]));
    }
    return settings;
  } catch {
    return undefined;
  }
}

/** A server's refusals to write, also inside a script: no memory, a replica, a disk that cannot be written, too few replicas. */
const refusals = /(?:^|-)(?:OOM|READONLY|MISCONF|NOREPLICAS)\b/;

/** The first words of a server that has to be asked again later: it loads its data, or runs a script that takes long. */
const later = /^(?:LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\b/;

/** The words of an error. One of several addresses has none of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(reasonOf).join("; ");
  return error instanceof Error && error.message !== "" ? error.message : String(error);
}

/** Whether an error is what the server says, and not that it has to be asked again later. */
function isAnswer(error: unknown): boolean {
  const reason = reasonOf(error);
  return replyCode.test(reason) && !later.test(reason);
}

/** The first word of a server's error. */
const replyCode = /^[A-Z]{2,}\b/;

/**
 * The error of a command as one of Windrow's.
 *
 * @param trouble - why the client's connection failed last; told where the client says only that it gave the command up
 */
export function failureOf(failed: unknown, location: string, trouble?: unknown): WindrowError {
  const error = isGivenUp(failed) ? (trouble ?? failed) : failed;
  const reason = reasonOf(error);
  const code = replyCode.exec(reason)?.[0];
  const about = { location, reason, ...(code !== undefined && { reply: code }) };
  const { away, full, refused } = serverErrors("Redis", about, error);
  if (refusals.test(reason)) return full();
  if (code === undefined || later.test(reason)) return away();
  if (/^(?:NOAUTH|WRONGPASS|NOPERM)\b/.test(reason)) {
    const advice = "Check user, password (redis://user:password@host:6379) and rights.";
    return refused(`refused: ${reason.replace(/\.$/, "")}. ${advice}`);
  }
  if (/^(?:MOVED|ASK|CROSSSLOT)\b/.test(reason)) {
    return refused("is a node of a cluster: add cluster=true to the address, or hand in a client of the cluster.");
  }
  return refused(`answered with an error: ${reason}.`);
}
