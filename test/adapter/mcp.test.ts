/** What an MCP client may ask of a store, without a protocol between: who sees what, and what is refused. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { SessionManager } from "windrow";
import type { NewMessage, Session, Store } from "windrow";
import { McpTools, serveMcpHttp } from "windrow/mcp";
import { openStore } from "windrow/store";

function say(text: string): NewMessage {
  return { role: "user", parts: [{ type: "text", text }] };
}

/** A session of a user with some messages; its manager does not close the store. */
async function written(store: Store, user: string, ...texts: readonly string[]): Promise<Session> {
  const session = await (await SessionManager.open({ store, budget: 8_000, user })).create();
  for (const text of texts) await session.append(say(text));
  return session;
}

describe("McpTools", () => {
  it("sees the sessions of its user alone", async () => {
    const store = await openStore("ram:");
    const mine = await written(store, "ann", "Paint it blue.");
    const theirs = await written(store, "bob", "The secret word is heron.");
    const tools = await McpTools.open({ store, user: "ann" });
    expect((await tools.list()).map(({ metadata }) => metadata.uuid)).toEqual([mine.id]);
    await expect(tools.recall(theirs.id, { query: "heron" })).rejects.toMatchObject({ code: "session-not-found" });
    await expect(tools.search(theirs.id, "heron")).rejects.toMatchObject({ code: "session-not-found" });
    await expect(tools.stats(theirs.id)).rejects.toMatchObject({ code: "session-not-found" });
    await expect(tools.view(theirs.id)).rejects.toMatchObject({ code: "session-not-found" });
    await expect(tools.pin(theirs.id, "Hello")).rejects.toMatchObject({ code: "session-not-found" });
    await tools.close();
  });

  it("finds the newest session by itself, and the messages that say it best first", async () => {
    const store = await openStore("ram:");
    const texts = Array.from(
      { length: 60 },
      (_, index) => `Note ${index}: the colour is ${index % 7 ? "red" : "blue"}.`,
    );
    await written(store, "ann", ...texts, "The door of the shed is green, said the painter.");
    const tools = await McpTools.open({ store });
    expect(await tools.search(undefined, "green shed")).toMatch(
      /no instruction\.\]\n\[m61 user\] The door of the shed is green/,
    );
    const hits = (await tools.search(undefined, "colour is blue", 3)).split("\n").slice(1);
    expect(hits).toHaveLength(3);
    expect(hits.every((hit) => hit.includes("blue"))).toBe(true);
    const nothing = await tools.search(undefined, "zeppelin");
    expect(nothing).toContain("Nothing was found in 61 messages");
    expect(nothing).toMatch(/try other words, or the session "all", which is every one\.\]$/);
    expect(await tools.recall(undefined, { query: "zeppelin" })).toMatch(/try one rare word.* Looked through m1-m61\./);
    expect(await tools.recall(undefined, { id: "m61" })).toContain("said the painter");
    await expect(tools.recall(undefined, { id: "m99" })).rejects.toMatchObject({ code: "not-found" });
    await expect(tools.recall(undefined, {})).rejects.toMatchObject({ code: "bad-option" });
  });

  it("finds which session spoke of something, and names sessions by what their user said first", async () => {
    const folder = await mkdtemp(join(tmpdir(), "windrow-mcp-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, "store");
    const store = await openStore(path);
    const first = await written(store, "ann", "Mend the\nbuild\u001b[2J of the shed", "Ticket WR-4711 asks for it.");
    const other = await written(
      store,
      "bob",
      `Paint ${"it blue and ".repeat(40)}`,
      "WR-4711 again, says [m9 user] bob.",
    );
    const last = await written(store, "ann", "Nothing of it here.");
    const index = join(folder, "index");
    for (const options of [{ store }, { store, index }, { store, index, readOnly: true }]) {
      const tools = await McpTools.open(options);
      const found = await tools.search("all", "WR-4711");
      expect(found).toContain(`Session ${first.id}, initializing: Mend the build (2J of the shed\n[m2 user, 20`);
      expect(found).toMatch(
        new RegExp(`Session ${other.id}, initializing: Paint it blue [^\\n]{50,80}…\\n\\[m2 user, 20`),
      );
      expect(found).not.toContain(last.id);
      expect(found).not.toMatch(/^\[m9 user\]/m);
      expect((await tools.search("all", "WR-4711", 1)).split("\n").at(-1)).toContain("There is more");
      expect(await tools.search("all", "zeppelin")).toContain("No message of any session holds all of these words");
      await expect(tools.search("all", "")).rejects.toMatchObject({ code: "bad-option" });
      const lines = (await tools.sessions()).split("\n");
      expect(lines).toHaveLength(3);
      expect(lines[0]).toMatch(new RegExp(`^${last.id} initializing, last written .*: Nothing of it here\\.$`));
      expect(existsSync(index)).toBe("index" in options);
    }
    const mine = await McpTools.open({ store, user: "ann" });
    const found = await mine.search("all", "WR-4711");
    expect(found).toContain(first.id);
    expect(found).not.toContain(other.id);
    await mine.close();
  });

  it("reads a session that is being written, and pins only where nobody writes", async () => {
    const store = await openStore("ram:");
    const session = await written(store, "ann", "Go.");
    await session.pin("Never deploy");
    const tools = await McpTools.open({ store });
    expect(await tools.pins(session.id)).toBe("[p1] Never deploy");
    await expect(tools.pin(session.id, "No")).rejects.toMatchObject({ code: "session-busy" });
    await session.append(say("And a later message."));
    expect(await tools.recall(session.id, { query: "later message" })).toContain("And a later message.");
    await session.close();
    expect(await tools.pin(session.id, "Yes")).toBe("Pinned as p2.");
    await tools.unpin(session.id, "p1");
    expect(await tools.pins(session.id)).toBe("[p2] Yes");
    await expect(tools.unpin(session.id, "p1")).rejects.toMatchObject({ code: "not-found" });
    const reader = await McpTools.open({ store, readOnly: true });
    await expect(reader.pin(session.id, "No")).rejects.toMatchObject({ code: "read-only" });
  });
});

describe("serveMcpHttp", () => {
  it("listens on this machine alone unless there is a token", async () => {
    const tools = await McpTools.open({ store: await openStore("ram:") });
    await expect(serveMcpHttp(tools, { host: "0.0.0.0" })).rejects.toMatchObject({ code: "bad-option" });
    const server = await serveMcpHttp(tools);
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const port = Number(new URL(server.url).port);
    await expect(serveMcpHttp(tools, { port })).rejects.toMatchObject({ code: "store-unavailable" });
    expect((await fetch(server.url.replace("/mcp", "/"))).status).toBe(404);
    await server.close();
    await tools.close();
  });
});
