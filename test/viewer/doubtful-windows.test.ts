/** Windows that the disk alone does not prove: text for one call, masked secrets, settings of an older version. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { createMask, openStore } from "windrow/store";
import { storedSource } from "windrow/viewer";
import { codingSession } from "../kit/inside/message.ts";
import { Newest } from "../kit/inside/viewer.ts";
import { newFolder } from "../cli/stage.ts";
import { assertWindows, call } from "./windows.ts";
import type { Composed } from "./windows.ts";

const managers: SessionManager[] = [];
const sample = codingSession(20, 10);
/** Built here, so that no scanner takes it for a real one. */
const secret = `ghp_${"a1B2".repeat(9)}`;

afterEach(async () => {
  for (const manager of managers.splice(0)) await manager.close();
});

describe("a window", () => {
  it("with text for its call alone is proved up to that text", async () => {
    for (const profile of ["openai-chat", "gemini"]) {
      const store = await openStore(await newFolder());
      const manager = await SessionManager.open({ store, budget: 4_000, profile });
      managers.push(manager);
      const session = await manager.create();
      for (const message of sample) {
        if (message.role === "assistant") {
          await session.compose({ system: "s", dynamic: `It is ${message.id} o'clock.` });
          await session.endStep();
        }
        await session.append(message);
      }
      const source = storedSource(store, {});
      const { total, calls } = await source.calls(session.id, 1, 100);
      expect(calls.every(({ blocks }) => (blocks?.rest ?? 0) > 0)).toBe(true);
      for (let number = 1; number <= total; number++) {
        const { verified, missing, blocks } = await source.window(session.id, number);
        expect(verified.isVerified).toBe(false);
        expect(verified.problem).toContain("as it was sent, but for");
        expect(missing).toEqual(["dynamic"]);
        expect(blocks.rest).toBe(calls[number - 1]?.blocks?.rest);
      }
    }
  });

  it("with sticky text is proved whole", async () => {
    const store = await openStore(await newFolder());
    const manager = await SessionManager.open({ store, budget: 4_000 });
    managers.push(manager);
    const session = await manager.create();
    const seen: Composed[] = [];
    for (const [index, message] of sample.entries()) {
      const dynamic = [{ name: "screen", text: `Screen ${Math.floor(index / 8)}`, sticky: true }];
      if (message.role === "assistant") await call(session, seen, { dynamic });
      await session.append(message);
    }
    const source = storedSource(store, {});
    expect(await assertWindows(source, session.id, seen)).toBe(20);
    const kinds = (await source.window(session.id, 20)).entries.map(({ kind }) => kind);
    expect(kinds).toContain("dynamic");
  });

  it("whose record names another number of tokens is verified, with a remark", async () => {
    const folder = await newFolder();
    const manager = await SessionManager.open({ store: folder, budget: 4_000 });
    const session = await manager.create();
    await session.append("Go.");
    const { tokens } = await session.compose({ system: "s" });
    await session.endStep({ usage: { input: 10 } });
    await manager.close();
    const path = join(folder, "running", session.id, "usage.jsonl");
    const wrong = (await readFile(path, "utf8")).replace(`"tokens":${tokens}`, `"tokens":${tokens + 5}`);
    await writeFile(path, wrong.replace(/,"crc":"[^"]*"/, ""));
    const store = await openStore(folder);
    const { verified, blocks } = await storedSource(store, {}).window(session.id, 1);
    await store.close();
    expect(blocks.rest).toBe(5);
    expect(verified).toMatchObject({ isVerified: true, remark: expect.stringContaining(`${tokens + 5} tokens`) });
  });

  it("with a masked secret says so, and shows what is kept", async () => {
    const store = await openStore(await newFolder());
    const manager = await SessionManager.open({ store, budget: 4_000 });
    managers.push(manager);
    const session = await manager.create();
    await session.append(`My token is ${secret}.`);
    await session.compose({ system: "s" });
    await session.endStep();
    const { verified, entries } = await storedSource(store, {}).window(session.id, 1);
    expect(verified.isVerified).toBe(false);
    expect(verified.problem).toContain("masked");
    expect(JSON.stringify(entries)).not.toContain(secret);
  });

  it("with a sealed secret is proved by the original, and says that it shows another text", async () => {
    const store = await openStore(await newFolder(), { mask: createMask({ seal: "kY3dmA81jQzx0".repeat(4) }) });
    const manager = await SessionManager.open({ store, budget: 4_000 });
    managers.push(manager);
    const session = await manager.create();
    await session.append(`My token is ${secret}.`);
    await session.compose({ system: "s" });
    await session.endStep();
    const { verified, entries } = await storedSource(store, {}).window(session.id, 1);
    expect(verified).toMatchObject({ isVerified: true, remark: expect.stringContaining("masked here") });
    expect(JSON.stringify(entries)).not.toContain(secret);
  });

  it("whose tool definitions on disk are not those that were sent is not called verified", async () => {
    const store = await openStore(await newFolder());
    const manager = await SessionManager.open({ store, budget: 4_000 });
    managers.push(manager);
    const verifiedWith = async (description: string): Promise<readonly unknown[]> => {
      const session = await manager.create();
      await session.append("Begin.");
      await session.compose({ system: "s", tools: [{ name: "look", description, inputSchema: { type: "object" } }] });
      await session.endStep();
      const { verified, tools } = await storedSource(store, {}).window(session.id, 1);
      return [verified.isVerified, verified.problem, JSON.stringify(tools).includes(description)];
    };
    expect(await verifiedWith("Looks at a file.")).toEqual([true, undefined, true]);
    expect(await verifiedWith(`Looks with ${secret}.`)).toEqual([false, expect.stringContaining("masked"), false]);
  });

  it("without its epoch's line, or of a call that served no turn, says so", async () => {
    const store = await openStore("ram:");
    const lock = await store.create(
      {},
      { uuid: "6f1c1d0e-6f3c-4f6e-9a51-0d8f5a5a1c11", taskKey: {}, config: {}, createdAt: "2026-01-01T00:00:00.000Z" },
    );
    const timestamp = "2026-01-01T00:00:01.000Z";
    const message = { id: "a", role: "user", parts: [{ type: "text", text: "Hi" }] } as const;
    const window = { epoch: 3, last: 1, tokens: 50, cached: 0, hash: "0" };
    await store.append(lock, [
      { kind: "message", message, tokenCount: 5, timestamp },
      { kind: "usage", purpose: "turn", usage: {}, window, timestamp },
      { kind: "message", message: { ...message, id: "b" }, tokenCount: 5, timestamp },
      { kind: "usage", purpose: "summary", usage: { input: 9 }, timestamp },
    ]);
    const source = storedSource(store, {});
    const { verified } = await source.window(lock.id, 1);
    expect(verified.problem).toContain("The line of its epoch is not on disk.");
    const { calls } = await source.calls(lock.id, 1, 9);
    expect(calls.map(({ purpose, lastSeq }) => [purpose, lastSeq])).toEqual([
      ["turn", 1],
      ["summary", 2],
    ]);
    expect(await source.window(lock.id, 2)).toMatchObject({ entries: [], fates: [], lastSeq: 2 });
    await store.close();
  });
});

it("keeps the newest values, and makes those again that left", () => {
  const newest = new Newest<string, number>(2);
  let made = 0;
  const get = (key: string): number => newest.get(key, () => ++made);
  expect([get("a"), get("b"), get("a"), get("c"), get("a"), get("b")]).toEqual([1, 2, 1, 3, 1, 4]);
});
