// A process with several managers on one store, told what to do by a JSON line each on stdin: `{"do":"open","tenant":"a"}`.
// It answers `done` lines, and an `ack TENANT SESSION TEXT` for every message that was acknowledged.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [dist, store, name] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(`${dist}/index.js`).href);
const managers = new Map();
const sessions = new Map();
let written = 0;

// Many writers on a slow machine can keep one waiting for longer than a database waits; nothing was kept then.
async function patient(work) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!/busy timeout/.test(error.message)) throw error;
    }
  }
}

async function append(tenant) {
  const text = `${name}-${written++}`;
  const session = sessions.get(tenant);
  await patient(() => session.append({ role: "user", parts: [{ type: "text", text }] }));
  writeSync(1, `ack ${tenant} ${session.id} ${text}\n`);
}

const commands = {
  async open({ tenant }) {
    const manager = await patient(() => SessionManager.open({ store, tenant }));
    managers.set(tenant, manager);
    sessions.set(tenant, await patient(() => manager.create()));
  },
  // A manager that comes and goes beside the one there is.
  async pass({ tenant }) {
    const manager = await patient(() => SessionManager.open({ store, tenant }));
    await manager.close();
  },
  async append({ tenant, count = 1 }) {
    for (let number = 0; number < count; number++) await append(tenant);
  },
  // Until it is killed, in every session at once; now and then a session ends and another begins.
  async storm() {
    await Promise.all(
      [...managers].map(async ([tenant, manager]) => {
        for (;;) {
          for (let number = 0; number < 12; number++) await append(tenant);
          await commands.pass({ tenant });
          await patient(() => sessions.get(tenant).finish("completed"));
          sessions.set(tenant, await patient(() => manager.create()));
        }
      }),
    );
  },
  async end() {
    for (const manager of managers.values()) await manager.close();
    managers.clear();
  },
};

writeSync(1, "ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  try {
    await commands[command.do](command);
    writeSync(1, "done\n");
  } catch (error) {
    writeSync(1, `failed ${error.code ?? "unforeseen"} ${error.message}\n`);
  }
}
