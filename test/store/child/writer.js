// Appends to a session until it is killed, several calls at a time, and tells each acknowledged message on stdout.
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [dist, folder, id, prefix] = process.argv.slice(2);
const { filesStore } = await import(pathToFileURL(`${dist}/store/files/files.js`).href);

const store = filesStore({ folder });
const lock = await store.lock({}, id);
const timestamp = "2024-01-15T10:30:01.123Z";
let count = 0;

function message() {
  count += 1;
  const kind = Math.random();
  const size = Math.floor(kind < 0.8 ? 1_000 + Math.random() * 9_000 : kind < 0.97 ? 100_000 : 5_000_000);
  const parts = [{ type: "text", text: "x".repeat(size) }];
  return {
    kind: "message",
    message: { id: `${prefix}-${count}`, role: "user", parts, timestamp },
    tokenCount: size,
    timestamp,
  };
}

function records() {
  const choice = Math.random();
  if (choice < 0.7) return [message()];
  if (choice < 0.85) return [message(), message(), message()];
  const call = { callId: `${prefix}-${count}`, toolName: "run", arguments: {}, timestamp };
  return [
    message(),
    { kind: "call", ...call },
    { kind: "tool", ...call, status: "success", result: "", durationMs: 1 },
  ];
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
await Promise.all([produce(), produce(), produce()]);
