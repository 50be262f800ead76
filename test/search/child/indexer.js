// Catches an index up with a store, again and again, and tells of each session before it is written.
import { pathToFileURL } from "node:url";

const [dist, folder, index, rounds] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${dist}/${path}`).href);
const [{ filesStore }, { SearchIndex }, { catchUp }] = await Promise.all([
  load("store/files/files.js"),
  load("search/search.js"),
  load("search/catch-up.js"),
]);
const store = filesStore({ folder });
const open = new SearchIndex(index);
for (let round = 0; round < Number(rounds); round++) {
  open.open();
  const onProgress = () => {
    console.log("session");
    open.flush();
  };
  await catchUp(open, store, {}, { onProgress });
  open.close();
}
console.log("done");
await store.close();
