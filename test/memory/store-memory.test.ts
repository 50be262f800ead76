/** A memory of a store's own sessions: what it tells, of whom, and what it never tells. */
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { ManagerOptions, NewMessage, Scope, Store } from "windrow";
import { searchFolderOf, storeMemory } from "windrow/memory";
import type { MemoryFilter } from "windrow/memory";
import { erase } from "windrow/ops";
import { openStore } from "windrow/store";
import { estimate } from "windrow/testing";
import { messageText } from "../kit/inside/message.ts";
import type { JsonObject } from "../kit/inside/message.ts";
import { driver } from "../kit/sqlite-stores.ts";

let folder: string;
let time: number;

/** A store that managers share: it is closed by itself. */
function unclosed(store: Store): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === "close") return async () => undefined;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-memory-"));
  time = Date.UTC(2024, 0, 15);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const now = (): Date => new Date((time += 60_000));

type Told = string | NewMessage;

async function write(
  store: Store,
  told: readonly Told[],
  options: Omit<ManagerOptions, "store"> & { taskKey?: JsonObject; end?: boolean } = {},
): Promise<string> {
  const { taskKey, end = true, ...rest } = options;
  const manager = await SessionManager.open({ store, now, ...rest });
  const session = await manager.create(taskKey ? { taskKey } : {});
  for (const one of told) await session.append(one);
  if (end) await session.finish("completed");
  else await session.close();
  return session.id;
}

const kinds: Readonly<Record<string, () => readonly [target: string, index: string | undefined]>> = {
  "files": () => [folder, searchFolderOf(folder)],
  "files, an index in memory": () => [folder, undefined],
  "ram": () => ["ram:", undefined],
  "ram, an index in a folder of its own": () => ["ram:", join(folder, "cache")],
  ...(driver && { sqlite: () => [`sqlite:${join(folder, "db")}`, searchFolderOf(`sqlite:${join(folder, "db")}`)] }),
};

describe.each(Object.entries(kinds))("over %s", (_, place) => {
  let store: Store;
  let index: string | undefined;

  beforeEach(async () => {
    const [target, folderOfIndex] = place();
    store = await openStore(target);
    index = folderOfIndex;
  });

  afterEach(() => store.close());

  const ask = async (text: string, where: MemoryFilter = {}, asking?: string): Promise<readonly string[]> => {
    const memory = storeMemory(store, index === undefined ? {} : { index });
    const passages = await memory.query({ text, counter: estimate, where, ...(asking !== undefined && { asking }) });
    await memory.close();
    return passages.map(({ sessionId, seq }) => `${sessionId} ${seq}`);
  };

  it("tells what sessions said, in their order, and what was added since", async () => {
    const first = await write(store, ["The staging database is called heron.", "Tea is ready.", "Heron is down."]);
    const second = await write(store, ["用户认证失败了", "heron again"], { end: false });
    const memory = storeMemory(store, index === undefined ? {} : { index });
    const query = { text: "what of heron?", counter: estimate };
    const told = await memory.query(query);
    expect(told.map(({ text }) => text)).toContain(
      `[${first.slice(0, 8)} m1 user] The staging database is called heron.`,
    );
    expect(told.map(({ sessionId, seq }) => [sessionId, seq])).toEqual([
      [first, 1],
      [first, 2],
      [first, 3],
      [second, 1],
      [second, 2],
    ]);
    expect(told[0]?.signals).toEqual(["words"]);
    const manager = await SessionManager.open({ store, now });
    const session = await manager.resume(second);
    await session.append("The heron flies.");
    expect((await memory.query(query)).map(({ seq }) => seq)).toContain(3);
    await session.close();
    expect(await ask("认证")).toEqual([`${second} 1`, `${second} 2`, `${second} 3`]);
    expect(await ask("of the")).toEqual([]);
    expect(await ask("zyzzyva")).toEqual([]);
  });

  it("keeps to the tokens, and tells the same text once", async () => {
    await write(
      store,
      Array.from({ length: 200 }, (_one, at) => `heron ${at % 100} ${"word ".repeat(20)}`),
    );
    const memory = storeMemory(store, index === undefined ? {} : { index });
    const passages = await memory.query({ text: "heron", maxTokens: 500, counter: estimate });
    const tokens = passages.reduce((sum, one) => sum + one.tokens, 0);
    expect(tokens).toBeLessThanOrEqual(500);
    expect(tokens).toBeGreaterThan(400);
    const bodies = passages.map(({ text }) => text.slice(text.indexOf("]")));
    expect(new Set(bodies).size).toBe(bodies.length);
  });

  it("asks by session, outcome, project, time and tool", async () => {
    const call: NewMessage = {
      role: "assistant",
      parts: [{ type: "tool-call", callId: "1", name: "bash", args: { command: "heron --fly" } }],
    };
    const one = await write(store, ["heron one", call], { taskKey: { owner: "acme", repo: "birds" } });
    const middle = now();
    const two = await write(store, ["heron two"], { taskKey: { project: "water" }, end: false });
    expect(await ask("heron", { sessionId: one })).toEqual([`${one} 1`, `${one} 2`]);
    expect(await ask("heron", { status: "completed" })).toEqual([`${one} 1`, `${one} 2`]);
    expect(await ask("heron", { status: "unfinished" })).toEqual([`${two} 1`]);
    expect(await ask("heron", { status: "failed" })).toEqual([]);
    expect(await ask("heron", { project: "birds" })).toEqual([`${one} 1`, `${one} 2`]);
    expect(await ask("heron", { project: "acme/birds" })).toEqual([`${one} 1`, `${one} 2`]);
    expect(await ask("heron", { project: "water" })).toEqual([`${two} 1`]);
    expect(await ask("heron", { tool: "bash" })).toEqual([`${one} 2`]);
    expect(await ask("heron", { since: middle })).toEqual([`${two} 1`]);
    expect(await ask("heron", { until: middle })).toEqual([`${one} 1`, `${one} 2`]);
    expect(await ask("heron", {}, one)).toEqual([`${two} 1`]);
  });
});

it("is the memory `store` of a manager: a later session begins with what an earlier one said", async () => {
  const manager = await SessionManager.open({ store: folder, memory: "store", user: "ann", budget: 8_000, now });
  const first = await manager.create();
  await first.append("The staging database is called heron.");
  const next = await manager.create({ bootstrap: "what is the staging database called?" });
  await next.append("hello");
  expect(messageText((await next.compose()).messages[0]!)).toContain("heron");
  const other = await SessionManager.open({ store: folder, memory: "store", user: "bob", budget: 8_000, now });
  const foreign = await other.create({ bootstrap: "what is the staging database called?" });
  await foreign.append("hello");
  expect(messageText((await foreign.compose()).messages[0]!)).not.toContain("heron");
  expect((await first.finish("completed"), await manager.info(first.id)).metadata.config).not.toHaveProperty(
    "memory_engine",
  );
  expect(manager.memory?.name).toBe("store");
  await manager.close();
  await other.close();
});

it("tells a session that begins how an earlier task like it went, and what mended its error", async () => {
  const manager = await SessionManager.open({ store: folder, memory: "store", budget: 8_000, now });
  const call = (callId: string, name: string, args: Record<string, string>, content: string) =>
    [
      { role: "assistant", parts: [{ type: "tool-call", callId, name, args }] },
      { role: "tool", parts: [{ type: "tool-result", callId, name, content }] },
    ] as const;
  const first = await manager.create();
  await first.append("Make the nightly export of invoices work again.");
  const failing = "Error: ENOENT: no such file or directory, open 'invoices/template.hbs'";
  for (const message of [
    ...call("c1", "bash", { command: "npm run export" }, failing),
    ...call("c2", "write_file", { path: "invoices/template.hbs", content: "{{number}}" }, "written"),
    ...call("c3", "bash", { command: "npm run export" }, "42 invoices exported"),
  ]) {
    await first.append(message);
  }
  await first.append({ role: "assistant", parts: [{ type: "text", text: "The template was missing; it is back." }] });
  await first.finish("completed");
  const next = await manager.create({ bootstrap: "The nightly export of invoices fails again, look at it." });
  await next.append("go");
  const told = messageText((await next.compose()).messages[0]!);
  expect(told).toContain("Earlier tasks like this one");
  expect(told).toContain("completed");
  expect(told).toContain("invoices/template.hbs");
  expect(told).toContain("ENOENT");
  const other = await manager.create({ bootstrap: "Paint the fence of the garden green and water roses." });
  await other.append("go");
  expect(messageText((await other.compose()).messages[0]!)).not.toContain("Earlier tasks");
  await manager.close();
});

it("is erased with the session: no file names it, and it is told no more", async () => {
  const store = await openStore(folder);
  const index = searchFolderOf(folder) ?? "";
  const gone = await write(store, ["the canary-7f3a sings"]);
  await write(store, ["another bird sings"]);
  const memory = storeMemory(store, { index });
  const query = { text: "which bird sings?", counter: estimate };
  expect((await memory.query(query)).map(({ sessionId }) => sessionId)).toContain(gone);
  await erase(store, [gone], { index });
  expect((await memory.query(query)).map(({ sessionId }) => sessionId)).not.toContain(gone);
  for (const name of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const bytes = await readFile(join(name.parentPath, name.name), "latin1");
    expect(bytes).not.toContain("canary-7f3a");
    expect(bytes).not.toContain(gone);
  }
  await store.close();
});

describe("ten users of three tenants", () => {
  const scopes: readonly Scope[] = Array.from({ length: 10 }, (_, number) => ({
    ...(number % 3 > 0 && { tenant: `tenant-${number % 3}` }),
    user: `user-${number}`,
  }));
  const words = ["heron", "database", "staging", "認証", "parser", "crash", "deploy", "ledger"];

  /** How many answers of so many operations told the canary of somebody else, or ranked by what others wrote. */
  async function crossings(operations: number, scopeOf: (scope: Scope) => Scope): Promise<number> {
    const opened = await openStore("ram:");
    const store = unclosed(opened);
    let seed = 5;
    const random = (most: number): number => (seed = (seed * 48_271) % 2_147_483_647) % most;
    const index = join(folder, "shared");
    const memories = scopes.map((scope) => storeMemory(store, { index, scope: scopeOf(scope) }));
    const managers = await Promise.all(scopes.map((scope) => SessionManager.open({ store, now, ...scope })));
    const open = await Promise.all(managers.map((manager) => manager.create()));
    let crossed = 0;
    for (let operation = 0; operation < operations; operation++) {
      const own = random(scopes.length);
      const canary = `canary-${own}x`;
      const said = `${words[random(words.length)]} ${words[random(words.length)]} ${canary}`;
      const kind = random(10);
      if (kind < 2) await open[own]!.append(said);
      else if (kind === 2 && operation % 5 === 0) {
        await open[own]!.finish("completed");
        open[own] = await managers[own]!.create();
      } else {
        const foreign = `canary-${random(scopes.length)}x`;
        const where: MemoryFilter = kind === 3 ? { sessionId: open[random(scopes.length)]!.id } : {};
        const text = `${said} ${foreign}`;
        const told = await memories[own]!.query({ text, maxTokens: 300, counter: estimate, where });
        const met = new Set(told.flatMap((passage) => passage.text.match(/canary-\d+x/g) ?? []));
        if ([...met].some((word) => word !== canary)) crossed++;
      }
    }
    // Nobody's ranking depends on what others wrote: an index of one's own sessions alone answers the same.
    for (const [own, scope] of scopes.entries()) {
      const query = { text: words.join(" "), counter: estimate };
      const shared = await memories[own]!.query(query);
      if (JSON.stringify(shared) !== JSON.stringify(await storeMemory(store, { scope }).query(query))) crossed++;
    }
    for (const manager of managers) await manager.close();
    await opened.close();
    return crossed;
  }

  it("never meet in 10,000 operations", { tags: ["slow"], timeout: 240_000 }, async () => {
    expect(await crossings(10_000, (scope) => scope)).toBe(0);
  });

  it("are found to meet where the filter of users is taken out", { timeout: 60_000 }, async () => {
    const withoutUser = ({ tenant }: Scope): Scope => (tenant === undefined ? {} : { tenant });
    expect(await crossings(300, withoutUser)).toBeGreaterThan(0);
  });
});
