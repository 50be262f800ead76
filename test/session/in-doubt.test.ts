/** Tool runs that a crash cut off are listed, shown to the model as interrupted, and never run again. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { validateWindow } from "windrow";
import { viewSession } from "windrow/ops";
import { openStore } from "windrow/store";
import { anthropic } from "../kit/inside/window.ts";
import { windrow } from "../cli/stage.ts";
import { dist } from "../kit/build.ts";
import { startChild } from "../kit/child.ts";
import { asked, openManager } from "../kit/sessions.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-doubt-"));
}, 120_000);

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function killWhileToolsRun(id: string): Promise<void> {
  const child = startChild("test/session/child/deployer.mjs", [dist, folder, id]);
  await child.until((lines) => lines.includes("waiting"));
  await child.kill();
}

it("lists what a killed process left open, on files", { tags: ["slow"], timeout: 60_000 }, async () => {
  const id = randomUUID();
  await killWhileToolsRun(id);
  const seen = await windrow(["view", id.slice(0, 8), "--store", folder]);
  expect(seen.status, seen.stderr).toBe(0);
  expect(seen.stdout).toContain("In doubt: 2");
  expect(seen.stdout).toContain('[lost-1] deploy({"target":"lost-1"}) since ');

  const manager = await openManager({ store: folder, budget: 9_000, profile: "anthropic" });
  const session = await manager.resume(id);
  expect(session.stats().messages).toBe(4);
  const open = await session.inDoubt();
  expect(open.map(({ callId, toolName }) => [callId, toolName])).toEqual([
    ["lost-1", "deploy"],
    ["lost-2", "deploy"],
  ]);
  const window = await session.compose();
  expect(validateWindow(window.messages, anthropic)).toEqual([]);
  expect(JSON.stringify(window.messages).split("[interrupted").length - 1).toBe(2);

  const again = await session.startTool({ callId: "lost-1", name: "deploy", args: {} });
  expect(
    (await session.inDoubt()).map(({ callId }) => callId),
    "a run of this process is in no doubt",
  ).toEqual(["lost-2"]);
  await again.finish("deployed after all");
  expect((await session.inDoubt()).map(({ callId }) => callId)).toEqual(["lost-2"]);
});

it("lists what a session that was let go of left open, in memory", async () => {
  const store = await openStore("ram:");
  const manager = await openManager({ store, budget: 9_000 });
  const session = await manager.create();
  await session.append(asked("go"));
  const call = { type: "tool-call", callId: "c1", name: "deploy", args: { target: "prod" } } as const;
  await session.append({ role: "assistant", parts: [call] });
  await session.startTool(call);
  expect(await session.inDoubt(), "it is running here").toEqual([]);
  expect((await viewSession(store, {}, "latest")).openCalls).toMatchObject([{ callId: "c1" }]);
  await session.close();
  const resumed = await manager.resume(session.id);
  expect(await resumed.inDoubt()).toMatchObject([{ callId: "c1", toolName: "deploy", arguments: { target: "prod" } }]);
  await resumed.append({ role: "tool", parts: [{ type: "tool-result", callId: "c1", content: "it had worked" }] });
  expect(await resumed.inDoubt()).toEqual([]);
});
