// Makes a session and appends to it until it is killed, telling on stdout how many messages were acknowledged.
import { randomUUID } from "node:crypto";
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [dist, folder] = process.argv.slice(2);
const { openStore } = await import(pathToFileURL(`${dist}/access/open.js`).href);

const store = await openStore(folder);
const timestamp = "2024-01-15T10:30:01.123Z";
const lock = await store.create({}, { uuid: randomUUID(), taskKey: {}, config: {}, createdAt: timestamp });
writeSync(1, `${lock.id}\n`);
for (let next = 1; ; next += 1) {
  const parts = [{ type: "text", text: `text ${next} ${"x".repeat((next * 37) % 4_000)}` }];
  const message = { id: `m${next}`, role: "user", parts, timestamp };
  const edit = { kind: "edit", type: "note", data: { next }, timestamp };
  await store.append(lock, [{ kind: "message", message, tokenCount: 2, timestamp }, edit]);
  writeSync(1, `${next}\n`);
}
