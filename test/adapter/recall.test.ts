/** Recall in every host, before and after the host's history was replaced: an id brings back what its note speaks of. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAfterToolCall, createRecallTool, createTransformContext } from "windrow/pi";
import { load } from "./hosts.ts";
import { begin, hostings, readingMessages, readings, replaceHistories } from "./replaced-histories.ts";
import { openSession } from "../kit/sessions.ts";

let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "windrow-recall-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("recall answers from what the notes number", () => {
  it.each(hostings)("%s", async (...hosting) => {
    await replaceHistories(hosting, load, folder, (noted, lies, when) => {
      expect({ when, lies }).toEqual({ when, lies: [] });
      assert(noted > 0, `${when}: only ${noted} files are named by the notes`);
    });
  });
});

describe("recall that finds nothing", () => {
  it.each(hostings)("says what to try: %s", async (...hosting) => {
    const opened = await begin(hosting, load, folder);
    await opened.send(readingMessages(readings("some", 12)));
    expect(await opened.recall({ query: "zzz" })).toMatch(
      /Nothing has these words; try .* The log holds m1-m\d+: .*read/s,
    );
    const wrong = await opened.recall({}).catch((error: Error) => error.message);
    expect(wrong).toContain('"id": "m12"');
    const unknown = await opened.recall({ id: "m3000" }).catch((error: Error) => error.message);
    expect(unknown).toMatch(/no message m3000; the log ends at m\d+/);
    await opened.close();
  });
});

describe("pi's recall after the history was replaced", () => {
  it("brings back a result whole that pi was given as an excerpt", async () => {
    const session = await openSession({ budget: 8_000, ingestCap: 500, profile: "pi" });
    const transform = createTransformContext({ session });
    const text = Array.from({ length: 900 }, (_, line) => `line ${line} of the report`).join("\n");
    const toolCall = { id: "c1", name: "read" };
    const cut = await createAfterToolCall(session)({ toolCall, result: { content: [{ type: "text", text }] } });
    const result = { role: "toolResult", toolCallId: "c1", toolName: "read", content: cut?.content, timestamp: 3 };
    const call = { role: "assistant", content: [{ type: "toolCall", id: "c1", name: "read", arguments: {} }] };
    const user = (content: string): { role: string } => ({ role: "user", content, timestamp: 1 }) as { role: string };
    await transform([user("Read it."), call, result]);
    await transform([user("A summary of it."), call, result]);
    const recalled = await createRecallTool(session).execute("r", { query: "line 455" });
    expect(recalled.content[0]?.text).toContain("line 455 of the report");
  });
});
