/** The numbers of a summary's record under preset coding-agent: four characters are a token, and nothing is added. */
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { scripted } from "windrow/testing";
import { newFolder } from "../kit/sessions.ts";

it("says 70 tokens of seven messages, 21 of the summary, and a ratio of 0.3", async () => {
  const summarizer = scripted(["s".repeat(84)]);
  const store = await newFolder();
  const manager = await SessionManager.open({
    store,
    // Twelve messages of ten tokens are over 0.7 of it, and eleven are not.
    model: { contextWindow: 165, maxOutput: 10 },
    strategy: "coding-agent",
    summarizer,
    compaction: "blocking",
  });
  const session = await manager.create();
  for (let seq = 1; seq <= 12; seq++) {
    const text = `message ${seq} `.padEnd(40, "word ");
    await session.append({ role: seq % 2 === 1 ? "user" : "assistant", parts: [{ type: "text", text }] });
    if (seq % 2 === 0) await session.endStep();
    else await session.compose();
  }
  expect(summarizer.requests).toHaveLength(1);
  await manager.close();
  const files = await readdir(store, { recursive: true });
  const name = files.find((file) => file.endsWith("summaries.jsonl")) ?? "";
  const lines = (await readFile(join(store, name), "utf8")).trim().split("\n");
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    start_seq: 1,
    end_seq: 7,
    original_tokens: 70,
    summary_tokens: 21,
    compression_ratio: 0.3,
  });
});
