/** `windrow config`, and what every command takes from the configuration. */
import { describe, expect, it, onTestFinished } from "vitest";
import { SessionManager } from "windrow";
import { json, newFolder, put, windrow } from "./stage.ts";

/** A folder with such a configuration, in which the commands run until the test ends. */
async function folderWith(config: string): Promise<string> {
  const folder = await newFolder();
  await put(folder, "windrow.config.yaml", config);
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  return folder;
}

/** The same with a session of each of two users. */
async function stage(config: string): Promise<void> {
  const folder = await folderWith(config);
  for (const user of ["alice", "bob"]) {
    const manager = await SessionManager.open({ store: `${folder}/data`, user });
    await (await manager.create()).append(`I am ${user}`);
    await manager.close();
  }
}

it("shows what holds and where it came from", async () => {
  await folderWith("version: 1\nstore: ./data\nbudget: 9000\n");
  const plain = await windrow(["config"], { WINDROW_STRATEGY: "pi" });
  expect(plain.status, plain.stderr).toBe(0);
  expect(plain.stdout).toMatch(/ budget +9000 +.*windrow\.config\.yaml:3\n/);
  expect(plain.stdout).toMatch(/ strategy +pi +WINDROW_STRATEGY\n/);
  expect(await json(["config"])).toMatchObject({
    settings: { budget: 9_000, strategy: "adaptive" },
    origins: { budget: { layer: "project", line: 3 }, strategy: { layer: "default" } },
    notes: [],
  });
});

it("names a mistyped key with its line, and ends every command with status 2", async () => {
  await folderWith("version: 1\nstroe: ./data\n");
  for (const argv of [["config"], ["view", "latest"], ["audit"]]) {
    const { status, stderr } = await windrow(argv);
    expect(status).toBe(2);
    expect(stderr).toContain('windrow.config.yaml:2: there is no key "stroe". Did you mean "store"?');
  }
});

it("names a strategy, an option, a profile, a counter and a model that cannot be, each with its line", async () => {
  const lines = ["strategy: { use: pi, contextRatio: 75 }", "profile: openai", "counter: chars5", "model: gpt-none"];
  await folderWith(lines.join("\n"));
  const { status, stderr } = await windrow(["config"]);
  expect(status).toBe(2);
  for (const [index, fault] of ["contextRatio", '"openai"', '"chars5"', '"gpt-none"'].entries()) {
    expect(stderr).toMatch(new RegExp(`windrow\\.config\\.yaml:${index + 1}: .*${fault}`));
  }
});

it("looks at no module of the user's, and takes what can be", async () => {
  await folderWith("strategy: { use: ./gone.mjs, keep: 3 }\ncounter: cl100k\nmodel: gpt-4o\n");
  const { status, stdout, stderr } = await windrow(["config"]);
  expect(status, stderr).toBe(0);
  expect(stdout).toContain("gone.mjs");
});

describe("the user of a configuration", () => {
  const config = "store: ./data\nuser: alice\naudit: true\naccess: { admins: [root] }\n";

  it("sees their own sessions, and of others not even that they are there", async () => {
    await stage(config);
    expect(await json(["view", "latest"])).toMatchObject({ messages: { shown: [{ text: "I am alice" }] } });
    for (const command of ["view", "compose"]) {
      const admin = ["view", "latest", "--user", "bob", "--admin"];
      const { id } = await json<{ readonly id: string }>(admin, { WINDROW_USER: "root" });
      const { status, stderr } = await windrow([command, id, "--budget", "999"].slice(0, command === "view" ? 2 : 4));
      expect(stderr).toContain("session-not-found");
      expect(status).toBe(1);
    }
    expect(await json(["monitor", "--once"])).toMatchObject({ looked: 1 });
  });

  it("may not be somebody else, an admin, or ask for everything", async () => {
    await stage(config);
    for (const argv of [["view", "latest", "--user", "bob"], ["view", "latest", "--admin"], ["doctor"]]) {
      const { status, stderr } = await windrow(argv);
      expect(stderr).toContain("not-allowed");
      expect(status).toBe(1);
    }
  });

  it("copies only what is theirs; an admin copies all", async () => {
    await stage(config);
    const copy = ["copy", "--from", "./data"];
    expect(await json([...copy, "--to", "./own"])).toMatchObject({ copied: 1, failed: 0 });
    const all = await json([...copy, "--to", "./all", "--admin"], { WINDROW_USER: "root" });
    expect(all).toMatchObject({ copied: 2, failed: 0 });
  });
});

it("keeps nobody out where it names nobody", async () => {
  await stage("store: ./data\n");
  expect(await json(["monitor", "--once"])).toMatchObject({ looked: 2 });
  expect(await json(["monitor", "--once", "--user", "bob"])).toMatchObject({ looked: 1 });
});
