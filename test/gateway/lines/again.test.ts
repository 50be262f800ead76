/** Requests that come again in some other way: to a group that left the memory, edited behind epochs, with another time of day. */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLines } from "windrow/gateway";
import type { SentAnswer, WireRequest } from "windrow/gateway";
import { openStore } from "windrow/store";
import type { NewRecord } from "windrow/store/author";
import type { JsonObject } from "../../kit/inside/message.ts";
import { countMessages, loadCounter } from "./counting.ts";
import { faultsOf, runAgent } from "./agent.ts";
import { answered, bodyOf, broken, exchange, openStage, requestOf, secret, user } from "./stage.ts";

const session = { "x-claude-code-session-id": "session-1" };
const budget = 40_000;
const assistant = (content: string): JsonObject => ({ role: "assistant", content });

test("a conversation whose answer is waited for stays in memory, however many others come", async () => {
  const stage = await openStage({ budget, mostGroups: 1 });
  const history = [user("Go.")];
  const ask = (): WireRequest => requestOf(bodyOf(history), session);
  const sending = await stage.lines.send(ask(), "tenant-a");
  const other = requestOf(bodyOf([user("Other.")]), { "x-claude-code-session-id": "session-2" });
  await exchange(stage.lines, other, answered("Yes."));
  await sending.keep(answered("Gone."));
  for (const text of ["Gone.", "On.", "And on."]) {
    history.push(assistant(text), user(`After ${text}`));
    const next = await exchange(stage.lines, ask(), answered(text === "Gone." ? "On." : "And on."));
    expect(next.note).toMatch(/^composed; epoch=0/);
  }
  expect(stage.events).toEqual([]);
  expect(await stage.sessions()).toHaveLength(2);
});

test("a conversation that comes back while its session is being closed is opened behind that", async () => {
  const stage = await openStage({ budget, mostGroups: 1 });
  const asked = (name: string, history: readonly JsonObject[]): WireRequest =>
    requestOf(bodyOf(history), { "x-claude-code-session-id": name });
  await exchange(stage.lines, asked("a", [user("Go.")]), answered("Gone."));
  const [, again] = await Promise.all([
    exchange(stage.lines, asked("b", [user("Go.")]), answered("Gone.")),
    exchange(stage.lines, asked("a", [user("Go."), assistant("Gone."), user("On.")]), answered("On.")),
  ]);
  expect(again.note).toMatch(/^composed; epoch=0/);
  expect(stage.events).toEqual([]);
});

test.each([9, 31, 41])(
  "message %i is edited behind epochs, also over a restart: thinking fits, budget holds",
  { tags: ["slow"] },
  async (at) => {
    const stage = await openStage({ budget });
    const tokensOf = await loadCounter();
    const { history } = await runAgent({ rounds: 26, headers: session, lines: () => stage.lines });
    await stage.restart();
    const results = history[at - 1]!["content"] as JsonObject[];
    const edited = [...history.slice(0, at - 1), user([...results, { type: "text", text: "Look again." }])];
    const after = await runAgent({ rounds: 10, headers: session, lines: () => stage.lines, history: edited });
    expect(after.bodies.flatMap((body) => faultsOf(body))).toEqual([]);
    expect(Math.max(...after.bodies.map((body) => countMessages(tokensOf, body)))).toBeLessThanOrEqual(budget);
    const [first, fork, ...others] = await stage.sessions();
    expect(others).toEqual([]);
    expect(fork!.metadata.forkedFrom).toEqual({ uuid: first!.metadata.uuid, at: at - 1 });
  },
);

test.each(["a restart", "no restart"])(
  "each of many conversations that begin alike is known again behind %s",
  { tags: ["slow"], timeout: 60_000 },
  async (between) => {
    const stage = await openStage();
    const first = user("Follow the rules of the house.");
    const histories = Array.from({ length: 50 }, (_, at) => [first, assistant("Yes."), user(`Task ${at}`)]);
    for (const [at, history] of histories.entries()) {
      await exchange(stage.lines, requestOf(bodyOf(history)), answered(`Done ${at}`));
      history.push(assistant(`Done ${at}`), user("More."));
    }
    const before = await stage.sessions();
    if (between === "a restart") await stage.restart();
    for (const at of [0, 25, 49, 1, 0]) {
      const history = histories[at]!;
      await exchange(stage.lines, requestOf(bodyOf(history)), answered("More is done."));
      history.push(assistant("More is done."), user("More."));
    }
    expect(await stage.sessions()).toHaveLength(before.length);
    const told = await stage.messages(before[0]!.metadata.uuid);
    expect(told.map(({ role }) => role)).toEqual(
      Array.from({ length: 8 }, (_, place) => (place % 2 === 0 ? "user" : "assistant")),
    );
  },
);

test("forks that a kill cut short while they were made are no lines, however many there are", async () => {
  const stage = await openStage();
  const history = [user("Go.")];
  for (const text of ["One.", "Two.", "Three."]) {
    await exchange(stage.lines, requestOf(bodyOf(history), session), answered(text));
    history.push(assistant(text), user(`After ${text}`));
  }
  const [parent] = await stage.sessions();
  const { uuid, taskKey, config } = parent!.metadata;
  const copied: NewRecord[] = [];
  for await (const record of stage.store.read({}, uuid, { kind: "message", to: 2 })) copied.push(record);
  for (let fork = 0; fork < 17; fork++) {
    const createdAt = new Date(Date.now() + 1_000 + fork).toISOString();
    const forkedFrom = { uuid, at: 5 };
    const lock = await stage.store.create({}, { uuid: randomUUID(), createdAt, taskKey, config, forkedFrom });
    await stage.store.append(lock, copied.slice(0, fork % 3));
    await lock.release();
  }
  await stage.restart();
  await exchange(stage.lines, requestOf(bodyOf(history), session), answered("Four."));
  const sessions = await stage.sessions();
  expect(sessions).toHaveLength(18);
  expect((await stage.messages(uuid)).map(({ role }) => role)).toEqual(
    Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? "user" : "assistant")),
  );
});

test("two hedges of one request: the answer that the client goes on with is in the log, the other in its own", async () => {
  const stage = await openStage({ budget });
  const start = [user("Go.")];
  const [one, two] = [
    await stage.lines.send(requestOf(bodyOf(start), session), "tenant-a"),
    await stage.lines.send(requestOf(bodyOf(start), session), "tenant-a"),
  ];
  await two.keep(answered("Second."));
  await one.keep(answered("First."));
  const history = [...start, assistant("First."), user("On.")];
  await exchange(stage.lines, requestOf(bodyOf(history), session), answered("Gone on."));
  const found = await stage.sessions();
  const texts = await Promise.all(
    found.map(async ({ metadata }) => (await stage.messages(metadata.uuid)).map(({ parts }) => JSON.stringify(parts))),
  );
  expect(texts.map(({ length }) => length).toSorted((left, right) => left - right)).toEqual([2, 4]);
  expect(texts.find(({ length }) => length === 4)!.join("")).toContain("First.");
  expect(texts.find(({ length }) => length === 2)!.join("")).toContain("Second.");
});

test("a session that another gateway went on with is read again, and held by nobody else", async () => {
  const stage = await openStage({ budget });
  const ask = (history: readonly JsonObject[]): WireRequest => requestOf(bodyOf(history), session);
  const history = [user("Go.")];
  await exchange(stage.lines, ask(history), broken("Go"));
  // The sessions are closed as those that idle are, while the lines stay in memory.
  await stage.lines.close();
  const store = await openStore(stage.folder);
  const other = await openLines({ store, secret, budget, mostWait: { whole: 60_000, append: 60_000 } });
  await exchange(other, ask(history), answered("Gone."));
  history.push(assistant("Gone."), user("On."));
  await exchange(other, ask(history), answered("Gone on."));
  await other.close();
  await store.close();
  const late = await exchange(stage.lines, ask(history.slice(0, 1)), broken("Too late."));
  expect(late.note).toMatch(/^composed; epoch=0/);
  expect(late.body.equals(ask(history.slice(0, 1)).call.body)).toBe(true);
  history.push(assistant("Gone on."), user("Further."));
  const next = await exchange(stage.lines, ask(history), answered("Done."));
  expect(next.note).toMatch(/^composed; epoch=0/);
  // The late request asks again for an answer that was given: it has a fork.
  const [info, ...others] = await stage.sessions();
  expect(others.map(({ metadata }) => metadata.forkedFrom)).toEqual([{ uuid: info!.metadata.uuid, at: 1 }]);
  expect(await stage.messages(info!.metadata.uuid)).toHaveLength(6);
});

test("a system prompt with the time of day is one conversation, and goes out as the client wrote it", async () => {
  const stage = await openStage({ budget });
  const chat: JsonObject[] = [user("Go.")];
  const ask = (system: string): WireRequest =>
    requestOf(
      { model: "gpt-4o", messages: [{ role: "system", content: system }, ...chat] },
      {},
      "/v1/chat/completions",
    );
  for (let turn = 0; turn < 4; turn++) {
    const request = ask(`You help. It is Tuesday, 2026-11-24 10:0${turn}:13.`);
    const sending = await exchange(stage.lines, request, answered(`Answer ${turn}.`));
    expect(sending.body).toBe(request.call.body);
    chat.push(assistant(`Answer ${turn}.`), user(`Turn ${turn}.`));
  }
  const [info, ...others] = await stage.sessions();
  expect(others).toEqual([]);
  expect(await stage.messages(info!.metadata.uuid)).toHaveLength(9);
  await exchange(stage.lines, ask("You translate. It is Tuesday, 2026-11-24 10:09:13."), answered("Other."));
  expect(await stage.sessions()).toHaveLength(2);
});

test("a key that a provider quotes in its error is in no file", async () => {
  const stage = await openStage();
  const key = "corp-canary-7f3e";
  const headers = { ...session, "x-api-key": key, "authorization": `Bearer ${key}-bearer` };
  const refused: SentAnswer = {
    ...answered("", { isComplete: false }),
    status: 401,
    answer: {
      isComplete: false,
      error: { type: "authentication_error", message: `${key} and ${key}-bearer are no keys; ${key} is too old.` },
    },
  };
  await exchange(stage.lines, requestOf(bodyOf([user("Go.")]), headers), refused);
  const query = requestOf(
    { contents: [{ role: "user", parts: [{ text: "Go." }] }] },
    {},
    `/v1beta/models/m:generateContent?key=${key}`,
  );
  await exchange(stage.lines, query, refused);
  await stage.lines.close();
  const files = (await readdir(stage.folder, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), "utf8")));
  expect(texts.join("")).toContain("authentication_error");
  expect(texts.join("")).toContain("[API_KEY] is too old");
  expect(texts.filter((text) => text.includes(key))).toEqual([]);
});
