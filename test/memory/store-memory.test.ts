/** A memory of a store's own sessions: what it tells, of whom, and what it never tells. */
import { mkdtemp, rm } from "node:fs/promises";
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
import { answered, asked, openManager } from "../kit/sessions.ts";
import { driver } from "../kit/sqlite-stores.ts";
import { grep } from "../kit/stores.ts";
import { toolRun } from "./kit.ts";

let folder: string;
let time: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-memory-"));
  time = Date.UTC(2024, 0, 15);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const now = (): Date => new Date((time += 60_000));

async function write(
  store: Store,
  told: readonly (string | NewMessage)[],
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
    const text = `[${first.slice(0, 8)} m1 user] The staging database is called heron.`;
    expect(told.map((one) => one.text)).toContain(text);
    expect(told.map(({ sessionId, seq }) => `${sessionId} ${seq}`)).toEqual(
      [1, 2, 3].map((seq) => `${first} ${seq}`).concat(`${second} 1`, `${second} 2`),
    );
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
    expect([tokens > 400, tokens <= 500]).toEqual([true, true]);
    const bodies = passages.map(({ text }) => text.slice(text.indexOf("]")));
    expect(new Set(bodies).size).toBe(bodies.length);
  });

  it("asks by session, outcome, project, time and tool", async () => {
    const [call] = toolRun("1", "bash", { command: "heron --fly" }, "");
    const one = await write(store, ["heron one", call!], { taskKey: { owner: "acme", repo: "birds" } });
    const middle = now();
    const two = await write(store, ["heron two"], { taskKey: { project: "water" }, end: false });
    const [ofOne, ofTwo] = [[`${one} 1`, `${one} 2`], [`${two} 1`]];
    const cases: readonly (readonly [MemoryFilter, readonly string[]])[] = [
      [{ sessionId: one }, ofOne],
      [{ status: "completed" }, ofOne],
      [{ status: "unfinished" }, ofTwo],
      [{ status: "failed" }, []],
      [{ project: "birds" }, ofOne],
      [{ project: "acme/birds" }, ofOne],
      [{ project: "water" }, ofTwo],
      [{ tool: "bash" }, [`${one} 2`]],
      [{ since: middle }, ofTwo],
      [{ until: middle }, ofOne],
    ];
    for (const [where, found] of cases) expect(await ask("heron", where), JSON.stringify(where)).toEqual(found);
    expect(await ask("heron", {}, one)).toEqual(ofTwo);
  });
});

/** What a new session of a manager is told first. */
async function begun(manager: SessionManager, bootstrap: string): Promise<string> {
  const session = await manager.create({ bootstrap });
  await session.append("go");
  return messageText((await session.compose()).messages[0]!);
}

it("is the memory `store` of a manager: a later session begins with what an earlier one said", async () => {
  const options = { store: folder, memory: "store", budget: 8_000, now } as const;
  const manager = await openManager({ ...options, user: "ann" });
  const first = await manager.create();
  await first.append("The staging database is called heron.");
  const question = "what is the staging database called?";
  expect(await begun(manager, question)).toContain("heron");
  expect(await begun(await openManager({ ...options, user: "bob" }), question)).not.toContain("heron");
  await first.finish("completed");
  expect((await manager.info(first.id)).metadata.config).not.toHaveProperty("memory_engine");
  expect(manager.memory?.name).toBe("store");
});

it("tells a session that begins how an earlier task like it went, and what mended its error", async () => {
  const manager = await openManager({ store: folder, memory: "store", budget: 8_000, now });
  const first = await manager.create();
  const failing = "Error: ENOENT: no such file or directory, open 'invoices/template.hbs'";
  await first.append([
    asked("Make the nightly export of invoices work again."),
    ...toolRun("c1", "bash", { command: "npm run export" }, failing),
    ...toolRun("c2", "write_file", { path: "invoices/template.hbs", content: "{{number}}" }, "written"),
    ...toolRun("c3", "bash", { command: "npm run export" }, "42 invoices exported"),
    answered("The template was missing; it is back."),
  ]);
  await first.finish("completed");
  const told = await begun(manager, "The nightly export of invoices fails again, look at it.");
  for (const word of ["Earlier tasks like this one", "completed", "invoices/template.hbs", "ENOENT"])
    expect(told).toContain(word);
  expect(await begun(manager, "Paint the fence of the garden green and water roses.")).not.toContain("Earlier tasks");
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
  expect([await grep(folder, "canary-7f3a"), await grep(folder, gone)]).toEqual([[], []]);
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
    const store = await openStore("ram:");
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
    await store.close();
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
