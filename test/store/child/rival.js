// Tries to lock each session at its appointed time, says whether it won, and holds what it won until it is killed.
import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const [dist, folder, start, ...ids] = process.argv.slice(2);
const { filesStore } = await import(pathToFileURL(`${dist}/store/files/files.js`).href);

const store = filesStore({ folder });
for (const [index, id] of ids.entries()) {
  const at = Number(start) + index * 30;
  await sleep(Math.max(0, at - Date.now() - 3));
  while (Date.now() < at);
  const result = await store.lock({}, id).then(
    () => `won ${process.pid}`,
    (error) => `${error.code} ${error.data?.owner?.processId}`,
  );
  writeSync(1, `${id} ${result}\n`);
}
writeSync(1, "done\n");
setInterval(() => undefined, 1_000);
