import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "../../src/access/open.ts";
import type { StoredRecord } from "../../src/message/record.ts";
import type { Lock, Store } from "../../src/store/store.ts";
import { everybody, messageRecord, newSession, readAll } from "../../src/store/testing/kit.ts";
import { startCutProxy } from "../support/cut-proxy.ts";
import { hasPostgres, startPostgres } from "../support/postgres.ts";
import type { TestPostgres } from "../support/postgres.ts";

/** Rounds of each fault. */
const rounds = Number(process.env["WINDROW_FAULT_ROUNDS"] ?? 3);
const sessions = 4;

interface Pool {
  query(text: string): Promise<{ readonly rows: readonly object[] }>;
  on(event: "error", listener: () => void): void;
  end(): Promise<void>;
}
const { Pool } = createRequire(import.meta.url)("pg") as { Pool: new (options: object) => Pool };

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

/** Agents that append one message after the other, until they are told to stop. */
class Agents {
  readonly acknowledged = new Map<string, StoredRecord[]>();
  readonly #store: Store;
  readonly #locks: Lock[] = [];
  #stopped = false;
  #work: Promise<void>[] = [];
  #newest = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  async start(): Promise<void> {
    for (let index = 0; index < sessions; index++) {
      const lock = await this.#store.create(everybody, newSession());
      this.#locks.push(lock);
      this.acknowledged.set(lock.id, []);
    }
    this.#work = this.#locks.map((lock) => this.#append(lock));
  }

  async #append(lock: Lock): Promise<void> {
    for (let number = 1; !this.#stopped; number++) {
      const stored = await this.#store.append(lock, [
        messageRecord(`${lock.id} ${number}`),
        messageRecord(`${number} b`),
      ]);
      this.acknowledged.get(lock.id)?.push(...stored);
      this.#newest++;
    }
  }

  /** Waits until some more appends were acknowledged. */
  async more(count: number): Promise<void> {
    const from = this.#newest;
    while (this.#newest < from + count) await sleep(5);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#work);
  }

  /** The messages of all sessions as they were acknowledged, and as they are there. */
  async outcome(): Promise<{ readonly acknowledged: readonly string[]; readonly there: readonly string[] }> {
    const there: string[] = [];
    for (const id of this.acknowledged.keys())
      there.push(...(await readAll(this.#store, id, { kind: "message" })).map(told));
    return { acknowledged: [...this.acknowledged.values()].flat().map(told), there };
  }
}

/** A record with its numbers. */
function told(record: StoredRecord): string {
  return `${record.seq} ${record.pos} ${record.kind === "message" ? record.message.id : record.kind}`;
}

/** Lets agents work under a fault, round after round. */
async function under(address: string, fault: () => Promise<void>): ReturnType<Agents["outcome"]> {
  const store = await openStore(address);
  try {
    const agents = new Agents(store);
    await agents.start();
    for (let round = 0; round < rounds; round++) {
      await agents.more(1 + Math.floor(Math.random() * 20));
      await sleep(Math.random() * 8);
      await fault();
    }
    await agents.more(sessions);
    await agents.stop();
    return await agents.outcome();
  } finally {
    await store.close();
  }
}

const time = 60_000 + 20_000 * rounds;

describe.skipIf(!hasPostgres)("agents whose sessions are in Postgres lose nothing and write nothing twice", () => {
  it("where the server ends their connections in the middle of a statement", { timeout: time }, async () => {
    const pool = new Pool({ connectionString: server.url, max: 1 });
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
