// Appends one message of many megabytes to a new session, and prints how many bytes more were resident meanwhile.
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [dist, url, id, length] = process.argv.slice(2);
const { openStore } = await import(pathToFileURL(`${dist}/access/open.js`).href);

const timestamp = "2024-01-15T10:30:01.123Z";
const store = await openStore(url);
const lock = await store.lock({}, id);
const record = (name, text) => {
  const message = { id: name, role: "tool", parts: [{ type: "text", text }], timestamp };
  return { kind: "message", message, tokenCount: 2, timestamp };
};
await store.append(lock, [record("first", "the code of an append is loaded")]);
const text = "0123456789abcdef".repeat(Number(length) / 16);
// The text is put together of pieces, until somebody looks into it: that is not the append's.
text.charCodeAt(0);
const resident = () => process.memoryUsage.rss();
const before = resident();
let most = before;
const timer = setInterval(() => (most = Math.max(most, resident())), 1);
await store.append(lock, [record("large", text)]);
clearInterval(timer);
writeSync(1, `${Math.max(most, resident()) - before}\n`);
await store.close();
