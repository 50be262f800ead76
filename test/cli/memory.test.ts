/** `windrow memory`: an owner's facts and files, listed, corrected, taken back, forgotten. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { Facts, MemoryFiles } from "windrow/memory";
import { filesStore } from "../kit/inside/store.ts";
import { windrow } from "./stage.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-cli-memory-"));
  const manager = await SessionManager.open({ store: folder, user: "ann" });
  const session = await manager.create();
  const source = { sessionId: session.id, seq: 2, quote: "called heron" };
  await manager.close();
  const store = filesStore({ folder });
  const facts = new Facts(store, { user: "ann" });
  await facts.add(source.sessionId, 2, [{ about: "staging", text: "Staging is called heron.", sources: [source] }]);
  const files = new MemoryFiles(store, { user: "ann" });
  await files.create("/memories/plan.md", "first");
  await files.edit("/memories/plan.md", "replace", () => "second");
  await store.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function memory(...args: readonly string[]): ReturnType<typeof windrow> {
  return windrow(["memory", ...args, "--store", folder, "--user", "ann"]);
}

async function idOf(text: string): Promise<string> {
  const { facts } = JSON.parse((await memory("list", "--json")).stdout) as { facts: { id: string; text: string }[] };
  return facts.find((fact) => fact.text.includes(text))?.id ?? "";
}

it("lists facts with their sources, and files; another owner has none", async () => {
  const { stdout, status } = await memory();
  expect(status).toBe(0);
  expect(stdout).toContain("Staging is called heron.");
  expect(stdout).toMatch(/session [0-9a-f-]{36} m2/);
  expect(stdout).toContain("/memories/plan.md");
  expect((await windrow(["memory", "--store", folder, "--user", "bob"])).stdout).toContain("no facts and no files");
});

it("shows a file", async () => {
  expect(await memory("show", "/memories/plan.md")).toMatchObject({ stdout: "second" });
});

it("corrects a fact, and forgets it for good only with --yes", async () => {
  const id = await idOf("heron");
  expect((await memory("correct", id, "Staging is called osprey.")).status).toBe(0);
  const history = await memory("list", "--history");
  expect(history.stdout).toContain("before:");
  expect(history.stdout).toContain("corrected by ann");
  expect((await memory("forget", id)).status).toBe(1);
  expect(await idOf("osprey")).not.toBe("");
  expect((await memory("forget", id, "--yes")).status).toBe(0);
  expect(await idOf("osprey")).toBe("");
});
