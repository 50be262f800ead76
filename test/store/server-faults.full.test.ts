/** Agents whose sessions are on a server, and a holder that could not be heard, under faults of server and network. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { faultRounds as rounds, under } from "../kit/agents.ts";
import { startCutProxy } from "../kit/cut-proxy.ts";
import { everybody, messageRecord, readAll } from "../kit/inside/store.ts";
import { hasPostgres } from "../kit/postgres.ts";
import { hasRedis } from "../kit/redis.ts";
import { closing, opened, postgresHere, redisHere } from "./stage.ts";
import { held } from "../kit/stores.ts";

const [postgres, redis] = [postgresHere(1), redisHere()];
const isOurs = (name: string): boolean => process.env[`WINDROW_TEST_${name.toUpperCase()}`] === undefined;

const kinds = [
  {
    name: "postgres",
    isHere: hasPostgres,
    here: postgres,
    query: () => `schema=fault_${randomUUID().replaceAll("-", "")}&max=3&query_timeout=1500`,
    endConnections: () =>
      postgres.pool.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'windrow' AND pid <> pg_backend_pid()",
      ),
  },
  {
    name: "redis",
    isHere: hasRedis,
    here: redis,
    query: () => `prefix=fault-${randomUUID()}:&timeout=1500`,
    endConnections: () => redis.client.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"),
  },
];

const timeout = 60_000 + 20_000 * rounds;

describe.each(kinds.filter(({ isHere }) => isHere))("$name", { timeout }, ({ name, here, query, endConnections }) => {
  /** What is there of what was acknowledged, where that differs; or how little was. */
  const differs = async (address: string, fault: () => Promise<void>): Promise<unknown> => {
    const { acknowledged, there } = await under(address, fault);
    return acknowledged.length > rounds && isDeepStrictEqual(there, acknowledged) ? [] : { acknowledged, there };
  };
  /** A proxy before the server, and the address of a new store behind it and beside it. */
  const proxied = async () => {
    const proxy = closing(await startCutProxy(Number(new URL(here.url).port)));
    const beside = `${here.url}?${query()}`;
    return { proxy, beside, behind: beside.replace(`:${new URL(here.url).port}`, `:${proxy.port}`) };
  };

  it("loses nothing of agents, and writes nothing twice, where the server ends their connections", async () => {
    expect(await differs(`${here.url}?${query()}`, async () => void (await endConnections()))).toEqual([]);
  });

  it.runIf(isOurs(name))("nor where the server crashes, and is started again", async () => {
    const fault = async (): Promise<void> => {
      await here.server.crash();
      await sleep(Math.random() * 300);
      await here.server.start();
    };
    expect(await differs(`${here.url}?${query()}`, fault)).toEqual([]);
  });

  it("nor where the network cuts connections, or keeps answers back", async () => {
    const { proxy, behind } = await proxied();
    let isCut = false;
    const fault = async (): Promise<void> => {
      isCut = !isCut;
      if (isCut) return proxy.cut();
      proxy.stall();
      await sleep(Math.random() * 200);
      if (Math.random() < 0.5) proxy.cut();
      proxy.flow();
    };
    expect(await differs(behind, fault)).toEqual([]);
  });

  it("takes nothing of a holder that could not be heard once another took its session over", async () => {
    const { proxy, behind, beside } = await proxied();
    const [slow, quick] = [await opened(behind), await opened(beside)];
    const lock = await held(slow, "before");
    proxy.stall();
    const late = Promise.allSettled(
      ["on its way", "behind it"].map((text) => slow.append(lock, [messageRecord(text)])),
    );
    await sleep(300);
    await quick.holding.unlock(everybody, lock.id, { force: true, reason: "it is not heard" });
    const taken = await quick.lock(everybody, lock.id);
    await quick.append(taken, [messageRecord("the new one")]);
    proxy.cut();
    proxy.flow();
    const outcomes = await late;
    const ids = (await readAll(quick, lock.id, { kind: "message" })).map(({ message }) => message.id);
    const kept = ["m-on its way", "m-behind it"].filter((_, index) => outcomes[index]?.status === "fulfilled");
    expect(ids).toEqual(["m-before", ...kept, "m-the new one"]);
    await expect(slow.append(lock, [messageRecord("no")])).rejects.toMatchObject({ code: "fenced" });
  });
});
