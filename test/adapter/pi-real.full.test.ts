/** A session that the real pi wrote, as its host would feed it: skipped where the data is not there. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { piAdapter } from "windrow/pi";
import type { PiMessage } from "windrow/pi";

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
