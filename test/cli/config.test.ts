/** `windrow config`, and what every command takes from the configuration. */
import { describe, expect, it, onTestFinished } from "vitest";
import { SessionManager } from "windrow";
import { newFolder, put, windrow } from "./stage.ts";

function inFolder(folder: string): void {
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
}

async function stage(config: string): Promise<string> {
  const folder = await newFolder();
  await put(folder, "windrow.config.yaml", config);
  const ids: Record<string, string> = {};
  for (const user of ["alice", "bob"]) {
    const manager = await SessionManager.open({ store: `${folder}/data`, user });
    const session = await manager.create();
    await session.append({ role: "user", parts: [{ type: "text", text: `I am ${user}` }] });
    ids[user] = session.id;
    await manager.close();
  }
  inFolder(folder);
  return folder;
}

it("shows what holds and where it came from", async () => {
  const folder = await newFolder();
  await put(folder, "windrow.config.yaml", "version: 1\nstore: ./data\nbudget: 9000\n");
  inFolder(folder);
  const plain = await windrow(["config"], { WINDROW_STRATEGY: "pi" });
  expect(plain.status, plain.stderr).toBe(0);
  expect(plain.stdout).toMatch(/ budget +9000 +.*windrow\.config\.yaml:3\n/);
  expect(plain.stdout).toMatch(/ strategy +pi +WINDROW_STRATEGY\n/);
  const { stdout } = await windrow(["config", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    settings: { budget: 9_000, strategy: "adaptive" },
    origins: { budget: { layer: "project", line: 3 }, strategy: { layer: "default" } },
    notes: [],
  });
});

it("names a mistyped key with its line, and ends every command with status 2", async () => {
  const folder = await newFolder();
  await put(folder, "windrow.config.yaml", "version: 1\nstroe: ./data\n");
  inFolder(folder);
  for (const argv of [["config"], ["view", "latest"], ["audit"]]) {
    const { status, stderr } = await windrow(argv);
    expect(status).toBe(2);
    expect(stderr).toContain('windrow.config.yaml:2: there is no key "stroe". Did you mean "store"?');
  }
});

it("names a strategy, an option, a profile, a counter and a model that cannot be, each with its line", async () => {
  const folder = await newFolder();
  const lines = ["strategy: { use: pi, contextRatio: 75 }", "profile: openai", "counter: chars5", "model: gpt-none"];
  await put(folder, "windrow.config.yaml", lines.join("\n"));
  inFolder(folder);
  const { status, stderr } = await windrow(["config"]);
  expect(status).toBe(2);
  for (const [index, fault] of ["contextRatio", '"openai"', '"chars5"', '"gpt-none"'].entries()) {
    expect(stderr).toMatch(new RegExp(`windrow\\.config\\.yaml:${index + 1}: .*${fault}`));
  }
});

it("looks at no module of the user's, and takes what can be", async () => {
  const folder = await newFolder();
  await put(folder, "windrow.config.yaml", "strategy: { use: ./gone.mjs, keep: 3 }\ncounter: cl100k\nmodel: gpt-4o\n");
  inFolder(folder);
  const { status, stdout, stderr } = await windrow(["config"]);
  expect(status, stderr).toBe(0);
  expect(stdout).toContain("gone.mjs");
});

describe("the user of a configuration", () => {
  const config = "store: ./data\nuser: alice\naudit: true\naccess: { admins: [root] }\n";

  it("sees their own sessions, and of others not even that they are there", async () => {
    await stage(config);
    const view = await windrow(["view", "latest", "--json"]);
    expect(JSON.parse(view.stdout)).toMatchObject({ messages: { shown: [{ text: "I am alice" }] } });
    for (const command of ["view", "compose"]) {
      const root = await windrow(["view", "latest", "--user", "bob", "--admin", "--json"], { WINDROW_USER: "root" });
      const { id } = JSON.parse(root.stdout) as { readonly id: string };
      const { status, stderr } = await windrow([command, id, "--budget", "999"].slice(0, command === "view" ? 2 : 4));
      expect(stderr).toContain("session-not-found");
      expect(status).toBe(1);
    }
    const monitor = await windrow(["monitor", "--once", "--json"]);
    expect(JSON.parse(monitor.stdout)).toMatchObject({ looked: 1 });
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
    const own = await windrow(["copy", "--from", "./data", "--to", "./own", "--json"]);
    expect(JSON.parse(own.stdout)).toMatchObject({ copied: 1, failed: 0 });
    const admin = ["copy", "--from", "./data", "--to", "./all", "--json", "--admin"];
    const all = await windrow(admin, { WINDROW_USER: "root" });
    expect(JSON.parse(all.stdout)).toMatchObject({ copied: 2, failed: 0 });
  });
});

it("keeps nobody out where it names nobody", async () => {
  await stage("store: ./data\n");
  const { stdout } = await windrow(["monitor", "--once", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ looked: 2 });
  const one = await windrow(["monitor", "--once", "--json", "--user", "bob"]);
  expect(JSON.parse(one.stdout)).toMatchObject({ looked: 1 });
});
