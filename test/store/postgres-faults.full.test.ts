import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "windrow/store";
import { everybody, messageRecord, newSession, readAll } from "../kit/inside/store.ts";
import { faultRounds as rounds, under } from "../kit/agents.ts";
import { startCutProxy } from "../kit/cut-proxy.ts";
import { PgPool } from "../kit/pg-pool.ts";
import { hasPostgres, startPostgres } from "../support/postgres.ts";
import type { TestPostgres } from "../support/postgres.ts";

let server: TestPostgres;
beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
}, 60_000);
afterAll(() => server?.close());

function addressAt(port?: number): string {
  const url = new URL(server.url);
  if (port !== undefined) url.port = String(port);
  url.searchParams.set("schema", `fault_${randomUUID().replaceAll("-", "")}`);
  url.searchParams.set("max", "3");
  url.searchParams.set("query_timeout", "1500");
  return url.href;
}

const time = 60_000 + 20_000 * rounds;

describe.skipIf(!hasPostgres)("agents whose sessions are in Postgres lose nothing and write nothing twice", () => {
  it("where the server ends their connections in the middle of a statement", { timeout: time }, async () => {
    const pool = new PgPool({ connectionString: server.url, max: 1 });
    pool.on("error", () => undefined);
    const { acknowledged, there } = await under(addressAt(), async () => {
      await pool.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'windrow' AND pid <> pg_backend_pid()",
      );
    });
    await pool.end();
    expect(acknowledged.length).toBeGreaterThan(rounds);
    expect(there).toEqual(acknowledged);
  });

  it.skipIf(process.env["WINDROW_TEST_POSTGRES"] !== undefined)(
    "where the server crashes, and is started again",
    { timeout: time },
    async () => {
      const { acknowledged, there } = await under(addressAt(), async () => {
        server.crash();
        await sleep(Math.random() * 300);
        server.start();
      });
      expect(acknowledged.length).toBeGreaterThan(rounds);
      expect(there).toEqual(acknowledged);
    },
  );

  it("where the network cuts connections, or keeps answers back", { timeout: time }, async () => {
    const proxy = await startCutProxy(Number(new URL(server.url).port));
    let isCut = false;
    const { acknowledged, there } = await under(addressAt(proxy.port), async () => {
      isCut = !isCut;
      if (isCut) return proxy.cut();
      proxy.stall();
      await sleep(Math.random() * 200);
      if (Math.random() < 0.5) proxy.cut();
      proxy.flow();
    });
    await proxy.close();
    expect(acknowledged.length).toBeGreaterThan(rounds);
    expect(there).toEqual(acknowledged);
  });
});

describe.skipIf(!hasPostgres)("a holder that could not be heard", () => {
  it(
    "adds nothing once another took its session over, whatever of it is still on the way",
    { timeout: time },
    async () => {
      const proxy = await startCutProxy(Number(new URL(server.url).port));
      const address = addressAt(proxy.port);
      const other = new URL(address);
      other.port = new URL(server.url).port;
      const [slow, quick] = [await openStore(address), await openStore(other.href)];
      const lock = await slow.create(everybody, newSession());
      await slow.append(lock, [messageRecord("before")]);
      proxy.stall();
      const late = slow.append(lock, [messageRecord("on its way")]);
      const late2 = slow.append(lock, [messageRecord("behind it")]);
      late.catch(() => undefined);
      late2.catch(() => undefined);
      await sleep(300);
      await quick.holding?.unlock(everybody, lock.id, { force: true, reason: "it is not heard" });
      const taken = await quick.lock(everybody, lock.id);
      await quick.append(taken, [messageRecord("the new one")]);
      proxy.cut();
      proxy.flow();
      const outcomes = await Promise.allSettled([late, late2]);
      const ids = (await readAll(quick, lock.id, { kind: "message" })).map(({ message }) => message.id);
      const kept = ["m-on its way", "m-behind it"].filter((_, index) => outcomes[index]?.status === "fulfilled");
      expect(ids).toEqual(["m-before", ...kept, "m-the new one"]);
      await expect(slow.append(lock, [messageRecord("no")])).rejects.toMatchObject({ code: "fenced" });
      await slow.close();
      await quick.close();
      await proxy.close();
    },
  );
});
