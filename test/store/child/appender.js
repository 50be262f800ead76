// At "go" on stdin: takes a session and appends messages to it, eight at a time, or says who has it. Lets go of it when
// stdin ends.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [dist, url, id, prefix, count] = process.argv.slice(2);
const { openStore } = await import(pathToFileURL(`${dist}/access/open.js`).href);

const store = await openStore(url);
const timestamp = "2024-01-15T10:30:01.123Z";
let next = 0;

async function produce(lock) {
  while (next < Number(count)) {
    next += 1;
    const parts = [{ type: "text", text: `text ${next}` }];
    const message = { id: `${prefix}-${next}`, role: "user", parts, timestamp };
    await store.append(lock, [{ kind: "message", message, tokenCount: 2, timestamp }]);
  }
}

writeSync(1, "ready\n");
await once(process.stdin, "data");
try {
  const lock = await store.lock({}, id);
  await Promise.all(Array.from({ length: 8 }, () => produce(lock)));
  writeSync(1, `wrote ${next}\n`);
  await once(process.stdin, "end");
} catch (error) {
  writeSync(1, `${error.code} ${error.data?.owner?.processId}\n`);
}
await store.close();
process.exit(0);
