// Appends to a session of a SQLite store until it is killed, several calls at a time, and tells each acknowledged record
// on stdout. At a refusal it tells the code and ends.
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [dist, file, id, prefix] = process.argv.slice(2);
const { openStore } = await import(pathToFileURL(`${dist}/access/open.js`).href);

const store = await openStore(`sqlite:${file}`);
const lock = await store.lock({}, id);
const timestamp = "2024-01-15T10:30:01.123Z";
let count = 0;

function message() {
  count += 1;
  const kind = Math.random();
  const size = Math.floor(kind < 0.8 ? 1_000 + Math.random() * 9_000 : kind < 0.97 ? 100_000 : 2_000_000);
  const parts = [{ type: "text", text: "x".repeat(size) }];
  const message = { id: `${prefix}-${count}`, role: "user", parts, timestamp };
  return { kind: "message", message, tokenCount: size, timestamp };
}

function records() {
  const one = message();
  if (Math.random() < 0.7) return [one];
  const call = { callId: `${prefix}-${count}`, toolName: "run", arguments: {}, timestamp };
  const result = { kind: "tool", ...call, status: "success", result: "", durationMs: 1 };
  return [one, { kind: "call", ...call }, result];
}

async function produce() {
  for (;;) {
    const stored = await store.append(lock, records());
    const lines = stored.map(
      (one) => `${one.kind} ${one.seq} ${one.pos} ${one.message?.id ?? one.callId} ${one.tokenCount ?? 0}\n`,
    );
    writeSync(1, lines.join(""));
  }
}

writeSync(1, "ready\n");
try {
  await Promise.all([produce(), produce(), produce()]);
} catch (error) {
  writeSync(1, `${error.code}\n`);
  process.exit(1);
}
