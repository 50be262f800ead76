/** Sessions that are damaged, or that another key has: what is sent fits all the same, and the conversation is kept. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultsOf, runAgent } from "./agent.ts";
import { openStage, user } from "./stage.ts";
import type { Stage } from "./stage.ts";

const session = { "x-claude-code-session-id": "session-1" };
const budget = 20_000;
/** A budget that nothing reaches: a history that is not known to have epochs would be sent as it is. */
const roomy = { budget: 500_000 };

async function pathOf(stage: Stage, name: string): Promise<string> {
  const [info] = await stage.sessions();
  return join(stage.folder, "running", info!.metadata.uuid, name);
}

const changed = async (path: string, change: (bytes: Buffer) => Buffer): Promise<void> =>
  writeFile(path, change(await readFile(path)));

const damages: readonly (readonly [string, string, (path: string) => Promise<void>])[] = [
  ["messages.jsonl", "is empty", (path) => changed(path, () => Buffer.alloc(0))],
  ["messages.jsonl", "is gone", (path) => rm(path)],
  [
    "messages.jsonl",
    "has a broken line",
    (path) => changed(path, (bytes) => bytes.fill("x", bytes.length >> 1, (bytes.length >> 1) + 9)),
  ],
  ["edits.jsonl", "is gone", (path) => rm(path)],
  ["metadata.json", "is empty", (path) => changed(path, () => Buffer.alloc(0))],
  ["metadata.json", "is another", (path) => changed(path, () => Buffer.from('{"a":1}'))],
];

test.each(damages)(
  "a session whose %s %s is left, and its conversation goes on in a new one",
  async (name, _, damage) => {
    const stage = await openStage({ budget });
    const { history, notes } = await runAgent({ rounds: 8, headers: session, lines: () => stage.lines });
    expect(notes.at(-1)).toMatch(/^composed; epoch=[1-9]/);
    const path = await pathOf(stage, name);
    const old = (await stage.sessions())[0]!.metadata.uuid;
    await stage.lines.close();
    await damage(path);
    await stage.restart(roomy);
    history.push(user("Go on."));
    const after = await runAgent({ rounds: 2, headers: session, lines: () => stage.lines, history });
    expect(after.bodies.flatMap((body) => faultsOf(body))).toEqual([]);
    for (const note of after.notes) expect(note).toMatch(/^composed/);
    const fresh = (await stage.sessions()).map(({ metadata }) => metadata.uuid).filter((uuid) => uuid !== old);
    expect(fresh).toHaveLength(1);
    expect(await stage.messages(fresh[0]!)).toHaveLength(history.length);
    // A gateway that is started again goes on in the new one.
    await stage.restart(roomy);
    history.push(user("And further."));
    const later = await runAgent({ rounds: 1, headers: session, lines: () => stage.lines, history });
    expect([...after.bodies, ...later.bodies].flatMap((body) => faultsOf(body))).toEqual([]);
    expect(await stage.messages(fresh[0]!)).toHaveLength(history.length);
  },
);

test.each([
  ["named", session],
  ["nameless", {}],
])(
  "a %s conversation that goes on under another key is sent with reasoning that fits its windows",
  async (_, headers) => {
    const stage = await openStage({ budget });
    const { history } = await runAgent({ rounds: 8, headers, lines: () => stage.lines });
    await stage.restart(roomy);
    history.push(user("Go on."));
    const after = await runAgent({ rounds: 2, headers, tenant: "tenant-b", lines: () => stage.lines, history });
    expect(after.bodies.flatMap((body) => faultsOf(body))).toEqual([]);
    expect((await stage.sessions()).map(({ metadata }) => metadata.taskKey["tenant"])).toEqual([
      "tenant-a",
      "tenant-b",
    ]);
  },
);
