// Tries to lock each session that it is told on stdin, says whether it won, and holds what it won until it is killed.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [dist, folder] = process.argv.slice(2);
const { filesStore } = await import(pathToFileURL(`${dist}/store/files/files.js`).href);

const store = filesStore({ folder });
writeSync(1, "ready\n");
for await (const id of createInterface({ input: process.stdin })) {
  const result = await store.lock({}, id).then(
    () => `won ${process.pid}`,
    (error) => `${error.code} ${error.data?.owner?.processId}`,
  );
  writeSync(1, `${id} ${result}\n`);
}
