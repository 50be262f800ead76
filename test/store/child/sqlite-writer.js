// Appends to a session of a SQLite store until it is killed or has done its count, several calls at a time, and tells
// each acknowledged record on stdout. Of a session that somebody else holds it says who. With "hold" it never lets go.
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [dist, file, id, prefix, most = "Infinity", ending = "close"] = process.argv.slice(2);
const { openStore } = await import(pathToFileURL(`${dist}/access/open.js`).href);

const store = await openStore(`sqlite:${file}`);
const lock = await store.lock({}, id).catch((error) => {
  writeSync(1, `${error.code} ${error.data?.owner?.processId}\n`);
  process.exit(0);
});
const timestamp = "2024-01-15T10:30:01.123Z";
let count = 0;

function message() {
  count += 1;
  const kind = Math.random();
  const size = Math.floor(kind < 0.8 ? 1_000 + Math.random() * 9_000 : kind < 0.97 ? 100_000 : 2_000_000);
  const parts = [{ type: "text", text: "x".repeat(Number.isFinite(Number(most)) ? 100 : size) }];
  const message = { id: `${prefix}-${count}`, role: "user", parts, timestamp };
  return { kind: "message", message, tokenCount: parts[0].text.length, timestamp };
}

function records() {
  const one = message();
  if (Math.random() < 0.7 || most !== "Infinity") return [one];
  const call = { callId: `${prefix}-${count}`, toolName: "run", arguments: {}, timestamp };
  const result = { kind: "tool", ...call, status: "success", result: "", durationMs: 1 };
  return [one, { kind: "call", ...call }, result];
}

async function produce() {
  while (count < Number(most)) {
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
if (ending !== "hold") await store.close();
writeSync(1, "done\n");
if (ending === "hold") setInterval(() => undefined, 1_000);
