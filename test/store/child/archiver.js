// Archives a session, brings it back or erases it, and kills itself at the step that it is told: before or after a write.
import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [dist, address, archive, id, task, stop] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${dist}/${path}`).href);
const { openStore } = await load("access/open.js");
const { folderArchive } = await load("store/shared/archive/bucket.js");

let steps = 0;

function step(name) {
  steps += 1;
  if (steps !== Number(stop)) return;
  writeSync(1, `killed ${name}\n`);
  process.kill(process.pid, "SIGKILL");
}

/** The methods of these names take a step before they are called and one after. */
function stepping(behind, names) {
  const front = { ...behind };
  for (const name of names) {
    front[name] = (...given) => {
      step(`before ${name}`);
      const result = behind[name](...given);
      if (!(result instanceof Promise)) {
        step(`after ${name}`);
        return result;
      }
      return result.then((value) => {
        step(`after ${name}`);
        return value;
      });
    };
  }
  return front;
}

/** A store of which every write to its server or its disk is a step. */
async function stepped() {
  if (address.startsWith("postgres:")) {
    const { Pool } = createRequire(import.meta.url)("pg");
    const url = new URL(address);
    const schema = url.searchParams.get("schema");
    const pool = new Pool({ connectionString: `${url.origin === "null" ? address.split("?")[0] : url.href}`, max: 4 });
    const { postgresStore } = await load("store/postgres/postgres.js");
    const query = async (text, values) => {
      const isWrite = /^\s*(?:UPDATE|DELETE|INSERT|WITH)\b/.test(text);
      if (isWrite) step("before a statement");
      const answer = await pool.query(text, values);
      if (isWrite) step("after a statement");
      return answer;
    };
    return postgresStore({ client: { query, end: () => pool.end() }, schema });
  }
  if (!/^[a-z]+:/.test(address)) {
    const { filesStore } = await load("store/files/files.js");
    const { systemDisk } = await load("disk/disk.js");
    const disk = stepping(systemDisk, ["write", "rename", "unlink", "removeTree"]);
    return filesStore({ folder: address }, { disk });
  }
  const store = await openStore(address);
  const facets = {
    detaching: stepping(store.detaching, ["detach", "attach"]),
    upkeep: stepping(store.upkeep, ["erase"]),
  };
  const get = (_store, name) =>
    facets[name] ?? (typeof store[name] === "function" ? store[name].bind(store) : store[name]);
  return new Proxy(store, { get });
}

const bucket = stepping(folderArchive(archive), ["put", "delete"]);
const store = await openStore(await stepped(), { archive: bucket });
if (task === "archive") await store.archiving.archive({}, id);
else if (task === "unarchive") await store.archiving.unarchive({}, id);
else await store.upkeep.erase({}, [id]);
writeSync(1, "done\n");
process.exit(0);
