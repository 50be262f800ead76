// Makes a session with one message, tells its id, and holds it until it is killed.
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";

const [dist, folder, config] = process.argv.slice(2);
const { filesStore } = await import(pathToFileURL(`${dist}/store/files/files.js`).href);

const store = filesStore({ folder });
const createdAt = new Date().toISOString();
const uuid = randomUUID();
const lock = await store.create({}, { uuid, taskKey: {}, config: JSON.parse(config), createdAt });
const parts = [{ type: "text", text: "hello" }];
const message = { id: "m1", role: "user", parts, timestamp: createdAt };
await store.append(lock, [{ kind: "message", message, tokenCount: 1, timestamp: createdAt }]);
console.log(uuid);
setInterval(() => undefined, 1_000);
