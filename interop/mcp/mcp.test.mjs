/**
 * `windrow mcp` with the real clients of both generations, over stdio and HTTP, while another process writes the
 * store.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { SessionManager } from "windrow";
import { fired, work } from "../kit/kit.mjs";

const windrow = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const token = "open-sesame";
let folder;
let store;
let writer;
let written = 0;
let server;
let url;
/** The session that another process writes, one of another user, and one that nobody writes. */
let busy;
let theirs;
let idle;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-mcp-"));
  store = join(folder, "store");
  theirs = await written1("bob", "The secret word is heron.");
  idle = await written1("ann", "Paint it blue.");
  const script = fileURLToPath(new URL("writer.mjs", import.meta.url));
  writer = spawn(process.execPath, [script, store], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: writer.stdout });
  await new Promise((ready) => {
    lines.on("line", (line) => {
      busy ??= line;
      if (line === "ready") ready();
      if (line.startsWith("wrote ")) written = Number(line.split("-")[1]);
    });
  });
  const args = [windrow, "mcp", "--store", store, "--user", "ann", "--http", "0"];
  server = spawn(process.execPath, args, {
    env: { ...process.env, WINDROW_MCP_TOKEN: token },
    stdio: ["ignore", "ignore", "pipe"],
  });
  url = await new Promise((listening) => {
    createInterface({ input: server.stderr }).on("line", (line) => {
      const found = /MCP at (\S+?),/.exec(line);
      if (found) listening(new URL(found[1]));
    });
  });
});

after(async () => {
  await Promise.all([writer, server].map((child) => ended(child)));
  await rm(folder, { recursive: true });
});

function ended(child) {
  const done = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  return done;
}

/** A session of one user with one message. */
async function written1(user, text) {
  const manager = await SessionManager.open({ store, budget: 8_000, user });
  const session = await manager.create();
  await session.append({ role: "user", parts: [{ type: "text", text }] });
  await manager.close();
  return session.id;
}

const onStore = () => ({ command: process.execPath, args: [windrow, "mcp", "--user", "ann", "--store", store] });
const headers = { requestInit: { headers: { authorization: `Bearer ${token}` } } };
const clients = [
  { name: "v1 over stdio", version: "1.32.2", Client: ClientV1, transport: () => new StdioV1(onStore()) },
  { name: "v2 over stdio", version: "2.4.0", Client: ClientV2, transport: () => new StdioV2(onStore()) },
  { name: "v1 over HTTP", version: "1.32.2", Client: ClientV1, transport: () => new HttpV1(url, headers) },
  { name: "v2 over HTTP", version: "2.4.0", Client: ClientV2, transport: () => new HttpV2(url, headers) },
];

for (const { name, version, Client, transport } of clients) {
  test(`a client ${name}: recall, search, pins, stats, sessions and resources of a session that is being written`, async (t) => {
    const client = new Client({ name: "interop", version: "1" });
    // An open client keeps the process alive, so it closes after a failure too.
    t.after(() => client.close());
    await client.connect(transport());
    const counts = {};
    const call = async (tool, given = {}) => {
      counts[tool] = (counts[tool] ?? 0) + 1;
      const { content, isError = false } = await client.callTool({
        name: tool === "recall" ? tool : `windrow_${tool}`,
        arguments: given,
      });
      return { text: content.map(({ text }) => text).join("\n"), isError };
    };
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name: tool }) => tool).toSorted(), [
      "recall",
      "windrow_memory_facts",
      "windrow_memory_files",
      "windrow_memory_search",
      "windrow_pin",
      "windrow_pins",
      "windrow_search",
      "windrow_sessions",
      "windrow_stats",
      "windrow_unpin",
    ]);
    const listed = await call("sessions");
    assert(listed.text.includes(busy) && listed.text.includes(idle), listed.text);
    assert(!listed.text.includes(theirs), "another user's session is listed");

    const { output } = work(1)[0];
    // Quoted lines stand behind one character that is not theirs.
    const recalled = (await call("recall", { session: busy, id: "m3" })).text.replaceAll(/^[ |]/gm, "");
    assert(recalled.includes(output), recalled);
    assert.match((await call("recall", { session: busy, from: 1, to: 1 })).text, /Where do the totals come from\?/);
    const { text: hits } = await call("search", { session: busy, query: "ordersTotal" });
    const id = /^\[(m\d+) search ordersTotal\] /m.exec(hits)[1];
    assert.match((await call("recall", { session: busy, id })).text, /ordersTotal/);

    const newest = written;
    assert(newest > 0, "the writer stands still");
    const found = await call("recall", { session: busy, query: `marker-${newest}` });
    assert(found.text.includes(`marker-${newest}`), "what was written meanwhile is not found");
    assert.match((await call("pins", { session: busy })).text, /Never deploy on a Friday/);
    const refused = await call("pin", { session: busy, text: "No." });
    assert(refused.isError);
    assert.match(refused.text, new RegExp(`session-busy: .*${writer.pid}`));
    assert.match((await call("stats", { session: busy })).text, /messages, \d+ tokens in the log/);

    assert.match((await call("pin", { session: idle, text: `Blue, says ${name}` })).text, /Pinned as p\d+/);
    const [, pin] = /\[(p\d+)\] Blue, says/.exec((await call("pins", { session: idle })).text);
    await call("unpin", { session: idle, pin });
    assert.equal((await call("pins", { session: idle })).text, "Nothing is pinned.");

    const known = await call("memory_search", { query: "Which colour do I paint it, and the secret word?" });
    assert.match(known.text, /no instruction\..*Paint it blue\./s);
    assert(!known.text.includes("heron"), known.text);
    const none = await call("memory_search", { query: "paint", status: "failed", since: "2026-01-31" });
    assert.match(none.text, /^Nothing of earlier sessions was found/);
    assert.equal((await call("memory_facts")).text, "There are no facts.");
    assert.match((await call("memory_files", { path: "/memories" })).text, /^There are no memory files\.$/);

    const hidden = await call("recall", { session: theirs, query: "heron" });
    assert(hidden.isError && hidden.text.startsWith("session-not-found"), hidden.text);
    const { resources } = await client.listResources();
    assert(resources.some(({ uri }) => uri === `windrow://sessions/${busy}`));
    const { contents } = await client.readResource({ uri: `windrow://sessions/${busy}` });
    assert.equal(JSON.parse(contents[0].text).id, busy);
    fired({
      host: `MCP ${name}`,
      version,
      fired: counts,
      calls: Object.values(counts).reduce((a, b) => a + b),
      epochs: 0,
    });
  });
}

/** The status of a call with these headers: `fetch` sends no Host or Origin of one's own. */
function statusOf(given) {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: "POST", headers: { "content-type": "application/json", ...given } });
    call.once("error", reject);
    call.once("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    call.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }));
  });
}

test("calls under another host name, from a web page elsewhere, or without the token are refused", async () => {
  const authorization = `Bearer ${token}`;
  assert.equal(await statusOf({ authorization, host: "evil.example:80" }), 403);
  assert.equal(await statusOf({ authorization, origin: "https://evil.example" }), 403);
  assert.equal(await statusOf({}), 401);
  assert.equal(await statusOf({ authorization: "Bearer wrong" }), 401);
});
