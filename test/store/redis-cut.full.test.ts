import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Lock, Store } from "windrow";
import { openStore } from "windrow/store";
import type { SessionDump } from "windrow/store/author";
import { redisStore } from "windrow/store/redis";
import type { IoRedisClient } from "windrow/store/redis";
import { everybody, messageRecord, newSession, readAll, stateOf } from "../kit/inside/store.ts";
import { hasRedis, startRedis } from "../support/redis.ts";
import type { TestRedis } from "../support/redis.ts";

const { Redis } = createRequire(import.meta.url)("ioredis") as {
  Redis: new (url: string) => IoRedisClient & { quit(): Promise<unknown> };
};

let server: TestRedis;
let client: InstanceType<typeof Redis>;
let other: Store;
beforeAll(async () => {
  if (!hasRedis) return;
  server = await startRedis();
  client = new Redis(server.url);
  other = await openStore(server.url);
}, 60_000);
afterAll(async () => {
  await other?.close();
  await client?.quit();
  await server?.close();
});

/** A store whose commands go through a function; its scripts are known by their texts. */
function storeThrough(through: (command: string, send: () => Promise<unknown>) => Promise<unknown>): Store {
  const call: IoRedisClient["call"] = async (command, ...args) => {
    if (command === "EVALSHA") throw new Error("NOSCRIPT No matching script.");
    return through(`${command} ${args.join(" ")}`, async () => client.call(command, ...args));
  };
  return redisStore({ client: { call } });
}

async function dumped(lines: number): Promise<SessionDump> {
  const store = await openStore(`${server.url}?prefix=from:`);
  const lock = await store.create(everybody, newSession());
  const records = Array.from({ length: lines }, (_, line) => messageRecord(`${line}`));
  await store.append(lock, records);
  await store.finish(lock, stateOf("completed"));
  const dump = await store.transfer!.dump(everybody, lock.id);
  const kept: { log: "messages"; line: string }[] = [];
  for await (const { line } of dump.lines()) kept.push({ log: "messages", line });
  await store.close();
  return {
    ...dump,
    async *lines() {
      yield* kept;
    },
  };
}

const unknown = { code: "store-unavailable" };
const isStaging = (text: string): boolean =>
  text.startsWith("EVAL") && /local staged|'restoring'\) ~= ARGV\[1\]/.test(text);

describe.skipIf(!hasRedis)("a restore", () => {
  it("that was cut short is tried again by the same store, and gives the id free when the server is back", async () => {
    let fails = 0;
    const store = storeThrough(async (text, send) => {
      if (fails === 0 && isStaging(text) && text.includes("XADD")) fails = 4;
      if (fails > 1 && fails-- > 1) throw new Error("read ECONNRESET");
      return send();
    });
    const dump = await dumped(2);
    await expect(store.transfer?.restore(everybody, dump)).rejects.toMatchObject(unknown);
    expect(await store.transfer?.restore(everybody, dump)).toMatchObject({ outcome: "written" });
    expect(await readAll(other, dump.id, { kind: "message" })).toHaveLength(2);
    await store.close();
    fails = 0;
    const again = storeThrough(async (text, send) => {
      if (fails === 0 && isStaging(text) && text.includes("XADD")) fails = 3;
      if (fails > 1 && fails-- > 1) throw new Error("read ECONNRESET");
      return send();
    });
    const second = await dumped(2);
    await expect(again.transfer?.restore(everybody, second)).rejects.toMatchObject(unknown);
    const restored = async (): Promise<unknown> => other.transfer?.restore(everybody, second).catch(() => undefined);
    await expect.poll(restored).toMatchObject({ outcome: "written" });
    await again.close();
  });

  it("writes each line once where a client sends it twice, and refuses to show a session that lacks some", async () => {
    const twice = storeThrough(async (text, send) => {
      const answer = await send();
      return text.startsWith("EVAL") ? send() : answer;
    });
    const dump = await dumped(1_500);
    expect(await twice.transfer?.restore(everybody, dump)).toMatchObject({ outcome: "written" });
    expect(await readAll(other, dump.id, { kind: "message" })).toHaveLength(1_500);
    let isLost = true;
    // As where a fail-over lost the first lines.
    const lossy = storeThrough(async (text, send) => {
      const answer = await send();
      if (!isLost || !text.includes("XADD")) return answer;
      isLost = false;
      await client.call("DEL", `windrow:session:{${second.id}}:messages`);
      await client.call("HDEL", `windrow:session:{${second.id}}`, "staged");
      return answer;
    });
    const second = await dumped(1_500);
    await expect(lossy.transfer?.restore(everybody, second)).rejects.toMatchObject({ code: "fenced" });
    await twice.close();
    await lossy.close();
  });
});

describe.skipIf(!hasRedis)("a store that is closed", () => {
  it.each(["lock", "create"] as const)("gives no lock, and leaves no session busy: %s is under way", async (how) => {
    let release: (() => void) | undefined;
    let isTaken: (() => void) | undefined;
    let isArmed = false;
    const store = storeThrough(async (text, send) => {
      const answer = await send();
      if (!isArmed || !text.startsWith("EVAL") || !text.includes("'holder'")) return answer;
      isArmed = false;
      isTaken?.();
      await new Promise<void>((resolve) => (release = resolve));
      return answer;
    });
    const made = await other.create(everybody, newSession());
    await made.release();
    await (await store.create(everybody, newSession())).release();
    const taken = new Promise<void>((resolve) => (isTaken = resolve));
    isArmed = true;
    const session = newSession();
    const taking: Promise<Lock> = how === "lock" ? store.lock(everybody, made.id) : store.create(everybody, session);
    const outcome = taking.then(
      () => "given",
      (error: unknown) => error,
    );
    await taken;
    const closed = store.close();
    await new Promise((resolve) => setImmediate(resolve));
    release?.();
    await closed;
    expect(await outcome).toMatchObject({ code: "closed" });
    await (await other.lock(everybody, how === "lock" ? made.id : session.uuid)).release();
  });
});

describe.skipIf(!hasRedis)("a list", () => {
  it("gives every session also where they go as they are listed, and where many were made at once", async () => {
    const store = await openStore(`${server.url}?prefix=going:`);
    const made = new Set<string>();
    for (let index = 0; index < 280; index++) {
      const createdAt = new Date(Date.UTC(2026, 0, 1, 0, 0, index < 50 ? index : 300)).toISOString();
      const lock = await store.create(everybody, newSession({ createdAt }));
      await store.finish(lock, stateOf("completed"));
      made.add(lock.id);
    }
    const seen: string[] = [];
    for await (const { metadata } of store.list(everybody)) {
      seen.push(metadata.uuid);
      await store.upkeep?.erase(everybody, [metadata.uuid]);
    }
    expect(seen).toHaveLength(280);
    expect(new Set(seen)).toEqual(made);
    await store.close();
  });
});
