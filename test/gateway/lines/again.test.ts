/** Requests that come again in some other way: to a group that left the memory, edited behind epochs, with another time of day. */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SentAnswer } from "windrow/gateway";
import type { NewRecord } from "windrow/store/author";
import type { JsonObject } from "../../kit/inside/message.ts";
import { ramStore } from "../../kit/inside/store.ts";
import { tokensOf } from "./counting.ts";
import { work } from "./agent.ts";
import { another, answered, assistant, broken, exchange, named, openStage, requestOf, session, user } from "./stage.ts";
import { listed } from "../../kit/sessions.ts";

const budget = 40_000;

/** The messages of a task in which every answer was followed by a word of the user's. */
const after = (...answers: readonly string[]): readonly JsonObject[] => [
  user("Go."),
  ...answers.flatMap((text) => [assistant(text), user(`After ${text}`)]),
];

test("a conversation whose answer is waited for stays in memory, however many others come", async () => {
  const stage = await openStage({ budget, mostGroups: 1 });
  const sending = await stage.send(after());
  await stage.exchange([user("Other.")], "Yes.", { headers: named("session-2") });
  await sending.keep(answered("One."));
  const answers = ["One.", "Two.", "Three."];
  for (const at of answers.keys()) {
    const next = await stage.exchange(after(...answers.slice(0, at + 1)), answers[at + 1] ?? "End.");
    expect(next.note).toMatch(/^composed; epoch=0/);
  }
  expect(stage.events).toEqual([]);
  expect(await stage.sessions()).toHaveLength(2);
});

test("a conversation whose answer is waited for stays among the many of its client", { tags: ["slow"] }, async () => {
  const stage = await openStage({ store: ramStore() });
  const sending = await stage.send(after());
  for (let at = 0; at < 257; at++) await stage.exchange([user(`Task ${at}.`)], "Done.");
  const again = await stage.send(after());
  for (const one of [sending, again]) await one.keep(answered("One."));
  expect(await stage.sessions()).toHaveLength(258);
});

test("a conversation that comes back while its session is being closed is opened behind that", async () => {
  const stage = await openStage({ budget, mostGroups: 1 });
  await stage.exchange(after(), "Gone.", { headers: named("a") });
  const [, again] = await Promise.all([
    stage.exchange(after(), "Gone.", { headers: named("b") }),
    stage.exchange(after("Gone."), "On.", { headers: named("a") }),
  ]);
  expect(again.note).toMatch(/^composed; epoch=0/);
  expect(stage.events).toEqual([]);
});

test("of conversations that begin alike the newest is gone on from, also behind a rest", async () => {
  const stage = await openStage({ budget, mostGroups: 1 });
  await stage.exchange(after(), "One.");
  await stage.exchange(after(), "Two.");
  await stage.exchange([user("Other.")], "Yes.", { headers: named("session-2") });
  await stage.exchange(after("Three."), "Gone on.");
  const found = await Promise.all(
    (await stage.sessions()).map(async ({ metadata: { uuid, forkedFrom } }) => {
      return { uuid, from: forkedFrom?.uuid, text: JSON.stringify(await stage.messages(uuid)) };
    }),
  );
  const newest = found.find(({ text }) => text.includes("Two."));
  expect(found.find(({ text }) => text.includes("Gone on."))?.from).toBe(newest?.uuid);
});

test.each([9, 31, 41])("message %i is edited behind epochs and a restart", { tags: ["slow"] }, async (at) => {
  const stage = await openStage({ budget });
  const { history } = await work(stage, 26);
  await stage.restart();
  const results = history[at - 1]!["content"] as JsonObject[];
  const edited = [...history.slice(0, at - 1), user([...results, { type: "text", text: "Look again." }])];
  const { bodies } = await work(stage, 10, { history: edited });
  expect(Math.max(...bodies.map(tokensOf))).toBeLessThanOrEqual(budget);
  const [first, fork, ...others] = await stage.sessions();
  expect(others).toEqual([]);
  expect(fork!.metadata.forkedFrom).toEqual({ uuid: first!.metadata.uuid, at: at - 1 });
});

test.each(["a restart", "no restart"])(
  "each of many conversations that begin alike is known again behind %s",
  { tags: ["slow"], timeout: 60_000 },
  async (between) => {
    const stage = await openStage();
    const first = user("Follow the rules of the house.");
    const histories = Array.from({ length: 50 }, (_, at) => [first, assistant("Yes."), user(`Task ${at}`)]);
    const go = async (history: JsonObject[], answer: string): Promise<void> => {
      await stage.exchange(history, answer, { headers: {} });
      history.push(assistant(answer), user("More."));
    };
    for (const [at, history] of histories.entries()) await go(history, `Done ${at}`);
    const before = await stage.lengths();
    if (between === "a restart") await stage.restart();
    for (const at of [0, 25, 49, 1, 0]) await go(histories[at]!, "More is done.");
    const lengths = await stage.lengths();
    expect(lengths).toHaveLength(before.length);
    expect(lengths[0]).toBe(8);
  },
);

test("forks that a kill cut short while they were made are no lines, however many there are", async () => {
  const stage = await openStage();
  await stage.exchange(after(), "One.");
  await stage.exchange(after("One."), "Two.");
  await stage.exchange(after("One.", "Two."), "Three.");
  const [parent] = await stage.sessions();
  const { uuid, taskKey, config } = parent!.metadata;
  const copied: readonly NewRecord[] = await listed(stage.store.read({}, uuid, { kind: "message", to: 2 }));
  for (let fork = 0; fork < 17; fork++) {
    const createdAt = new Date(Date.now() + 1_000 + fork).toISOString();
    const forkedFrom = { uuid, at: 5 };
    const lock = await stage.store.create({}, { uuid: randomUUID(), createdAt, taskKey, config, forkedFrom });
    await stage.store.append(lock, copied.slice(0, fork % 3));
    await lock.release();
  }
  await stage.restart();
  await stage.exchange(after("One.", "Two.", "Three."), "Four.");
  expect(await stage.sessions()).toHaveLength(18);
  expect(await stage.messages(uuid)).toHaveLength(8);
});

test("two hedges of one request: the answer that the client goes on with is in the log, the other in its own", async () => {
  const stage = await openStage({ budget });
  const [one, two] = [await stage.send(after()), await stage.send(after())];
  await two.keep(answered("Second."));
  await one.keep(answered("First."));
  await stage.exchange(after("First."), "Gone on.");
  const texts = (await stage.logs()).map((log) => JSON.stringify(log));
  expect(new Set(await stage.lengths())).toEqual(new Set([2, 4]));
  expect(texts.find((text) => text.includes("Gone on."))).toContain('"First."');
  expect(texts.find((text) => !text.includes("Gone on."))).toContain('"Second."');
});

test("a session that another gateway went on with is read again, and held by nobody else", async () => {
  const stage = await openStage({ budget });
  await stage.exchange(after(), broken("Go"));
  // The sessions are closed as those that idle are, while the lines stay in memory.
  await stage.lines.close();
  const other = await another(stage, { budget });
  await other.exchange(after(), "Gone.");
  await other.exchange(after("Gone."), "Gone on.");
  await other.lines.close();
  const late = await stage.exchange(after(), broken("Too late."));
  expect(late.note).toMatch(/^composed; epoch=0/);
  expect(late.body.equals(late.raw)).toBe(true);
  const next = await stage.exchange(after("Gone.", "Gone on."), "Done.");
  expect(next.note).toMatch(/^composed; epoch=0/);
  // The late request asks again for an answer that was given: it has a fork.
  const [info, ...others] = await stage.sessions();
  expect(others.map(({ metadata }) => metadata.forkedFrom)).toEqual([{ uuid: info!.metadata.uuid, at: 1 }]);
  expect(await stage.messages(info!.metadata.uuid)).toHaveLength(6);
});

test("a key that a provider quotes in its error is in no file", async () => {
  const stage = await openStage();
  const key = "corp-canary-7f3e";
  const message = `${key} and ${key}-bearer are no keys; ${key} is too old.`;
  const answer = { isComplete: false, error: { type: "authentication_error", message } };
  const refused: SentAnswer = { ...answered(""), status: 401, answer };
  const headers = { ...session, "x-api-key": key, "authorization": `Bearer ${key}-bearer` };
  await stage.exchange([user("Go.")], refused, { headers });
  const contents = [{ role: "user", parts: [{ text: "Go." }] }];
  const query = requestOf({ contents }, {}, `/v1beta/models/m:generateContent?key=${key}`);
  await exchange(stage.lines, query, refused);
  await stage.lines.close();
  const files = (await readdir(stage.folder, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), "utf8")));
  expect(texts.join("")).toContain("authentication_error");
  expect(texts.join("")).toContain("[API_KEY] is too old");
  expect(texts.filter((text) => text.includes(key))).toEqual([]);
});
