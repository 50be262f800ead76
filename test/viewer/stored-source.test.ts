/** A page's questions over a store: lists, ranges, calls, epochs, fates, origins, caches, recalls, search, live counts. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { ManagerOptions, Message, Session } from "windrow";
import { MemoryLog } from "windrow/memory";
import { openStore } from "windrow/store";
import { storedSource } from "windrow/viewer";
import { codingSession, HistoryBuilder } from "../kit/inside/message.ts";
import { partsText, textCap } from "../kit/inside/viewer.ts";
import { newFolder } from "../kit/sessions.ts";
import { followed, opened } from "./windows.ts";

/** A session and the source over its store, as most tests need them. */
async function lived(options: Partial<ManagerOptions> = {}) {
  const { manager, source } = await opened(options);
  return { source, session: await manager.create() };
}

async function talk(session: Session, messages: readonly Message[], system = "You mend code."): Promise<void> {
  for (const message of messages) {
    if (message.role === "assistant") {
      const { tokens, report } = await session.compose({ system });
      const usage = { input: tokens, output: 10, cacheRead: report.cost.cached };
      await session.endStep({ usage, model: "claude-sonnet-4-5" });
    }
    await session.append(message);
  }
}

const sample = codingSession(60, 20);

describe("a source over a store", () => {
  it("lists sessions in pages, newest first, and narrows them", async () => {
    const { manager, source } = await opened();
    for (let number = 0; number < 5; number++) {
      const taskKey = { task_source: "github", owner: "o", repo: "r", task_id: number };
      const session = await manager.create({ taskKey });
      await session.append(`Task number ${number}`);
      if (number < 2) await session.finish("completed");
    }
    const first = await source.sessions({ limit: 2 });
    expect(first.sessions.map(({ title }) => title)).toHaveLength(2);
    const rest = await source.sessions({ limit: 10, after: first.next ?? "" });
    expect(rest.next).toBeUndefined();
    const titles = [...first.sessions, ...rest.sessions].map(({ title }) => title).toSorted();
    expect(titles).toEqual([0, 1, 2, 3, 4].map((number) => `github/o/r#${number}`));
    expect((await source.sessions({ status: "completed" })).sessions).toHaveLength(2);
    expect((await source.sessions({ text: "r#3" })).sessions.map(({ title }) => title)).toEqual(["github/o/r#3"]);
  });

  it("tells a damaged session once, and that the session which a page goes on from left the list", async () => {
    const folder = await newFolder();
    const manager = await SessionManager.open({ store: folder });
    const ids: string[] = [];
    for (let number = 0; number < 6; number++) {
      const session = await manager.create();
      ids.push(session.id);
      await session.finish("completed");
    }
    await manager.close();
    await writeFile(join(folder, "completed", ids[5] ?? "", "metadata.json"), "{");
    const store = await openStore(folder);
    const source = storedSource(store, {});
    const pages = [await source.sessions({ limit: 2 })];
    for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next) {
      pages.push(await source.sessions({ limit: 2, after: next }));
    }
    const lengths = pages.map(({ sessions, unreadable }) => `${sessions.length}, ${unreadable.length} unreadable`);
    expect(lengths).toEqual(["2, 1 unreadable", "2, 0 unreadable", "1, 0 unreadable"]);
    const after = pages[0]?.next ?? "";
    await rm(join(folder, "completed", after), { recursive: true });
    const later = storedSource(store, {}).sessions({ limit: 2, after });
    await expect(later).rejects.toMatchObject({ code: "not-found" });
    await store.close();
  });

  it("lists no logs of a memory, and fills its pages without them", async () => {
    const { store, manager } = await opened();
    const ids: string[] = [];
    for (let number = 0; number < 3; number++) {
      const session = await manager.create();
      ids.push(session.id);
      await new MemoryLog(store, {}, `facts ${number}`).append([{ type: "fact", data: { text: "a fact" } }]);
    }
    const source = storedSource(store, {});
    const first = await source.sessions({ limit: 2 });
    const rest = await source.sessions({ limit: 2, after: first.next ?? "" });
    expect(first.sessions).toHaveLength(2);
    expect(rest.next).toBeUndefined();
    expect([...first.sessions, ...rest.sessions].map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect((await source.sessions({ text: "memory" })).sessions).toEqual([]);
  });

  it("has a session's head, outline and messages by ranges", { tags: ["slow"] }, async () => {
    const { source, session } = await lived();
    await talk(session, sample);
    const long = "x".repeat(3 * textCap);
    const image = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
    await session.append({ role: "user", parts: [{ type: "text", text: long }, image] });
    const head = await source.session(session.id);
    const { messages, tokens } = session.stats();
    expect(head).toMatchObject({ messages, historyTokens: tokens, calls: 60, isLive: true, windows: "recorded" });
    expect(head.dollars).toBeGreaterThan(0);
    const outline = await source.outline(session.id, 4, 6);
    expect(outline.map(({ seq, role, tools }) => [seq, role, tools])).toEqual([
      [4, "tool", ["read"]],
      [5, "assistant", ["read"]],
      [6, "tool", ["read"]],
    ]);
    const [shown] = await source.messages(session.id, messages, messages);
    expect(shown?.cut).toEqual({ 0: long.length });
    expect(await source.text(session.id, messages, "0", textCap, long.length)).toBe(long.slice(textCap));
    expect(shown?.parts[1]).toMatchObject({ url: `blob:${messages}/1` });
    expect(shown?.parts[1]).not.toHaveProperty("data");
    const blob = await source.blob?.(session.id, messages, "1");
    expect(Buffer.from(blob?.data ?? []).toString("base64")).toBe("iVBORw0KGgo=");
    await expect(source.text(session.id, messages, "7", 0, 1)).rejects.toMatchObject({ code: "not-found" });
    await expect(source.window(session.id, 999)).rejects.toMatchObject({ code: "not-found" });
    await expect(source.window(session.id, 1, { row: 2 })).rejects.toMatchObject({ code: "bad-option" });
  });

  it("tells the tokens of every call by block, and its cache", { tags: ["slow"] }, async () => {
    const { source, session } = await lived({ profile: "anthropic" });
    await session.pin("Never push.");
    await talk(session, sample.slice(0, 60));
    await talk(session, sample.slice(60, 100), "You mend code, briefly.");
    const { total, calls } = await source.calls(session.id, 1, 1_000);
    expect(calls).toHaveLength(total);
    for (const row of calls) {
      const { system, tools, pinned, digest, stubs, history, rest } = row.blocks ?? {};
      const sum = [system, tools, pinned, digest, stubs, history, rest].reduce((all = 0, one = 0) => all + one, 0);
      expect(sum).toBe(row.tokens);
      const window = await source.window(session.id, row.call);
      expect(window.blocks, `call ${row.call}`).toEqual(row.blocks);
      expect(row.dollars).toBeGreaterThan(0);
    }
    expect((await source.window(session.id, 1)).cache?.cause).toBe("the first call");
    const epochs = await source.epochs(session.id);
    const figures = epochs.map((epoch) => ({ ...epoch, fates: [] }));
    expect(await source.epochs(session.id, undefined, { fates: false })).toEqual(figures);
    const causes = await Promise.all(
      calls.map(async ({ call }) => (await source.window(session.id, call)).cache?.cause),
    );
    expect(causes).toContain("the window only grew");
    const changed = epochs.find(({ reason }) => reason === "system-changed");
    expect(changed?.changed?.system?.added).toEqual(["You mend code, briefly."]);
    const card = await source.window(session.id, changed?.firstCall ?? 0);
    expect(card.cache).toMatchObject({ divergence: { block: "system" } });
    expect(card.cache?.cause).toContain("the system prompt changed");
    const opening = epochs.slice(1).filter(({ firstCall }) => firstCall !== null);
    expect(opening.length).toBeGreaterThan(1);
    for (const { epoch, reason, firstCall } of opening) {
      expect(causes[(firstCall ?? 0) - 1]).toContain(`epoch ${epoch}, ${reason}`);
    }
  });

  it("lays a miss of a window that only grew to the provider", async () => {
    const { source, session } = await lived({ profile: "anthropic" });
    await talk(session, sample.slice(0, 6));
    const { tokens } = await session.compose({ system: "You mend code." });
    const usage = { input: tokens, output: 10, cacheRead: 0, cacheWrite: tokens };
    await session.endStep({ usage, model: "claude-sonnet-4-5" });
    const { total } = await source.calls(session.id, 1, 1);
    const { cache } = await source.window(session.id, total);
    expect(cache).toMatchObject({ isHit: false, divergence: { block: "none" } });
    expect(cache?.cause).toBe("the window only grew: the provider did not read what it had");
  });

  it("tells the fate of every message, and the origin of the digest's lines", { tags: ["slow"] }, async () => {
    const { source, session } = await lived();
    await talk(session, sample);
    const { total } = await source.calls(session.id, 1, 1);
    const window = await source.window(session.id, total, { origins: true });
    expect(window.fates.at(0)?.from).toBe(1);
    expect(window.fates.at(-1)?.to).toBe(window.lastSeq);
    window.fates.slice(1).forEach((run, index) => expect(run.from).toBe((window.fates[index]?.to ?? 0) + 1));
    const fates = new Set(window.fates.map(({ fate }) => fate));
    expect(fates).toContain("whole");
    expect(fates).toContain("quoted");
    const whole = window.entries.filter(({ kind }) => kind === "message").map(({ seq }) => seq);
    const runs = window.fates.filter(({ fate }) => fate === "whole");
    for (const seq of whole) expect(runs.some(({ from, to }) => from <= seq && seq <= to)).toBe(true);
    const digest = window.entries.find(({ kind }) => kind === "digest");
    const lines = partsText(digest?.message?.parts ?? []).split("\n");
    expect(digest?.origins?.length).toBeGreaterThan(5);
    for (const { line, seq, at } of digest?.origins ?? []) {
      const [message] = await source.messages(session.id, seq, seq);
      const from = partsText(message?.parts ?? []).split("\n")[at - 1];
      expect(from, lines[line - 1]).toContain(lines[line - 1]?.slice(1).trim());
    }
  });

  it("composes what another strategy would have kept", { tags: ["slow"] }, async () => {
    const { source, session } = await lived();
    await talk(session, sample);
    const { total } = await source.calls(session.id, 1, 1);
    const window = await source.window(session.id, total, { strategy: "sliding-window", budget: 2_000 });
    expect(window.instead).toEqual({ strategy: "sliding-window", budget: 2_000 });
    expect(window.tokens).toBeLessThanOrEqual(2_000);
    expect(window.verified.isVerified).toBe(false);
    await expect(source.window(session.id, total, { strategy: "no-such" })).rejects.toMatchObject({
      code: "unknown-strategy",
    });
  });

  it("shows a session whose calls name no window as its log", async () => {
    const { source, session } = await lived();
    for (const message of sample.slice(0, 21)) await session.append(message);
    const head = await source.session(session.id);
    const { calls } = await source.calls(session.id, 1, 100);
    expect(head.windows).toBe("none");
    expect(head.calls).toBe(calls.length);
    const last = calls.at(-1);
    const window = await source.window(session.id, last?.call ?? 0);
    expect(window.entries.map(({ seq }) => seq)).toEqual(
      Array.from({ length: last?.lastSeq ?? 0 }, (_, index) => index + 1),
    );
    expect(window.verified).toMatchObject({ isVerified: false, recorded: null });
  });

  it("has the recalls and finds words, in one session and in all", { tags: ["slow"] }, async () => {
    const { source, session } = await lived();
    await talk(session, sample.slice(0, 60));
    await session.recall({ id: "m4" });
    await expect(session.recall({ id: "m99999" })).rejects.toMatchObject({ code: "not-found" });
    await talk(session, sample.slice(60, 80));
    const recalls = await source.recalls(session.id);
    const { calls } = await source.calls(session.id, 1, 1_000);
    const before = calls.filter(({ lastSeq }) => lastSeq < 60).length;
    expect(recalls.map(({ asked, seqs, error, call }) => [asked, seqs, error, call])).toEqual([
      ["m4", [4], null, before],
      ["m99999", [], "not-found", before],
    ]);
    const hits = await source.search("VALUE3_7 const", session.id);
    expect(hits.map(({ seq }) => seq)).toEqual([8]);
    expect(hits[0]?.excerpt).toContain("value3_7");
    expect((await source.search("value3_7")).map(({ sessionId }) => sessionId)).toContain(session.id);
    expect(await source.replay(session.id)).toEqual([]);
  });

  it("finds what a call answered by the words of the call, and shows the call before it", async () => {
    const { source, session } = await lived();
    const call = ["c1", "read", { path: "src/lost.ts" }] as const;
    const history = new HistoryBuilder().user("Look.").assistant("", call).result("c1", "export const a = 1;");
    await session.append(history.assistant("Done.").messages);
    const hits = await source.search("lost.ts", session.id);
    expect(hits.map(({ seq, role }) => [seq, role])).toEqual([
      [2, "assistant"],
      [3, "tool"],
    ]);
    expect(hits[1]?.excerpt).toBe('read({"path":"src/lost.ts"}) → export const a = 1;');
  });

  it("shows the words of a long call where they stand in it", async () => {
    const { source, session } = await lived();
    const args = { content: "x ".repeat(5_000), path: "src/lost.ts", more: "y ".repeat(5_000) };
    await session.append(new HistoryBuilder().assistant("", ["c1", "write", args]).result("c1", "Written.").messages);
    const hits = await source.search("lost.ts", session.id);
    expect(hits.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(hits[1]?.excerpt).toMatch(/^…x x .*"path":"src\/lost\.ts",.* y… Written\.$/);
  });

  it("tells how sessions stand: written now, let go, ended", async () => {
    const { manager, source } = await opened();
    const session = await manager.create();
    await session.append("Go.");
    const ended = await manager.create();
    await ended.finish("completed");
    const standings = async (): Promise<readonly unknown[]> =>
      Promise.all([session, ended].map(async ({ id }) => (await source.session(id)).standing));
    expect(await standings()).toEqual(["running", "completed"]);
    await session.close();
    expect(await standings()).toEqual(["closed", "completed"]);
    const { sessions } = await source.sessions({});
    expect(sessions.map(({ standing }) => standing ?? "").toSorted()).toEqual(["closed", "completed"]);
  });

  it("counts the prefix that two calls share with the system prompt and the tools", async () => {
    const { source, session } = await lived();
    await talk(session, sample.slice(0, 12), "You mend code, and say what you did. ".repeat(20));
    const { cache, epoch } = await source.window(session.id, 3);
    expect(epoch).toBe(0);
    expect(cache?.predicted).toBe((await source.window(session.id, 2)).tokens);
    expect(cache?.commonTokens).toBe(cache?.predicted);
  });

  it("follows a session that grows, by its clock, until it is told to stop", async () => {
    const { store, manager } = await opened();
    const session = await manager.create();
    await session.append("Go.");
    const { first, next, events, stop } = followed(store, session.id);
    expect(await first).toMatchObject({ messages: 1, calls: 0, epochs: 0 });
    await session.compose({ system: "s" });
    await session.endStep({ usage: { input: 5 } });
    await session.append("More.");
    expect(await next()).toMatchObject({ messages: 2, calls: 1 });
    await session.finish("completed");
    expect(await next()).toMatchObject({ status: "completed" });
    await stop();
    expect(events).toHaveLength(3);
  });
});
