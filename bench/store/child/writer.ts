/** Makes a session, tells its id, and appends to it until it is killed. */
import { randomUUID } from "node:crypto";
import { filesStore } from "../../../src/store/files/files.ts";
import { messageRecord } from "../kit.ts";

const { folder } = JSON.parse(process.argv[2] ?? "{}") as { readonly folder: string };
const store = filesStore({ folder });
const uuid = randomUUID();
const lock = await store.create({}, { uuid, taskKey: {}, config: {}, createdAt: new Date().toISOString() });
console.log(uuid);
for (let number = 1; ; number += 1) await store.append(lock, [messageRecord(number, 10_240)]);
