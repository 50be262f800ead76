/** A session that the real pi wrote, as its host would feed it: skipped where the data is not there. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { validateWindow } from "windrow";
import type { AdapterEvent } from "windrow/adapter";
import { createTransformContext, piAdapter, piMessages } from "windrow/pi";
import type { PiMessage } from "windrow/pi";
import { pi as piProfile } from "../kit/inside/window.ts";
import { openSession } from "../kit/sessions.ts";

const file = "../shared/data/open/pi-sessions/large-session.raw.jsonl.gz";
const there = existsSync(file);
if (!there) console.log(`skipped: ${file} is not here`);

function messagesOf(path: string): PiMessage[] {
  const lines = gunzipSync(readFileSync(path)).toString("utf8").trim().split("\n");
  const entries = lines.map((line) => JSON.parse(line) as { type?: string; message?: PiMessage });
  return entries.flatMap(({ type, message }) => (type === "message" && message ? [message] : []));
}

it.skipIf(!there)("comes back as it was, from memory and from JSON", () => {
  const messages = messagesOf(file);
  const decoded = piAdapter.decode(messages);
  expect(piAdapter.encode(decoded).every((message, index) => message === messages[index])).toBe(true);
  assert.deepEqual(piAdapter.encode(JSON.parse(JSON.stringify(decoded)) as typeof decoded), messages);
});

it.skipIf(!there)(
  "goes through a session: valid windows in budget, every message on record",
  { timeout: 60_000 },
  async () => {
    const messages = messagesOf(file);
    const session = await openSession({ budget: 16_000, profile: "pi" });
    const events: AdapterEvent[] = [];
    const transform = createTransformContext({ session, on: (event) => events.push(event) });
    let windows = 0;
    for (const [index, message] of messages.entries()) {
      if (message.role !== "assistant") continue;
      const window = await transform(messages.slice(0, index));
      assert.deepEqual(validateWindow(piAdapter.decode(window), piProfile), [], `call at message ${index}`);
      const sent = events.at(-1);
      assert(sent?.type === "window-sent", JSON.stringify(sent));
      assert(sent.report.tokens <= 16_000);
      windows++;
    }
    expect(windows).toBeGreaterThan(50);
    await transform(messages);
    assert.deepEqual(await piMessages(session), messages);
  },
);
