/**
 * Ten tenants in one store, each with a word of its own: ten thousand operations (on disk only with TEST_RUNS above 1,000, else
 * five hundred), and nobody meets another's word.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isWindrowError, SessionManager } from "windrow";
import type { Scope, Session, Store } from "windrow";
import { viewSession } from "windrow/ops";
import { guardedStore, openAudit, openStore, readAudit } from "windrow/store";
import type { AuditEntry } from "windrow/store";
import { faultyStore } from "windrow/testing";
import { lexicalMemory } from "../kit/lexical-memory.ts";
import { copy, findSession } from "../kit/inside/ops.ts";
import { ramStore } from "../kit/inside/store.ts";
import { listed, newFolder } from "../kit/sessions.ts";
import { driver } from "../kit/sqlite-stores.ts";
import { runs } from "../kit/runs.ts";

const tenants = 10;

interface Tenant {
  readonly canary: string;
  readonly scope: Scope;
  readonly store: Store;
  readonly manager: SessionManager;
  readonly sessions: Session[];
  refused: number;
}

/** Numbers from 0 to 1, the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

/** Words of every tenant's messages. */
const word = "the word said again";

/** Everything a tenant can be shown, given somebody's session id. */
const operationsOf: readonly ((own: Tenant, id: string, session: Session) => Promise<unknown>)[] = [
  async (own) => {
    const session = await own.manager.create({ taskKey: { about: own.canary }, bootstrap: word });
    await session.append(`the word is ${own.canary}`);
    own.sessions.push(session);
    return session.compose({ system: "s" });
  },
  ({ canary }, _id, session) => session.append(`the word is ${canary}, again`),
  ({ canary }, _id, session) => session.append(`as I said: ${canary}`),
  (_own, _id, session) => session.compose({ system: "s" }),
  ({ canary }, _id, session) => session.pin(`never say ${canary}`),
  (_own, _id, session) => session.recall({ query: word }, { maxTokens: 500 }),
  (_own, _id, session) => session.recall({ from: 1, to: 50 }, { maxTokens: 500 }),
  ({ manager }, id) => manager.info(id),
  ({ manager }, id) => listed(manager.messages(id)),
  ({ manager }) => listed(manager.list({ limit: 5 })),
  async ({ manager }, id) => (await manager.resume(id, { readOnly: true })).compose({ system: "s" }),
  async ({ manager }, id) => {
    const forked = await manager.fork(id);
    await forked.close();
    return listed(manager.messages(forked.id));
  },
  ({ store, scope }, id) => viewSession(store, scope, id, { messages: true, last: Infinity }),
  ({ store, scope }) => findSession(store, scope, "latest"),
  async ({ store, scope }, id) => listed((await store.transfer.dump(scope, id)).lines()),
  async ({ store, scope }, id) => {
    const other = ramStore();
    const report = await copy(store, other, { ids: [id], scope });
    return report.failed > 0 ? Promise.reject(new Error(report.sessions[0]!.error!.code)) : listed(other.list(scope));
  },
  async (own, id) => {
    await own.manager.destroy(id);
    const place = own.sessions.findIndex((session) => session.id === id);
    if (place >= 0) own.sessions.splice(place, 1);
  },
];

const stores: Readonly<Record<string, (folder: string) => Promise<Store>>> = {
  ram: () => openStore("ram:"),
  files: (folder) => openStore(folder, { durability: "group" }),
  ...(driver && { sqlite: (folder: string) => openStore(`sqlite:${join(folder, "db")}`, { durability: "group" }) }),
};

describe.each(Object.entries(stores))("ten tenants in %s", (name, open) => {
  const operations = runs > 1_000 || name === "ram" ? 10_000 : 500;

  it("never meet, and the audit has every access", { tags: ["slow"], timeout: 240_000 }, async () => {
    const folder = await newFolder();
    const file = join(folder, "audit.jsonl");
    const { store: counted, calls } = faultyStore(await open(folder));
    const all = await setUp(counted, file);
    const random = randomNumbers(8);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
    const known = new Map(all.map(({ canary }) => [canary, [] as string[]]));
    let crossed = 0;
    for (let operation = 0; operation < operations; operation++) {
      const own = pick(all);
      const other = pick(all);
      if (own.sessions.length < 2) await operationsOf[0]!(own, "", own.sessions[0]!);
      const session = pick(own.sessions);
      for (const { id } of own.sessions) if (!known.get(own.canary)!.includes(id)) known.get(own.canary)!.push(id);
      const target = other === own ? session.id : (pick(known.get(other.canary)!) ?? session.id);
      // Sessions are made and ended now and then, so that there are old and new, open and ended ones.
      const kind = operation % 97 === 0 ? 0 : operation % 89 === 0 ? -1 : 1 + Math.floor(random() * 15);
      const shown = await attempt(operationsOf.at(kind)!, own, target, session);
      const met = [...new Set(JSON.stringify(shown ?? null).match(/canary-\d+x/g))];
      if (met.some((word) => word !== own.canary)) crossed++;
    }
    expect(crossed).toBe(0);
    for (const { sessions } of all) for (const session of sessions) await session.close();
    const entries = await listed(readAudit(file));
    expectEveryAccess(entries, calls);
    for (const own of all) expectOwn(entries, own, known);
    for (const { refused } of all) expect(refused).toBeGreaterThan(operations / 100);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "utf8")).not.toContain("canary-");
    await counted.close();
  });
});

async function setUp(counted: Store, file: string): Promise<readonly Tenant[]> {
  const memory = lexicalMemory();
  return Promise.all(
    Array.from({ length: tenants }, async (_, number): Promise<Tenant> => {
      const scope = { tenant: `tenant-${number}`, user: number % 2 === 0 ? "alice" : "bob" };
      const principal = { name: scope.user, tenant: scope.tenant };
      const who = `${scope.user}@${scope.tenant}`;
      const guarded = guardedStore(counted, { principal, who, audit: openAudit(file) });
      const store = { ...guarded, close: async () => undefined };
      const manager = await SessionManager.open({ store, ...scope, memory, budget: 20_000 });
      return { canary: `canary-${number}x`, scope, store, manager, sessions: [], refused: 0 };
    }),
  );
}

/** What the tenant was shown; of a refusal, what it said. */
async function attempt(
  run: (typeof operationsOf)[number],
  own: Tenant,
  id: string,
  session: Session,
): Promise<unknown> {
  try {
    return await run(own, id, session);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    if (isWindrowError(error, "session-not-found") || said === "session-not-found") own.refused++;
    else if (!isWindrowError(error, "session-busy") && !isWindrowError(error, "read-only")) throw error;
    return said;
  }
}

/** One line for each call that reached the store. */
function expectEveryAccess(entries: readonly AuditEntry[], calls: ReadonlyMap<string, number>): void {
  const count = (...names: readonly string[]): number => names.reduce((sum, name) => sum + (calls.get(name) ?? 0), 0);
  const told = (action: string): number => entries.filter((entry) => entry.action === action).length;
  const done = (action: string): number => entries.filter((entry) => entry.action === action && !entry.error).length;
  expect(told("read")).toBe(count("info", "read", "recovery", "holder"));
  expect(told("list")).toBe(count("list"));
  expect(told("export")).toBe(count("dump"));
  expect(done("create")).toBe(count("create"));
  expect(done("finish")).toBe(count("finish"));
  const states = entries.filter(({ action, file, error }) => action === "write" && file === "state.json" && !error);
  expect(states).toHaveLength(count("setState"));
}

/** What was done with a tenant's sessions was done by that tenant; all others were refused. */
function expectOwn(entries: readonly AuditEntry[], own: Tenant, known: ReadonlyMap<string, readonly string[]>): void {
  const who = `${own.scope.user}@${own.scope.tenant}`;
  const ids = new Set(known.get(own.canary));
  const about = entries.filter(({ sessionId }) => sessionId !== undefined && ids.has(sessionId));
  const strangers = about.filter((entry) => entry.who !== who && entry.error === undefined);
  // A write is told before it is tried: its refusal follows it.
  const tried = strangers.filter(({ action }) => action !== "write");
  expect(tried).toEqual([]);
  expect(about.some((entry) => entry.who !== who && entry.error === "session-not-found")).toBe(true);
  expect(about.some((entry) => entry.who === who && entry.action === "write" && entry.file === "messages.jsonl")).toBe(
    true,
  );
}
