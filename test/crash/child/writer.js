// Appends messages of one size to a session, three calls at a time, and tells each acknowledged one on stdout; at a
// refusal it tells the code, and goes on unless it was fenced.
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [dist, folder, id, prefix, size, most = "Infinity"] = process.argv.slice(2);
const { filesStore } = await import(pathToFileURL(`${dist}/store/files/files.js`).href);

const store = filesStore({ folder });
const lock = await store.lock({}, id).catch((error) => {
  process.stderr.write(`${error.code}\n`);
  process.exit(1);
});
const timestamp = "2024-01-15T10:30:01.123Z";
let count = 0;

function message() {
  count += 1;
  const parts = [{ type: "text", text: "x".repeat(Number(size)) }];
  const message = { id: `${prefix}-${count}`, role: "user", parts, timestamp };
  return { kind: "message", message, tokenCount: count, timestamp };
}

async function produce() {
  while (count < Number(most)) {
    try {
      const [stored] = await store.append(lock, [message()]);
      writeSync(1, `${stored.seq} ${stored.message.id}\n`);
    } catch (error) {
      writeSync(1, `refused ${error.code} ${error.data?.reason ?? ""}\n`);
      if (error.code === "fenced") return;
    }
  }
}

writeSync(1, "ready\n");
await Promise.all([produce(), produce(), produce()]);
await store.finish(lock, finalState()).then(
  () => writeSync(1, "finished\n"),
  (error) => writeSync(1, `refused ${error.code} ${error.data?.reason ?? ""}\n`),
);
process.exit(0);

function finalState() {
  return {
    status: "completed",
    startedAt: timestamp,
    updatedAt: timestamp,
    completedAt: timestamp,
    llmCallCount: 0,
    toolCallCount: 0,
    totalTokensUsed: 0,
    currentContextTokens: 0,
    compressionCount: 0,
    lastActivity: "end",
    error: null,
  };
}
