/** `windrow recall`: one message, a range, words and paths of a session, as its recall tool answers them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { HistoryBuilder } from "../kit/inside/message.ts";
import { newFolder, windrow } from "./stage.ts";

const longLine = `heron ${"and one more word ".repeat(2_000)}the end`;

async function storeWith(): Promise<{ readonly store: string; readonly id: string }> {
  const store = await newFolder();
  const manager = await SessionManager.open({ store, budget: 9_000 });
  const session = await manager.create();
  const history = new HistoryBuilder()
    .user("Which port has the queue?")
    .assistant("I look.", ["c1", "read", { path: "config/queue.yaml" }])
    .result("c1", "name: queue\nport: 7003\u001b[2J\n")
    .assistant("", ["c2", "edit", { path: "config/queue.yaml", old_string: "port: 7003", new_string: "port: 7004" }])
    .result("c2", "Done.")
    .user(longLine);
  await session.append(history.messages);
  return { store, id: session.id };
}

it("prints a message, a range, passages and a file of a session that is being written", async () => {
  const { store, id } = await storeWith();
  const recall = async (...what: readonly string[]): Promise<string> => {
    const { status, stdout, stderr } = await windrow(["recall", ...what, "--store", store]);
    expect([status, stderr], what.join(" ")).toEqual([0, ""]);
    expect(stdout).not.toContain("\u001b");
    return stdout;
  };
  expect(await recall("latest", "m1")).toMatch(
    /^\[Windrow: a record\..*\]\n\[m1 user\]\n Which port has the queue\?\n$/,
  );
  expect(await recall(id.slice(0, 8), "M2-m3")).toMatch(
    /\[m2 assistant\].*\[m3 read config\/queue\.yaml\]\n name: queue\n port: 7003/s,
  );
  expect(await recall("latest", "m6")).toContain(longLine);
  expect(await recall("latest", "port", "of", "the", "queue")).toContain("port: 7003");
  expect(await recall("latest", "config/queue.yaml")).toMatch(/\[m\d config\/queue\.yaml as it stands.*port: 7004/s);
  expect(await recall("latest", "m6", "--max-tokens", "800")).toMatch(/There is more|the beginning/);
});

it("is one document of JSON, writes nothing, and says what is wrong", async () => {
  const { store, id } = await storeWith();
  const logs = async (): Promise<string> => (await windrow(["view", id, "--json", "--store", store])).stdout;
  const before = await logs();
  const json = await windrow(["recall", id, "m1", "--json", "--store", store]);
  expect(JSON.parse(json.stdout)).toEqual({
    session: id,
    query: { id: "m1" },
    text: expect.stringContaining("Which port"),
    tokens: expect.any(Number),
    seqs: [1],
    more: false,
  });
  const nothing = await windrow(["recall", id, "zeppelin", "--store", store]);
  expect([nothing.status, nothing.stdout]).toEqual([
    1,
    expect.stringMatching(/Nothing has these words; try .* Looked through m1-m6\./),
  ]);
  const unknown = await windrow(["recall", id, "m99", "--store", store]);
  expect([unknown.status, unknown.stderr]).toEqual([1, expect.stringContaining("no message m99; the log ends at m6")]);
  expect((await windrow(["recall", id, "--store", store])).status).toBe(2);
  expect((await windrow(["recall", id, "m1", "--max-tokens", "few", "--store", store])).status).toBe(2);
  expect(await logs()).toBe(before);
});

it("tells of a damaged log on stderr, whether it finds something or not", async () => {
  const { store, id } = await storeWith();
  const path = join(store, "running", id, "messages.jsonl");
  const lines = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, lines.with(1, "{broken").join("\n"));
  for (const [what, expected] of [
    ["m2", 1],
    ["m3", 0],
  ] as const) {
    const { status, stderr } = await windrow(["recall", id, what, "--store", store]);
    expect([status, stderr]).toEqual([
      expected,
      expect.stringMatching(/store-corrupt: session .*messages\.jsonl, bytes \d+/),
    ]);
  }
  const composed = await windrow(["compose", id, "--store", store]);
  expect([composed.status, composed.stderr]).toEqual([0, expect.stringContaining("messages.jsonl, bytes")]);
});
