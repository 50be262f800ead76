/** JSON without end, from hosts and from files: refused with a reason, whatever it is given to. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { composeWindow, SessionManager } from "windrow";
import type { NewMessage } from "windrow";
import { AgentsSession } from "windrow/openai-agents";
import { importFile } from "windrow/ops";
import { openStore } from "windrow/store";
import { readTranscripts } from "windrow/transcript";
import { readConfig } from "../kit/inside/config.ts";
import { deepestJson } from "../kit/inside/message.ts";
import type { JsonValue } from "../kit/inside/message.ts";
import { windrow } from "../cli/stage.ts";

function nested(levels: number): JsonValue {
  let value: JsonValue = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

const bad: Readonly<Record<string, unknown>> = {
  "nested 5,000 levels deep": nested(5_000),
  "nested 200,000 levels deep": nested(200_000),
  "one level too deep": nested(deepestJson + 24),
  "an object that holds itself": cyclic,
  "a bigint": { a: 1n },
  "a function": { a: () => 1 },
  "a getter that throws": Object.defineProperty({}, "a", {
    enumerable: true,
    get(): never {
      throw new Error("not now");
    },
  }),
  "a proxy that was revoked": (() => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  })(),
  "the same object a billion times": Array.from({ length: 30 }).reduce<unknown>((value) => [value, value], {}),
};

const call = (args: unknown): NewMessage => ({
  role: "assistant",
  parts: [{ type: "tool-call", callId: "c1", name: "look", args: args as JsonValue }],
});

let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "windrow-json-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

const refused = { code: "bad-message" };

describe.each(Object.entries(bad))("%s", (_name, value) => {
  it("is refused by a session, and costs it nothing", { tags: ["slow"] }, async () => {
    const manager = await SessionManager.open({ store: "ram:", budget: 8_000 });
    const session = await manager.create();
    await session.append({ role: "user", parts: [{ type: "text", text: "Go." }] });
    await expect(session.append(call(value))).rejects.toMatchObject(refused);
    const opaque = { type: "opaque", kind: "x", data: value } as never;
    await expect(session.append({ role: "assistant", parts: [opaque] })).rejects.toMatchObject(refused);
    const result = { type: "tool-result", callId: "c1", content: [opaque] } as never;
    await expect(session.append({ role: "tool", parts: [result] })).rejects.toMatchObject(refused);
    await expect(session.append({ role: "user", parts: [], extra: { value } as never })).rejects.toMatchObject(refused);
    const args = value as JsonValue;
    await expect(session.startTool({ callId: "c2", name: "look", args })).rejects.toMatchObject(refused);
    await expect(manager.create({ config: { value } as never })).rejects.toMatchObject(refused);
    await expect(manager.create({ taskKey: { value } as never })).rejects.toMatchObject(refused);
    await session.append({ role: "assistant", parts: [{ type: "text", text: "Still here." }] });
    expect(session.stats().messages).toBe(2);
    await manager.close();
  });

  it("is refused by composeWindow, and by a host's history", async () => {
    expect(() => composeWindow({ messages: [{ id: "m1", ...call(value) }], budget: 8_000 })).toThrow(
      expect.objectContaining(refused),
    );
    const manager = await SessionManager.open({ store: "ram:", budget: 8_000, profile: "openai-responses" });
    const history = new AgentsSession(await manager.create());
    await expect(
      history.addItems([{ type: "message", role: "user", content: "Hi", value } as never]),
    ).rejects.toMatchObject(refused);
    await manager.close();
  });
});

describe("JSON as deep as may be", () => {
  it("is appended, composed and read back", async () => {
    const manager = await SessionManager.open({ store: folder, budget: 8_000 });
    const session = await manager.create();
    const args = nested(deepestJson);
    await session.append([{ role: "user", parts: [{ type: "text", text: "Go." }] }, call(args)]);
    await session.compose();
    await session.close();
    const resumed = await manager.resume(session.id);
    const messages = [];
    for await (const { parts } of resumed.messages()) messages.push(parts);
    assert.deepEqual(messages[1], call(args).parts);
    await manager.close();
  });

  it("may be as wide as it likes: a hundred thousand fields", { tags: ["slow"], timeout: 60_000 }, async () => {
    const manager = await SessionManager.open({ store: "ram:", budget: 8_000 });
    const session = await manager.create();
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key${at}`, at]));
    await session.append([{ role: "user", parts: [{ type: "text", text: "Go." }] }, call(wide)]);
    expect(session.stats().messages).toBe(2);
    await manager.close();
  });
});

const said = (role: string, content: string): string => JSON.stringify({ role, content });
const deepLine = `{"role":"user","content":"x","extra":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;

describe("a file with a line that is nested too deep", () => {
  it("is read without that line, which is told with its number", async () => {
    const path = join(folder, "deep.jsonl");
    await writeFile(path, [said("user", "One"), deepLine, said("assistant", "Two")].join("\n"));
    const [transcript] = await readTranscripts(path);
    expect(transcript?.messages).toHaveLength(2);
    expect(transcript?.problems).toMatchObject([{ line: 2, problem: expect.stringContaining("500 levels") as string }]);
  });

  it("keeps the text of arguments that are nested too deep", async () => {
    const path = join(folder, "arguments.jsonl");
    const text = "[".repeat(50_000) + "]".repeat(50_000);
    const tool_calls = [{ id: "c1", type: "function", function: { name: "look", arguments: text } }];
    await writeFile(
      path,
      `${said("user", "One")}\n${JSON.stringify({ role: "assistant", content: null, tool_calls })}\n`,
    );
    const store = await openStore("ram:");
    expect(await importFile(store, path)).toMatchObject([{ outcome: "imported", messages: 2 }]);
    await store.close();
  });

  it("stops neither the import of others nor a replay of them", async () => {
    const [first, bare, last] = ["a", "b", "c"].map((name) => join(folder, `${name}.jsonl`)) as [
      string,
      string,
      string,
    ];
    await writeFile(first, [said("user", "One"), said("assistant", "Two")].join("\n"));
    await writeFile(bare, deepLine);
    await writeFile(last, [said("user", "Three"), said("assistant", "Four")].join("\n"));
    const store = join(folder, "imported");
    const imported = await windrow(["import", first, bare, folder, last, "--store", store]);
    expect(imported.status).toBe(1);
    expect(imported.stdout).toMatch(/b\.jsonl {2}not-a-transcript: /);
    expect(imported.stdout.match(/imported/g)).toHaveLength(2);
    const replayed = await windrow(["replay", first, bare, last, "--json"]);
    expect(replayed.status).toBe(1);
    expect((JSON.parse(replayed.stdout) as { sessions: unknown[] }).sessions).toHaveLength(2);
    for (const { stderr } of [imported, replayed]) expect(stderr).not.toMatch(/RangeError|\n\s+at /);
  }, 60_000);
});

describe("a configuration", () => {
  it.each([
    ["that repeats itself by aliases", `a: &a [x, x, x, x, x, x, x, x, x]\n${aliases(9)}`],
    ["that is nested without end", `a: ${"[".repeat(20_000)}${"]".repeat(20_000)}\n`],
  ])("%s is refused with its path", async (_name, text) => {
    const path = join(folder, "windrow.config.yaml");
    await writeFile(path, text);
    await expect(readConfig(path)).rejects.toMatchObject({ code: "bad-option" });
  });
});

function aliases(levels: number): string {
  const names = "abcdefghijklmnop";
  return Array.from({ length: levels }, (_, at) => {
    return `${names[at + 1]}: &${names[at + 1]} [${Array.from({ length: 9 }, () => `*${names[at]}`).join(", ")}]\n`;
  }).join("");
}
