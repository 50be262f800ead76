// Begins to restore a session, says so once the store has the beginning of it, and goes no further.
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [dist, url, id, metadata, state] = process.argv.slice(2);
const { openStore } = await import(pathToFileURL(`${dist}/access/open.js`).href);

const store = await openStore(url);
// eslint-disable-next-line require-yield
async function* lines() {
  writeSync(1, "begun\n");
  setInterval(() => undefined, 1_000);
  await new Promise(() => undefined);
}
await store.transfer.restore({}, { id, metadata: JSON.parse(metadata), state: JSON.parse(state), lines });
