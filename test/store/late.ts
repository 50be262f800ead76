/** Stores on a server whose statements are refused, lose their answers, are carried out late, or meet another hand. */
import { randomUUID } from "node:crypto";
import type { Store } from "windrow";
import type { Clock } from "windrow/store/author";
import { postgresStore } from "windrow/store/postgres";
import { redisStore } from "windrow/store/redis";
import { hasPostgres } from "../kit/postgres.ts";
import { hasRedis, redisKey } from "../kit/redis.ts";
import { closing, postgresHere, redisHere } from "./stage.ts";

/** How a statement is treated: what goes wrong before it, and after it was carried out. */
export interface Fault {
  readonly of: RegExp;
  readonly before?: string;
  /** Done before it is sent. */
  readonly meanwhile?: () => Promise<unknown>;
  readonly after?: string;
  /** It is still on its way when its connection is given up, and carried out when `late` is called. */
  readonly isLate?: true;
  /** Its client sends it twice. */
  readonly isTwice?: true;
  /** It is carried out, and its transaction ends when this does; in Postgres alone. */
  readonly until?: Promise<unknown>;
}

/** Two stores in one place, and how the statements of the first fail. */
export interface LateStores {
  /** Its statements meet the faults that are left, each once and in order. */
  readonly store: Store;
  readonly other: Store;
  readonly faults: Fault[];
  /** The schema, or the prefix of the keys. */
  readonly place: string;
  /** Carries out what is still on its way. */
  readonly late: () => Promise<void>;
}

/** Sends a statement on, or does not. */
export type Through = (text: string, send: () => Promise<unknown>, sendSlowly: Slowly) => Promise<unknown>;
type Slowly = (until: Promise<unknown>) => Promise<unknown>;

/** What a store asks of its server, and by what its statement is known. */
type Moment = "append" | "create" | "lock" | "takeOver" | "release" | "finish" | "mark" | "trash" | "untrash" | "erase";

/** A kind of server. */
export interface LateKind {
  readonly name: string;
  readonly isHere: boolean;
  readonly of: Readonly<Record<Moment, RegExp>>;
  readonly newPlace: () => string;
  /** A store whose statements go through a function. */
  readonly through: (through: Through, place: string, clock?: Clock) => Store;
  /** Has the holder of a session be a process that is gone or silent; the answer has it come back. */
  readonly silence: (place: string, id: string) => Promise<() => Promise<unknown>>;
}

/** An error as a server, or a connection that broke, gives it. */
function failing(code: string): Error {
  return Object.assign(new Error(`failed by the test: ${code}`), { code });
}

/** A store whose statements meet the faults that are left, each once and in order, and another that meets none. */
export function lateStores(kind: LateKind): LateStores {
  const [place, faults] = [kind.newPlace(), [] as Fault[]];
  const onTheWay: (() => Promise<unknown>)[] = [];
  const through: Through = async (text, send, sendSlowly) => {
    const fault = faults[0]?.of.test(text) === true ? faults.shift() : undefined;
    await fault?.meanwhile?.();
    if (fault?.before !== undefined) throw failing(fault.before);
    if (fault?.isLate) {
      onTheWay.push(send);
      throw failing("ECONNRESET");
    }
    if (fault?.isTwice) await send();
    const answer = await (fault?.until ? sendSlowly(fault.until) : send());
    if (fault?.after !== undefined) throw failing(fault.after);
    return answer;
  };
  const late = async (): Promise<void> => {
    for (const carryOut of onTheWay.splice(0)) await carryOut();
  };
  const other = closing(kind.through((_text, send) => send(), place));
  return { store: closing(kind.through(through, place)), other, faults, place, late };
}

/** Postgres, and a pool of connections to its server. */
export function latePostgres() {
  const here = postgresHere();
  const set = (place: string, id: string, holder: string, age: string): Promise<unknown> =>
    here.pool.query(`UPDATE ${place}.session SET holder = $2, heartbeat_at = now() - $3::interval WHERE id = $1`, [
      id,
      holder,
      age,
    ]);
  const kind: LateKind = {
    name: "postgres",
    isHere: hasPostgres,
    of: {
      append: /^WITH asked(?!.*"(?:held|mark)")/s,
      create: /^INSERT INTO \S+session/,
      lock: /"held":true,"holder"/,
      takeOver: /"held":true,"holder"/,
      release: /"emptied":false,"held":true\}/,
      finish: /"listed":true.*"held":true\}/s,
      mark: /"mark":"(?:\{\\"kept|")/,
      trash: /trashedAt/,
      untrash: /"mark":""/,
      erase: /isErasing/,
    },
    newPlace: () => `late_${randomUUID().replaceAll("-", "")}`,
    through(through, schema, clock) {
      const query = (text: string, values: unknown[] = []): Promise<never> => {
        const slowly: Slowly = async (until) => {
          const client = await here.pool.connect();
          try {
            await client.query("BEGIN");
            const answer = await client.query(text, values);
            await until;
            await client.query("COMMIT");
            return answer;
          } finally {
            client.release();
          }
        };
        // A batch of steps is known by its first value.
        return through(`${text} ${String(values[0])}`, () => here.pool.query(text, values), slowly) as Promise<never>;
      };
      return postgresStore({ client: { query }, schema, ...(clock && { clock }) });
    },
    async silence(place, id) {
      const times = { acquiredAt: "2026-01-01T00:00:00.000Z", heartbeatAt: "2026-01-01T00:00:00.000Z" };
      const gone = { processId: 1, hostname: "gone", bootId: null, namespace: null, processStart: null, generation: 1 };
      const { rows } = await here.pool.query(`SELECT holder FROM ${place}.session WHERE id = $1`, [id]);
      const [{ holder } = { holder: "" }] = rows as { holder: string }[];
      await set(place, id, JSON.stringify({ ...gone, ...times, taking: "gone" }), "2 minutes");
      return () => set(place, id, holder, "0 s");
    },
  };
  return { ...kind, here, stores: () => lateStores(kind) };
}

/** Redis, and a client of its server. */
export function lateRedis() {
  const here = redisHere();
  const kind: LateKind = {
    name: "redis",
    isHere: hasRedis,
    of: {
      append: /XADD(?!.*(?: holder | mark ))/s,
      create: /EXISTS.*HSET.*metadata/s,
      lock: /XADD.* holder \{/s,
      takeOver: /XADD.* holder \{/s,
      release: / 0 2 0 holder {2}taking $/,
      finish: /status completed.* holder {2}taking /s,
      mark: / mark (?:\{"kept| owner)/,
      trash: /trashedAt/,
      untrash: / mark {2}owner/,
      erase: /isErasing/,
    },
    newPlace: () => `late-${randomUUID()}:`,
    through(through, prefix, clock) {
      const call = async (command: string, ...args: (string | Buffer | number)[]): Promise<unknown> => {
        // The scripts are known by their texts.
        if (command === "EVALSHA") throw new Error("NOSCRIPT No matching script.");
        const send = (): Promise<unknown> => here.client.call(command, ...args);
        return through(`${command} ${args.join(" ")}`, send, send);
      };
      return redisStore({ client: { call }, prefix, ...(clock && { clock }) });
    },
    async silence(place, id) {
      const key = redisKey(place, id);
      const [holder, beat] = (await here.client.call("HMGET", key, "holder", "beat")) as readonly string[];
      const away = { ...(JSON.parse(holder ?? "") as object), hostname: "away" };
      await here.client.call("HSET", key, "holder", JSON.stringify(away), "beat", Number(beat) - 120_000);
      return () => here.client.call("HSET", key, "holder", holder ?? "", "beat", beat ?? "");
    },
  };
  return { ...kind, here, stores: () => lateStores(kind) };
}
