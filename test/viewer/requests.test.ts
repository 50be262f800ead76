/** The requests of a gateway's line as a page asks for them, and how their sessions stand in a list. */
import { expect, it, vi } from "vitest";
import type { Scope } from "windrow";
import { createMask } from "windrow/store";
import type { Mask, ReadQuery } from "windrow/store";
import type { ListedSession } from "windrow/viewer";
import { encodeSessions, fileSource } from "../kit/inside/viewer.ts";
import { groupedLines, requestWords } from "../../web/model/requests.ts";
import { gatewayStore, requestOf } from "./gateway-store.ts";
import { followed, opened } from "./windows.ts";

/** The store and the source of two lines, and their ids. */
async function lines(mask?: Mask) {
  const { folder, main, agent } = await gatewayStore();
  return { folder, main, agent, ...(await opened({}, folder, mask)) };
}

/** A line of a gateway, and the source over its store. */
async function lineOf() {
  const { store, manager, source } = await opened();
  const line = await manager.create({ taskKey: { gateway: 1, client: "pi", line: "main" } });
  return { store, manager, source, line };
}

it("are told by ranges, each with the usage of its own answer and the call of it", async () => {
  const { main, agent, source } = await lines();
  const all = await source.requests?.(main, 1, 100);
  expect(all?.total).toBe(4);
  expect(all?.requests.map(({ request, status, attempt, call }) => [request, status, attempt, call])).toEqual([
    [1, 200, 1, 1],
    [2, 529, 1, null],
    [3, 200, 2, 2],
    [4, 200, 1, 3],
  ]);
  const figures = { firstByteMs: 420, totalMs: 2_100, bytesIn: 51_000, bytesOut: 51_000 };
  const usage = { input: 1_000, output: 20, cacheRead: 900 };
  expect(all?.requests[0]).toMatchObject({ kind: "turn", ...figures, usage, error: null });
  expect(all?.requests[3]).toMatchObject({ bypassed: "slow-store", mends: ["without-reasoning"] });
  expect((await source.requests?.(main, 2, 3))?.requests).toEqual(all?.requests.slice(1, 3));
  expect(await source.requests?.(main, 5, 9)).toEqual({ total: 4, requests: [] });
  const { sessions } = await source.sessions({});
  const rows = groupedLines(sessions).map(({ id, title, isNext = false }) => [id, title, isNext]);
  expect(rows).toEqual([
    [main, "claude-code: Mend it.", false],
    [agent, "claude-code agent a1: Look into it.", true],
  ]);
  expect((await source.session(agent)).line?.parent).toEqual({ id: main, reason: "agent" });
  expect((await source.sessions({ text: "session-7" })).sessions).toHaveLength(2);
});

it("stand in the list below the line that they go on from, whichever is newer", async () => {
  const { main, agent, manager, source } = await lines();
  const fork = await manager.fork(main, { at: 1 });
  const later = await manager.fork(fork.id, { at: 1 });
  await manager.create({ taskKey: { gateway: 1, client: "pi", line: "main", session: "session-8" } });
  const { sessions } = await source.sessions({});
  expect(sessions.find(({ id }) => id === fork.id)?.line?.parent).toEqual({ id: main, reason: "forked at m1" });
  const rows = groupedLines(sessions);
  expect(rows.slice(1).map(({ id, isNext = false }) => [id, isNext])).toEqual([
    [main, false],
    [agent, true],
    [fork.id, true],
    [later.id, true],
  ]);
  // A key may say whatever it likes: lines that name each other as their parents are listed all the same.
  const looped = sessions.map((row, place): ListedSession => {
    const parent = { id: sessions[(place + 1) % sessions.length]?.id ?? "", reason: "x" };
    return { ...row, line: { client: "a", line: "b", session: "c", parent } };
  });
  const idsOf = (rows: readonly ListedSession[]): readonly string[] => rows.map(({ id }) => id).toSorted();
  expect(idsOf(groupedLines(looped))).toEqual(idsOf(sessions));
});

it("are counted for those who follow a line, and for no other session", async () => {
  const { store, manager, line } = await lineOf();
  const plain = await manager.create({ taskKey: { task: "x" } });
  const following = followed(store, line.id);
  expect((await following.first).requests).toBe(0);
  await line.records.append("request", requestOf({ status: 401 }));
  expect((await following.next()).requests).toBe(1);
  await following.stop();
  const other = followed(store, plain.id);
  expect(await other.first).not.toHaveProperty("requests");
  await other.stop();
});

it("link to the calls of a line that was seen from its middle on, and of one with calls that are no messages", async () => {
  const { line, source } = await lineOf();
  const say = (role: "user" | "assistant"): Promise<unknown> =>
    line.append({ role, parts: [{ type: "text", text: role }] });
  const used = { usage: { input: 9, output: 1 }, model: "a-model" };
  // What was said before the gateway saw it came with the first request.
  for (let turn = 0; turn < 3; turn++) await say("user").then(() => say("assistant"));
  await say("user");
  await line.records.append("request", requestOf());
  await line.endStep(used);
  await say("assistant");
  await line.records.append("request", requestOf({ kind: "compaction" }));
  await line.endStep(used);
  await say("user");
  await say("assistant");
  await line.records.append("request", requestOf());
  await line.endStep(used);
  await line.records.append("request", requestOf({ incomplete: true }));
  await line.endStep(used);
  const rows = (await source.requests?.(line.id, 1, 9))?.requests ?? [];
  expect(rows.map(({ call }) => call)).toEqual([4, null, 5, null]);
  expect((await source.window(line.id, 5)).lastSeq).toBe(9);
});

it("stand in a single file, masked", async () => {
  const { main, agent, manager, source } = await lines(createMask({ rules: [] }));
  const secret = `ghp_${"a1B2".repeat(9)}`;
  await (await manager.resume(main)).records.append("request", requestOf({ stop: secret }));
  const data = await encodeSessions(source, [main, agent], { mask: createMask() });
  const file = fileSource(data);
  expect((await file.session(main)).line).toBeDefined();
  const all = await source.requests?.(main, 1, 9);
  expect(all?.total).toBe(5);
  expect((await file.requests?.(main, 2, 3))?.requests).toEqual(all?.requests.slice(1, 3));
  expect((await file.requests?.(agent, 1, 9))?.total).toBe(1);
  expect(JSON.stringify(data)).not.toContain(secret);
});

it("are told without reading the usage of all other calls", async () => {
  const { store, line, source } = await lineOf();
  for (let number = 1; number <= 200; number++) {
    await line.records.append("request", requestOf());
    if (number % 3 > 0) await line.endStep({ usage: { input: number }, model: "a-model" });
  }
  let read = 0;
  const readAll = store.read.bind(store);
  vi.spyOn(store, "read").mockImplementation(async function* (scope: Scope, id: string, query: ReadQuery) {
    for await (const record of readAll(scope, id, query)) {
      if (query.kind === "usage") read++;
      yield record;
    }
  } as typeof store.read);
  // Whether any call names its window is found out once.
  await source.calls(line.id, 1, 1);
  for (const [from, to] of [
    [1, 1],
    [99, 102],
    [199, 200],
  ] as const) {
    read = 0;
    const used = (await source.requests?.(line.id, from, to))?.requests.map(({ usage }) => usage?.input ?? null);
    const numbers = Array.from({ length: to - from + 1 }, (_, place) => from + place);
    expect(used).toEqual(numbers.map((number) => (number % 3 > 0 ? number : null)));
    expect(read).toBeLessThan(40);
  }
});

it("say how they went", async () => {
  const { main, source } = await lines();
  const rows = (await source.requests?.(main, 1, 9))?.requests ?? [];
  expect(rows.map((row) => requestWords(row))).toEqual([
    { words: "200 · end_turn", isBad: false },
    { words: "529 · overloaded_error: Overloaded", isBad: true },
    { words: "200 · end_turn", isBad: false },
    {
      words: expect.stringMatching(/^200 · bypassed: slow-store · .* 4,321 tokens · mended: .* · end_turn$/),
      isBad: false,
    },
  ]);
});
