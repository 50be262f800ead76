/** `windrow similar`, as it is typed. */
import { beforeEach, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { json, newFolder, windrow } from "./stage.ts";

let folder: string;
let id: string;

beforeEach(async () => {
  folder = await newFolder();
  const manager = await SessionManager.open({ store: folder, user: "ann" });
  const session = await manager.create({ taskKey: { project: "shop" } });
  await session.append("The login form crashes in Safari.");
  for (const [callId, content] of [
    ["1", "TypeError: form is null\nexit code 1"],
    ["2", "ok\nexit code 0"],
  ] as const) {
    const call = { type: "tool-call", callId, name: "bash", args: { command: "npm test" } } as const;
    await session.append({ role: "assistant", parts: [call] });
    await session.append({ role: "tool", parts: [{ type: "tool-result", callId, content }] });
  }
  await session.finish("completed");
  id = session.id;
  await manager.close();
});

it("shows the session, how it ended and what was done", async () => {
  const { status, stdout } = await windrow(["similar", "login", "crash", "--store", folder]);
  expect(status).toBe(0);
  expect(stdout).toContain(`${id}  completed`);
  expect(stdout).toContain("error [3]: TypeError: form is null; gone [4]");
  expect(stdout).toContain("commands: npm test");
});

it("gives one JSON document, and obeys project and user", async () => {
  const own = ["--project", "shop", "--user", "ann", "--store", folder];
  expect(await json(["similar", "login", ...own])).toMatchObject({
    tasks: [{ sessionId: id, deeds: { commands: ["npm test"] } }],
  });
  for (const more of [
    ["--project", "other"],
    ["--user", "bob"],
  ]) {
    const found = await windrow(["similar", "login", ...more, "--store", folder]);
    expect(found.status).toBe(1);
    expect(found.stdout).toContain("Nothing found");
  }
});

it("takes a session's task, and leaves that session out", async () => {
  expect((await windrow(["similar", "--session", "latest", "--store", folder])).status).toBe(1);
});
