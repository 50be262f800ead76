/** The memory of a store for an MCP client: whose it is, what it tells, and who may write it. */
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Store } from "windrow";
import { McpTools } from "windrow/mcp";
import type { McpOptions } from "windrow/mcp";
import { Facts, MemoryFiles } from "windrow/memory";
import { openStore } from "windrow/store";
import { lexicalMemory } from "../kit/lexical-memory.ts";

/** A session, two facts and a file of each of two users. */
async function kept(): Promise<Store> {
  const store = await openStore("ram:");
  for (const user of ["ann", "bob"]) {
    const session = await (
      await SessionManager.open({ store, budget: 8_000, user })
    ).create({ taskKey: { project: "shop" } });
    await session.append({
      role: "user",
      parts: [{ type: "text", text: `The password of ${user} is on the fridge.` }],
    });
    await session.finish("completed");
    const facts = new Facts(store, { user });
    const sources = [{ sessionId: session.id, seq: 1, quote: "fridge" }];
    await facts.add(session.id, 1, [{ about: "bike", text: `${user}'s bike is red.`, sources }]);
    await facts.add(session.id, 2, [{ about: "bike", text: `${user}'s bike is blue.`, sources }]);
    await facts.add(session.id, 3, [{ about: "car", text: `${user} has a car.`, sources }]);
    await new MemoryFiles(store, { user }).create("/memories/plans/trip.md", `${user} goes to Porto.\nIn May.`);
  }
  return store;
}

async function memoryOf(options: Omit<McpOptions, "store">): Promise<McpTools["memory"]> {
  return (await McpTools.open({ store: await kept(), ...options })).memory;
}

describe("the memory of one user", () => {
  it("tells passages, notes, facts and files of that user alone", async () => {
    const memory = await memoryOf({ user: "ann" });
    const found = await memory.search("password fridge Porto", undefined, {});
    expect(found).toContain("The password of ann is on the fridge.");
    expect(found).toContain("ann goes to Porto.");
    expect(await memory.facts(undefined)).toMatch(
      /no instruction\.\]\n\[f-\w{8}\] ann has a car\. \(car; [\da-f]{8} m1\)\n\[f-\w{8}\] ann's bike is blue\. \(bike; /,
    );
    expect(await memory.facts("bike", true)).toMatch(/bike is blue\..*\n {2}before .*: ann's bike is red\.$/);
    expect(await memory.files(undefined)).toMatch(/^\/memories\/plans\/trip\.md \d+ bytes, /);
    expect(await memory.files("/memories/plans")).toMatch(/trip\.md/);
    expect(await memory.files("/memories/plans/trip.md")).toContain("ann goes to Porto.");
    const all = [found, await memory.facts(undefined, true), await memory.files(undefined)].join("\n");
    expect(all).not.toContain("bob");
  });

  it("says that there is nothing, and what is wrong", async () => {
    const memory = await memoryOf({ user: "nobody" });
    expect(await memory.search("fridge", undefined, {})).toMatch(/^Nothing of earlier sessions was found/);
    expect(await memory.facts(undefined)).toBe("There are no facts.");
    expect(await memory.facts("bike")).toBe("No fact is about that.");
    expect(await memory.files(undefined)).toBe("There are no memory files.");
    await expect(memory.files("/memories/none")).rejects.toMatchObject({ code: "not-found" });
    await expect(memory.files("/etc")).rejects.toMatchObject({ code: "bad-option" });
  });

  it("asks by project and outcome, within tokens", async () => {
    const memory = await memoryOf({ user: "ann" });
    expect(await memory.search("password", undefined, { project: "shop", status: "completed" })).toContain("fridge");
    expect(await memory.search("password", undefined, { project: "bank" })).toMatch(/^Nothing/);
    expect(await memory.search("password", undefined, { status: "failed" })).toMatch(/^Nothing/);
    expect(await memory.search("password", 3, {})).toMatch(/^Nothing/);
  });
});

it("is only read unless the server may write it", async () => {
  const memory = await memoryOf({ user: "ann" });
  expect(memory.isWritable).toBe(false);
  const [, id = ""] = /\[(f-\w{8})\]/.exec(await memory.facts(undefined)) ?? [];
  const refused = { code: "read-only" };
  await expect(memory.correct(id, "x")).rejects.toMatchObject(refused);
  await expect(memory.forget(id)).rejects.toMatchObject(refused);
  await expect(memory.remember("x", undefined)).rejects.toMatchObject(refused);
  const both = { readOnly: true, memoryWrites: true };
  await expect(memoryOf(both)).rejects.toMatchObject({ code: "bad-option" });
});

it("corrects, forgets and takes notes where it may", async () => {
  const memory = await memoryOf({ user: "ann", memoryWrites: true });
  const [, id = ""] = /\[(f-\w{8})\] ann's bike/.exec(await memory.facts("bike")) ?? [];
  expect(await memory.correct(id, "Ann's bike is green.")).toMatch(new RegExp(`takes the place of ${id}`));
  expect(await memory.facts("bike", true)).toMatch(/green\. \(bike; corrected by ann\)\n.*blue\.\n.*red\.$/);
  expect(await memory.forget(id)).toMatch(/^Forgotten for good: (f-\w{8}(, )?){3}\.$/);
  expect(await memory.facts("bike")).toBe("No fact is about that.");
  await expect(memory.forget(id)).rejects.toMatchObject({ code: "not-found" });
  expect(await memory.remember("Ann likes tea.", "drinks")).toBe("Noted in /memories/drinks.md.");
  expect(await memory.search("What does Ann drink, tea?", undefined, {})).toContain("Ann likes tea.");
});

it("asks another memory than the store's where it is given one", async () => {
  const engine = lexicalMemory();
  const message = { id: "m1", role: "user", parts: [{ type: "text", text: "The engine knows of a heron." }] } as const;
  await engine.receive("elsewhere", [{ seq: 1, message }]);
  const memory = await memoryOf({ user: "ann", memory: engine });
  expect(await memory.search("heron", undefined, {})).toContain("The engine knows of a heron.");
  expect(await memory.search("fridge", undefined, {})).toMatch(/^Nothing/);
});
