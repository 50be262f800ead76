/** Facts: read by a model, each with a source; the newest wins, history stays, and what is forgotten is gone. */
import { expect, it } from "vitest";
import { loadCounter } from "windrow";
import type { Store } from "windrow";
import { factMemory, Facts, MemoryLog, offloadDue } from "windrow/memory";
import type { Model, ModelAnswer } from "windrow/model";
import { erase } from "windrow/ops";
import { forgetByUser } from "../kit/inside/memory.ts";
import { messageText } from "../kit/inside/message.ts";
import { ramStore } from "../kit/inside/store.ts";
import { asked, listed, openManager, openSession } from "../kit/sessions.ts";
import { everyRecord } from "./kit.ts";

/** A model that finds "NAME is called VALUE" in what it is given. */
function scripted(change: (facts: object[]) => unknown = (facts) => facts): Model & { calls: number } {
  const model = Object.assign(
    async ({ prompt }: { readonly prompt: string }): Promise<ModelAnswer> => {
      model.calls++;
      const facts = [...prompt.matchAll(/\[m(\d+) \w+\] [^\n]*?(?:The )?([\w ]+) is called (\w+)/g)].map(
        ([, seq, about, value]) => ({
          about,
          fact: `The ${about} is called ${value}.`,
          source: `m${seq}`,
          quote: `${about} is called ${value}`,
        }),
      );
      const text = `Here they are:\n${JSON.stringify(change(facts))}`;
      return { text, usage: { inputTokens: 10 } as never, finish: "stop" };
    },
    { calls: 0 },
  );
  return model;
}

async function told(store: Store, model: Model, texts: readonly string[], user?: string): Promise<string> {
  const scope = user === undefined ? {} : { user };
  const offload = { wait: true, lookEvery: Infinity };
  const session = await openSession({ store, memory: factMemory({ store, model, scope }), offload, ...scope });
  await session.append(texts.map(asked));
  await session.finish("completed");
  return session.id;
}

const texts = async (facts: Facts): Promise<readonly string[]> => (await facts.list()).map(({ text }) => text);

it("reads facts with their sources when a session has ended, once, and tells them at the next start", async () => {
  const store = ramStore();
  const model = scripted();
  const id = await told(store, model, ["Hello", "The staging database is called heron", "The queue is called wren"]);
  const facts = await new Facts(store, {}).list();
  expect(facts.map(({ text, sources }) => [text, sources])).toEqual([
    ["The staging database is called heron.", [{ sessionId: id, seq: 2, quote: "staging database is called heron" }]],
    ["The queue is called wren.", [{ sessionId: id, seq: 3, quote: "queue is called wren" }]],
  ]);
  const memory = factMemory({ store, model });
  const calls = model.calls;
  await memory.receive(id, [{ seq: 2, message: { id: "m", ...asked("The staging database is called heron") } }]);
  expect(model.calls).toBe(calls);
  const manager = await openManager({ store, memory, budget: 8_000 });
  const session = await manager.create({ bootstrap: "which staging database?" });
  await session.append("go");
  const window = (await session.compose()).messages.map(messageText).join("\n");
  expect(window).toContain("heron");
  expect(window).toContain(`${id} m2`);
  expect(window).not.toContain("wren");
});

it("lets the newest win, and keeps what it took the place of", async () => {
  const store = ramStore();
  await told(store, scripted(), ["The staging database is called heron"]);
  await told(store, scripted(), ["The staging database is called osprey", "The staging database is called osprey"]);
  const [fact, ...others] = await new Facts(store, {}).list();
  expect([fact?.text, others]).toEqual(["The staging database is called osprey.", []]);
  expect(fact?.history.map(({ text }) => text)).toEqual(["The staging database is called heron."]);
});

it("keeps no fact without a source that says it, and none that is no sentence", async () => {
  const store = ramStore();
  const wrong = [
    { about: "a", fact: "No source.", quote: "hello" },
    { about: "b", fact: "No such message.", source: "m99", quote: "hello" },
    { about: "c", fact: "Words that nobody said.", source: "m1", quote: "goodbye" },
    ...[" ", ".", "is"].map((quote) => ({ about: "d", fact: "No words.", source: "m1", quote })),
    { about: "", fact: "No subject.", source: "m1", quote: "hello" },
    { about: "f", fact: "x".repeat(1_000_000), source: "m1", quote: "hello" },
    "text",
    null,
    { about: "e", fact: "Right.", source: "m1", quote: "HELLO  there" },
  ];
  const model = scripted(() => wrong);
  await told(store, model, ["Hello there. It is noon."]);
  expect(await texts(new Facts(store, {}))).toEqual(["Right."]);
});

it("tries again where the model gives no list, and reads nothing twice after that", async () => {
  const store = ramStore();
  let broken = true;
  const model = scripted((facts) => (broken ? "I cannot" : facts));
  await told(store, model, ["The queue is called wren"]);
  expect(await texts(new Facts(store, {}))).toEqual([]);
  broken = false;
  await offloadDue(store, {}, factMemory({ store, model }), { all: true });
  expect(await texts(new Facts(store, {}))).toEqual(["The queue is called wren."]);
  await offloadDue(store, {}, factMemory({ store, model }), { all: true });
  expect(model.calls).toBe(2);
});

it("is corrected by hand, and forgotten with its history so that nothing of it is left", async () => {
  const store = ramStore();
  const kept = await told(store, scripted(), [
    "The staging database is called canaryheron",
    "The queue is called wren",
  ]);
  const facts = new Facts(store, {});
  const [fact] = await facts.list();
  await facts.correct(fact!.id, "The staging database is called canaryosprey.", "ann");
  const corrected = (await facts.list()).find(({ text }) => text.includes("osprey"));
  expect(corrected).toMatchObject({ correctedBy: "ann", sources: [], history: [{ id: fact!.id }] });
  const counter = await loadCounter("o200k");
  const passages = await factMemory({ store, model: scripted() }).query({ text: "staging database", counter });
  expect(passages[0]?.text).toContain("canaryosprey");
  expect(await facts.forget([fact!.id])).toHaveLength(2);
  const { ids } = new MemoryLog(store, {}, "facts");
  expect(JSON.stringify(await everyRecord(store, {}, ids))).not.toContain("canary");
  expect(await texts(facts)).toEqual(["The queue is called wren."]);
  await forgetByUser(store, {}, new Map([[undefined, [crypto.randomUUID()]]]));
  expect((await facts.list())[0]?.sources[0]?.sessionId).toBe(kept);
  await expect(facts.forget(["f-nothing"])).rejects.toMatchObject({ code: "not-found" });
});

it("goes with the session that said it, wherever it stands, and comes from no one else's", async () => {
  const store = ramStore();
  const ann = await told(store, scripted(), ["The staging database is called canaryheron"], "ann");
  await told(store, scripted(), ["The staging database is called osprey"], "bob");
  expect(await texts(new Facts(store, { user: "ann" }))).toEqual(["The staging database is called canaryheron."]);
  expect(await texts(new Facts(store, { user: "bob" }))).toEqual(["The staging database is called osprey."]);
  const [receipt] = await erase(store, [ann]);
  expect(receipt?.places.filter(({ kind, count }) => kind === "memory" && count > 0).map(({ place }) => place)).toEqual(
    expect.arrayContaining(["facts", "offloads"]),
  );
  expect(await texts(new Facts(store, { user: "ann" }))).toEqual([]);
  expect(await texts(new Facts(store, { user: "bob" }))).toHaveLength(1);
  const ids = (await listed(store.list({}))).map(({ metadata }) => metadata.uuid);
  const left = JSON.stringify([ids, await everyRecord(store, {}, ids)]);
  expect([left.includes("canary"), left.includes(ann)]).toEqual([false, false]);
});

it("has what was said last, also where the older session is read last", async () => {
  const store = ramStore();
  const reads = factMemory({ store, model: scripted() });
  const receive: typeof reads.receive = (...given) => (isDown ? Promise.reject(new Error()) : reads.receive(...given));
  let isDown = true;
  let now = Date.parse("2026-01-01T00:00:00Z");
  const memory = { ...reads, receive };
  const offload = { lookEvery: Infinity, wait: true };
  const manager = await openManager({ store, memory, now: () => new Date(now), offload });
  for (const name of ["heron", "stork"]) {
    const session = await manager.create();
    await session.append(`The database is called ${name}.`);
    await session.finish("completed");
    now += 86_400_000;
  }
  isDown = false;
  await offloadDue(store, {}, memory, { all: true });
  const [fact, ...others] = await new Facts(store, {}).list();
  expect(others).toEqual([]);
  expect([fact?.text, fact?.saidAt]).toEqual(["The database is called stork.", "2026-01-02T00:00:00.000Z"]);
  expect(fact?.history.map(({ text }) => text)).toEqual(["The database is called heron."]);
});
