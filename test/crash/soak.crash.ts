/**
 * Four hours of a fleet, fast: eight agents of real processes write, one after another is killed, the store is cleaned
 * and backed up meanwhile. The clock is handed in; ages are those of the daily clean-up at a hundredth of a day an hour.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { backup, cleanup, doctor, search } from "windrow/ops";
import { generationNames } from "../kit/inside/ops.ts";
import { filesStore } from "../kit/inside/store.ts";
import { dist } from "../kit/build.ts";
import { startChild } from "../kit/child.ts";
import type { Child } from "../kit/child.ts";

const agents = 8;
const minute = 60_000;
/** A tick is five minutes of the fleet's time. */
const ticks = 48;
const stepsEachTick = 3;
const stepsEachSession = 12;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-soak-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A process that works when it is told to. */
class Agent {
  readonly #name: string;
  readonly #acknowledged: Map<string, number>;
  #child: Child;
  #read = 0;

  constructor(name: string, acknowledged: Map<string, number>) {
    this.#name = name;
    this.#acknowledged = acknowledged;
    this.#child = this.#start();
  }

  /** Works for a tick, or dies on the way, as soon as it said that something is on disk. */
  async work(now: number, dies: boolean): Promise<void> {
    this.#child.tell(JSON.stringify({ now, steps: stepsEachTick }));
    for (let line = await this.#next(); line !== undefined; line = await this.#next()) {
      const [what, id = "", seq] = line.split(" ");
      if (what === "done") return;
      if (what === "ack") this.#acknowledged.set(id, Number(seq));
      if (dies && what === "ack") this.#child.signal("SIGKILL");
    }
    if (!dies) throw new Error(`agent ${this.#name} ended by itself`);
    this.#child = this.#start();
  }

  /** The next line that it says, or nothing where it has ended. */
  async #next(): Promise<string | undefined> {
    return await this.#child.line(this.#read++).catch(() => undefined);
  }

  end(): Promise<void> {
    return this.#child.end();
  }

  #start(): Child {
    this.#read = 0;
    return startChild("test/crash/child/agent.js", [dist, join(folder, "store"), this.#name, String(stepsEachSession)]);
  }
}

it("leaves a sound store that does not grow without bound", async () => {
  const acknowledged = new Map<string, number>();
  const fleet = Array.from({ length: agents }, (_, number) => new Agent(`agent-${number}`, acknowledged));
  const store = filesStore({ folder: join(folder, "store") });
  const index = join(folder, "store", "search-index");
  const start = Date.UTC(2024, 0, 15);
  const bytes: number[] = [];
  const erased = new Set<string>();
  let now = start;
  for (let tick = 0; tick < ticks; tick++) {
    now = start + tick * 5 * minute;
    await Promise.all(fleet.map((agent, number) => agent.work(now, tick % agents === number)));
    if (tick % 6 < 5) continue;
    const at = now;
    const report = await cleanup(store, {
      compressAfter: 20 * minute,
      deleteAfter: 60 * minute,
      trashFor: 20 * minute,
      remove: true,
      now: () => new Date(at),
    });
    expect(report.failures).toEqual([]);
    for (const { sessionId } of report.erased) erased.add(sessionId);
    bytes.push(report.bytes + report.trashBytes);
    const saved = await backup(store, join(folder, "backup"), { running: true, keep: 3 });
    expect(saved.failed).toBe(0);
    await search(store, { query: "look", index });
  }
  for (const agent of fleet) await agent.end();

  const { findings, open } = await doctor(store);
  expect(
    findings.filter(({ severity }) => severity === "damage"),
    "damage",
  ).toEqual([]);
  expect(open).toBe(0);
  expect(erased.size).toBeGreaterThan(20);
  expect(generationNames(join(folder, "backup"))).toHaveLength(3);
  // From the first hour on as much goes as comes.
  const early = Math.max(...bytes.slice(2, 4));
  expect(Math.max(...bytes.slice(4)), bytes.join(" ")).toBeLessThan(early * 1.5);
  let there = 0;
  for (const [id, last] of acknowledged) {
    if (erased.has(id)) continue;
    const held: number[] = [];
    const trashed = await isTrashed(id);
    if (trashed) continue;
    for await (const { seq } of store.read({}, id, { kind: "message" })) held.push(seq);
    expect(held.length, id).toBeGreaterThanOrEqual(last);
    expect(held).toEqual(held.map((_, place) => place + 1));
    there++;
  }
  expect(there).toBeGreaterThan(agents);
  await store.close();

  async function isTrashed(id: string): Promise<boolean> {
    for await (const { sessionId } of store.upkeep.trashed({}) ?? []) if (sessionId === id) return true;
    return false;
  }
}, 280_000);
