/** Windows that the disk alone does not prove: text for one call, masked secrets, settings of an older version. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { createMask, openStore } from "windrow/store";
import { storedSource } from "windrow/viewer";
import { codingSession } from "../kit/inside/message.ts";
import { Newest } from "../kit/inside/viewer.ts";
import { newFolder } from "../cli/stage.ts";
import { assertWindows, call, opened, talk } from "./windows.ts";
import type { Composed } from "./windows.ts";
import type { Mask } from "windrow/store";
import type { SessionComposeOptions } from "../kit/inside/session.ts";
import type { ViewerWindow } from "windrow/viewer";
import { newSession } from "../kit/inside/store.ts";

const sample = codingSession(20, 10);
/** Built here, so that no scanner takes it for a real one. */
const secret = `ghp_${"a1B2".repeat(9)}`;

/** The first window of a session with one call. */
async function firstWindow(text: string, options: SessionComposeOptions = {}, mask?: Mask): Promise<ViewerWindow> {
  const { manager, source } = await opened({}, undefined, mask);
  const session = await manager.create();
  await session.append(text);
  await session.compose({ system: "s", ...options });
  await session.endStep();
  return source.window(session.id, 1);
}

describe("a window", () => {
  it("with text for its call alone is proved up to that text", async () => {
    for (const profile of ["openai-chat", "gemini"]) {
      const { manager, source } = await opened({ profile });
      const session = await manager.create();
      for (const message of sample) {
        if (message.role === "assistant") await call(session, [], { dynamic: `It is ${message.id} o'clock.` });
        await session.append(message);
      }
      const { total, calls } = await source.calls(session.id, 1, 100);
      expect(calls.every(({ blocks }) => (blocks?.rest ?? 0) > 0)).toBe(true);
      for (let number = 1; number <= total; number++) {
        const { verified, missing, blocks } = await source.window(session.id, number);
        const problem = expect.stringContaining("as it was sent, but for");
        expect([verified, missing]).toMatchObject([{ isVerified: false, problem }, ["dynamic"]]);
        expect(blocks.rest).toBe(calls[number - 1]?.blocks?.rest);
      }
    }
  });

  it("with sticky text is proved whole", async () => {
    const { manager, source } = await opened();
    const session = await manager.create();
    const seen: Composed[] = [];
    for (const [index, message] of sample.entries()) {
      const dynamic = [{ name: "screen", text: `Screen ${Math.floor(index / 8)}`, sticky: true }];
      await talk(session, seen, [message], { dynamic });
    }
    expect(await assertWindows(source, session.id, seen)).toBe(20);
    expect((await source.window(session.id, 20)).entries.map(({ kind }) => kind)).toContain("dynamic");
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
    const { verified, entries } = await firstWindow(`My token is ${secret}.`);
    expect(verified).toMatchObject({ isVerified: false, problem: expect.stringContaining("masked") });
    expect(JSON.stringify(entries)).not.toContain(secret);
  });

  it("with a sealed secret is proved by the original, and says that it shows another text", async () => {
    const mask = createMask({ seal: "kY3dmA81jQzx0".repeat(4) });
    const { verified, entries } = await firstWindow(`My token is ${secret}.`, {}, mask);
    expect(verified).toMatchObject({ isVerified: true, remark: expect.stringContaining("masked here") });
    expect(JSON.stringify(entries)).not.toContain(secret);
  });

  it.each([
    ["Looks at a file.", true, undefined],
    [`Looks with ${secret}.`, false, expect.stringContaining("masked")],
  ])("is verified where its tool is on disk as it was sent: %s", async (description, is, problem) => {
    const tools = [{ name: "look", description, inputSchema: { type: "object" } }];
    const window = await firstWindow("Begin.", { tools });
    expect([window.verified.isVerified, window.verified.problem]).toEqual([is, problem]);
    expect(JSON.stringify(window.tools).includes(description)).toBe(is);
  });

  it("without its epoch's line, or of a call that served no turn, says so", async () => {
    const store = await openStore("ram:");
    const lock = await store.create({}, newSession());
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
