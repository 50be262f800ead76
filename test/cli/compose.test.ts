/** `windrow compose`: transcripts and sessions, the numbers and the words. */
import { readFile, readdir } from "node:fs/promises";
import { expect, it } from "vitest";
import { composeWindow, SessionManager } from "windrow";
import { codingSession } from "../kit/inside/message.ts";
import type { WindowPreview } from "../kit/inside/ops.ts";
import { openManager } from "../kit/sessions.ts";
import { chatLines, claudeCodeLines, emptyStore, json, newFolder, put, windrow } from "./stage.ts";

interface Document extends WindowPreview {
  readonly session: string;
}

const composed = (argv: readonly string[]): Promise<Document> => json<Document>(["compose", ...argv]);

it("answers with the window and every message's fate", async () => {
  const file = await put(await newFolder(), "chat.jsonl", chatLines(60));
  const { messages, tokens, report } = await composed([file, "--budget", "4k"]);
  expect(tokens).toBeLessThanOrEqual(4_000);
  expect(messages.length).toBeGreaterThan(3);
  expect(report.epoch).toBeGreaterThan(1);
  expect(report.prefixHash).toMatch(/^[0-9a-f]{14}$/);
  expect(Object.keys(report.blocks)).toEqual(["system", "tools", "pinned", "notes", "history", "dynamic"]);
  expect(report.items.filter(({ fate }) => fate !== "added")).toHaveLength(122);
  const difference = report.items.reduce((sum, item) => sum + item.tokensBefore - item.tokensAfter, 0);
  expect(difference).toBe(report.tokensBefore - tokens);
  for (const item of report.items) {
    expect(Object.keys(item)).toEqual(expect.arrayContaining(["id", "seq", "fate", "pass", "reason", "tokensBefore"]));
  }
});

it("takes a system prompt, a strategy, a profile, an exact counter and a place", async () => {
  const folder = await newFolder();
  const file = await put(folder, "chat.jsonl", chatLines(30));
  const system = await put(folder, "system.txt", "You fix bugs. ".repeat(20));
  const plain = await composed([file, "-b", "3k"]);
  const choices = ["-s", "sliding-window", "-p", "anthropic", "--system", system, "--counter", "o200k"];
  const other = await composed([file, "-b", "3k", ...choices]);
  const [strategy, profile, counter] = ["sliding-window", "anthropic", "o200k"];
  expect(other.report).toMatchObject({ strategy, profile, counter, budget: 3_000 });
  expect(other.messages[0]).toMatchObject({ role: "system" });
  expect(other.report.blocks.system).toBeGreaterThan(50);
  expect(plain.report).toMatchObject({ strategy: "adaptive", profile: "openai-chat", counter: "estimate" });
  const early = await composed([file, "-b", "3k", "--at", "5"]);
  expect(early.report.items).toHaveLength(5);
  expect(early.report.epoch).toBe(0);
});

it("sizes the window itself with the budget auto, and says so", async () => {
  const file = await put(await newFolder(), "chat.jsonl", chatLines(60));
  const how = ["--strategy", '{"use":"adaptive","floor":4000}', "--model", "claude-sonnet-4-5"];
  const { report, tokens } = await composed([file, "-b", "auto", ...how]);
  expect(report.sizing).toMatch(/^[\d,]+ tokens beside system and tools: of the last/);
  expect([report.epoch > 0, tokens < 20_000]).toEqual([true, true]);
  const usual = await composed([file, "-b", "auto", "--model", "claude-sonnet-4-5"]);
  expect(usual.report.sizing).toMatch(/^16,000 tokens/);
  expect((await composed([file, "-b", "16k"])).report.sizing).toBeUndefined();
  const shown = await windrow(["compose", file, "-b", "auto", ...how]);
  expect(shown.stdout).toContain(`Size: ${report.sizing}`);
});

it("composes for a session what its own process would, and leaves the files alone", async () => {
  const folder = await newFolder();
  const manager = await openManager({ store: folder, budget: 8_000 });
  const session = await manager.create();
  const history = codingSession(50, 20);
  for (const message of history) {
    if (message.role === "assistant") await session.compose();
    await session.append(message);
  }
  await session.close();
  const files = async (): Promise<readonly string[]> => {
    const names = await readdir(`${folder}/running/${session.id}`);
    return Promise.all(
      names.map((name) => readFile(`${folder}/running/${session.id}/${name}`, "utf8").catch(() => "")),
    );
  };
  const before = await files();
  const found = await composed([session.id.slice(0, 8), "--store", folder]);
  const smaller = await composed(["latest", "--store", folder, "-b", "2k"]);
  expect(await files()).toEqual(before);
  expect(smaller.tokens).toBeLessThanOrEqual(2_000);
  expect(smaller.report.opened).toMatchObject({ reason: "over-budget" });
  const resumed = await manager.resume(session.id);
  const own = await resumed.compose();
  expect(found.report.windowHash).toBe(own.report.windowHash);
  expect(found.report.items).toEqual((await resumed.explain()).items);
  const whole = await composed(["latest", "--store", folder, "-s", "none", "-b", "1000k"]);
  expect(whole.report.windowHash).toBe(
    composeWindow({ messages: history, budget: 1e6, strategy: "none" }).report.windowHash,
  );
});

it("composes an imported session by the profile of its model", async () => {
  const store = await newFolder();
  const file = await put(await newFolder(), "session.jsonl", claudeCodeLines());
  await windrow(["import", file, "--finished", "--store", store]);
  expect((await composed(["latest", "--store", store])).report.profile).toBe("anthropic");
});

it("prints sums, and every fate with --explain", async () => {
  const file = await put(await newFolder(), "chat.jsonl", chatLines(40));
  const sums = await windrow(["compose", file, "-b", "4k"]);
  expect(sums.stdout).toMatch(/Window: [\d,]+ messages, [\d,]+ of 4,000 tokens\n/);
  expect(sums.stdout).toMatch(/^ *kept /m);
  expect(sums.stdout).toMatch(/^ *(replaced|dropped) /m);
  const every = await windrow(["compose", file, "-b", "4k", "--explain"]);
  for (const id of ["m1", "m40", "m82"]) expect(every.stdout).toMatch(new RegExp(`^ *${id} `, "m"));
});

it.each([
  { use: "adaptive", lowWater: 0.3, tailShare: 0.05 },
  { use: "sliding-window", keepFirstUser: false },
  { use: "pi", keepRecentToolResults: 1 },
] as const)("makes a session's window by its strategy's own options: %o", async (strategy) => {
  const store = await emptyStore();
  const manager = await SessionManager.open({ store, strategy, budget: 3_000, model: "gpt-4o-mini" });
  const session = await manager.create();
  for (const message of codingSession(40)) {
    if (message.role === "assistant") await session.compose();
    await session.append(message);
  }
  // A smaller budget opens an epoch, which is the strategy's to plan.
  const stored = await composed([session.id, "--store", store, "--budget", "1800"]);
  const live = await session.compose({ budget: 1_800 });
  await manager.close();
  expect(stored.report.strategy).toBe(live.report.strategy);
  expect(stored.messages.map(({ id }) => id)).toEqual(live.messages.map(({ id }) => id));
  expect(stored.tokens).toBe(live.tokens);
});
