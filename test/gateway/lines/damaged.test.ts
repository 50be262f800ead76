/** Sessions that are damaged, or that another key has: what is sent fits all the same, and the conversation is kept. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { goOn, work } from "./agent.ts";
import { openStage, session } from "./stage.ts";

const budget = 20_000;
/** A budget that nothing reaches: a history that is not known to have epochs would be sent as it is. */
const roomy = { budget: 500_000 };

/** What becomes of a file; undefined where it goes. */
type Damage = (bytes: Buffer) => Buffer | undefined;

const damages: readonly (readonly [string, string, Damage])[] = [
  ["messages.jsonl", "is empty", () => Buffer.alloc(0)],
  ["messages.jsonl", "is gone", () => undefined],
  ["messages.jsonl", "has a broken line", (bytes) => bytes.fill("x", bytes.length >> 1, (bytes.length >> 1) + 9)],
  ["edits.jsonl", "is gone", () => undefined],
  ["metadata.json", "is empty", () => Buffer.alloc(0)],
  ["metadata.json", "is another", () => Buffer.from('{"a":1}')],
];

test.each(damages)("a conversation whose %s %s goes on in a new session", async (name, _, damage) => {
  const stage = await openStage({ budget });
  const { history, notes } = await work(stage, 8);
  expect(notes.at(-1)).toMatch(/^composed; epoch=[1-9]/);
  const old = await stage.only();
  const path = join(stage.folder, "running", old, name);
  await stage.lines.close();
  const damaged = damage(await readFile(path));
  await (damaged ? writeFile(path, damaged) : rm(path));
  await stage.restart(roomy);
  const after = await goOn(stage, history, 2);
  for (const note of after.notes) expect(note).toMatch(/^composed/);
  const fresh = (await stage.sessions()).map(({ metadata }) => metadata.uuid).filter((uuid) => uuid !== old);
  expect(fresh).toHaveLength(1);
  expect(await stage.messages(fresh[0]!)).toHaveLength(history.length);
  // A gateway that is started again goes on in the new one.
  await stage.restart(roomy);
  await goOn(stage, history, 1);
  expect(await stage.messages(fresh[0]!)).toHaveLength(history.length);
});

test.each([
  ["named", session],
  ["nameless", {}],
])("a %s conversation under another key is sent with reasoning that fits its windows", async (_, headers) => {
  const stage = await openStage({ budget });
  const { history } = await work(stage, 8, { headers });
  await stage.restart(roomy);
  await goOn(stage, history, 2, { headers, tenant: "tenant-b" });
  const tenants = (await stage.sessions()).map(({ metadata }) => metadata.taskKey["tenant"]);
  expect(tenants).toEqual(["tenant-a", "tenant-b"]);
});
