/** LangChain's real agent with Windrow in it: what its model was given, what its state keeps, what the session holds. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createMiddleware, fakeModel, HumanMessage, summarizationMiddleware, tool } from "langchain";
import { MemorySaver } from "@langchain/langgraph";
import { langchainMessages, windowMiddleware } from "windrow/langchain";
import { SessionManager } from "windrow";
import { profileOf } from "windrow/window";
import { checkWindows, fired, killed, throwingStore, work } from "../kit/kit.mjs";
import { aiMessage, inWindrow, kept, scripted, toolTokens } from "./host.mjs";

const budget = 8_000;
const profile = profileOf("openai-chat");
const { version } = JSON.parse(await readFile(new URL("node_modules/langchain/package.json", import.meta.url), "utf8"));

let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-interop-"));
});

after(() => rm(folder, { recursive: true }));

/** On disk where a name is given, else in memory. */
const open = (name, options = {}) =>
  SessionManager.open({ store: name ? join(folder, name) : "ram:", budget, ...options });

const twins = new Map();

/** The messages of an agent without Windrow that makes as many calls. */
function unmanaged(calls) {
  const messages =
    twins.get(calls.length) ??
    scripted(calls)
      .agent.invoke({ messages: [new HumanMessage("Fix the build.")] }, { recursionLimit: 500 })
      .then((state) => state.messages);
  twins.set(calls.length, messages);
  return messages;
}

function check(windows, events) {
  const sent = events.filter(({ type }) => type === "window-sent");
  assert.deepEqual(
    events.filter(({ type }) => type !== "window-sent"),
    [],
  );
  assert.equal(sent.length, windows.length);
  const epochs = sent.map(({ report }) => report.epoch);
  const beside = toolTokens();
  checkWindows(windows.map(inWindrow), { profile, budget, epochs, beside });
  return epochs.at(-1);
}

for (const way of ["alone", "with a session", "with a manager and a checkpointer"]) {
  test(`windows ${way}: valid, in budget, growing at their end; the agent's own messages whole and raw`, async () => {
    const calls = work(44);
    const events = [];
    const on = (event) => events.push(event);
    const manager = await open("windows");
    const where = { "alone": { budget }, "with a session": { session: await manager.create() } }[way] ?? { manager };
    const counts = { wrapModelCall: 0, wrapToolCall: 0 };
    const watching = createMiddleware({
      name: "watch",
      wrapModelCall: (request, handler) => (counts.wrapModelCall++, handler(request)),
      wrapToolCall: (request, handler) => (counts.wrapToolCall++, handler(request)),
    });
    const saved = way.includes("checkpointer");
    const { agent, windows } = scripted(calls, {
      middleware: [watching, windowMiddleware({ ...where, on })],
      ...(saved && { checkpointer: new MemorySaver() }),
    });
    const config = { recursionLimit: 500, ...(saved && { configurable: { thread_id: "one" } }) };
    const { messages } = await agent.invoke({ messages: [new HumanMessage("Fix the build.")] }, config);
    const epochs = check(windows, events);
    assert(epochs > 1, `${epochs} epochs`);
    assert.equal(messages.filter(({ type }) => type === "tool").length, calls.length);
    assert.deepEqual(kept(messages), kept(await unmanaged(calls)));
    if (saved) {
      const { values } = await agent.graph.getState(config);
      assert.equal(values._windrow.window.epoch, epochs);
      const session = await manager.session(values._windrow.session);
      assert.equal(session.stats().messages, messages.length);
      assert.equal(session.stats().state.toolCallCount, calls.length);
      fired({ host: "LangChain", version, fired: counts, calls: windows.length, epochs });
    }
    await manager.close();
  });
}

test("a process that is killed in the middle of a run loses nothing acknowledged, and the run goes on", async () => {
  const store = join(folder, "killed");
  const job = fileURLToPath(new URL("job.mjs", import.meta.url));
  const acknowledged = await killed(job, { after: 31, args: [store, "44"] });
  const [id] = acknowledged[0].split(" ");
  const manager = await SessionManager.open({ store, budget });
  const session = await manager.resume(id);
  const restored = await langchainMessages(session);
  assert(restored.length >= acknowledged.length, `${restored.length} of ${acknowledged.length}`);
  const whole = kept(await unmanaged(work(44)));
  const plain = restored.map(({ id: _id, ...message }) => message);
  plain.forEach((message, place) => {
    for (const [name, value] of Object.entries(message)) {
      assert.deepEqual(value, whole[place][name], `${name} of message ${place}`);
    }
  });

  const done = new Set(restored.flatMap((message) => (message.type === "tool" ? [message.tool_call_id] : [])));
  const called = restored.findLast(({ type }) => type === "ai").tool_calls.filter((call) => !done.has(call.id));
  const answered = called.map((call) => ({ type: "tool", content: "[interrupted]", tool_call_id: call.id }));
  const events = [];
  const left = work(44).filter(
    (call) => !restored.some((message) => message.tool_calls?.some((one) => one.id === call.id)),
  );
  const again = scripted(left, { middleware: [windowMiddleware({ session, on: (event) => events.push(event) })] });
  const { messages } = await again.agent.invoke({ messages: [...restored, ...answered] }, { recursionLimit: 500 });
  check(again.windows, events);
  assert.equal(session.stats().messages, messages.length);
  assert.deepEqual(
    messages.map(({ tool_call_id: call }) => call).filter((call) => call !== undefined),
    work(44).map((call) => call.id),
  );
  await manager.close();
});

test("a store that throws lets the run finish with the agent's own messages, and one event", async () => {
  const manager = await SessionManager.open({ store: await throwingStore(), budget });
  const events = [];
  const on = (event) => events.push(event);
  const { agent, windows } = scripted(work(44), { middleware: [windowMiddleware({ manager, on })] });
  const { messages } = await agent.invoke({ messages: [new HumanMessage("Fix the build.")] }, { recursionLimit: 500 });
  assert.deepEqual(kept(messages), kept(await unmanaged(work(44))));
  assert.equal(windows.at(-1).length, messages.length, "the system prompt, and all but the last answer");
  assert.equal(events.filter(({ type }) => type === "adapter-failed").length, 1);
});

test("the next turns of a thread, also in another process, continue its window; nothing is journalled twice", async () => {
  const checkpointer = new MemorySaver();
  const config = { recursionLimit: 500, configurable: { thread_id: "one" } };
  const [calls, later] = [work(24), work(48).slice(24)];
  const first = await open("turns");
  const before = scripted(calls, { checkpointer, middleware: [windowMiddleware({ manager: first })] });
  await before.agent.invoke({ messages: [new HumanMessage("Fix the build.")] }, config);
  await first.close();

  const second = await open("turns");
  const events = [];
  const on = (event) => events.push(event);
  const middleware = [windowMiddleware({ manager: second, on })];
  const after = scripted(later, { checkpointer, middleware });
  const { messages, _windrow: hidden } = await after.agent.invoke({ messages: [new HumanMessage("And now?")] }, config);
  assert.equal(hidden, undefined, "the state's field is private");
  check(after.windows, events);
  if (!events[0].report.opened) {
    const [was, is] = [before.windows.at(-1), after.windows[0]].map((window) => kept(window));
    assert.deepEqual(is.slice(0, was.length), was);
  }
  const { values } = await after.agent.graph.getState(config);
  const session = await second.session(values._windrow.session);
  assert.equal(session.stats().messages, messages.length);
  assert.deepEqual(
    (await langchainMessages(session)).map(({ id }) => id),
    messages.map(({ id }) => id),
  );
  await second.close();
});

const inputs = { "with other words": { messages: [new HumanMessage("Do something else.")] }, "as it was": null };

for (const way of Object.keys(inputs)) {
  test(`a thread that goes on from an earlier checkpoint, ${way}, gets a session that begins as the other one`, async () => {
    const checkpointer = new MemorySaver();
    const config = { recursionLimit: 500, configurable: { thread_id: "one" } };
    const manager = await open();
    const events = [];
    const middleware = [windowMiddleware({ manager, on: (event) => events.push(event) })];
    const first = scripted(work(16), { checkpointer, middleware });
    const whole = await first.agent.invoke({ messages: [new HumanMessage("Fix the build.")] }, config);
    const { values } = await first.agent.graph.getState(config);
    let earlier;
    for await (const state of first.agent.graph.getStateHistory(config)) {
      const { length } = state.values.messages ?? [];
      if (length > 9 && state.next.includes("model_request")) earlier = state.config;
    }
    const other = scripted(work(20).slice(16), { checkpointer, middleware });
    const { messages } = await other.agent.invoke(inputs[way], { ...config, ...earlier });
    assert(messages.length < whole.messages.length, `${messages.length} messages`);
    const { values: forked } = await other.agent.graph.getState(config);
    assert.notEqual(forked._windrow.session, values._windrow.session);
    assert.deepEqual(
      events.filter(({ type }) => type !== "window-sent"),
      [],
    );
    const ids = async (id) => (await langchainMessages(await manager.session(id))).map((message) => message.id);
    assert.deepEqual(
      await ids(forked._windrow.session),
      messages.map(({ id }) => id),
    );
    assert.deepEqual(
      await ids(values._windrow.session),
      whole.messages.map(({ id }) => id),
    );
    await manager.close();
  });
}

test("the model calls the recall tool for what left its window, and gets it", async () => {
  const calls = work(24);
  const [wanted] = calls[1].output.split("\n").slice(-1);
  const script = [
    ...calls.map(({ id, name, input }) => ({ content: "", tool_calls: [{ id, name, args: input }] })),
    { content: "", tool_calls: [{ id: "ask", name: "recall", args: { query: wanted } }] },
    { content: "Found." },
  ];
  for (const where of [{ session: await (await open()).create() }, { budget }]) {
    const { agent, windows } = scripted(calls, { answers: script, middleware: [windowMiddleware(where)] });
    const { messages } = await agent.invoke(
      { messages: [new HumanMessage("Fix the build.")] },
      { recursionLimit: 500 },
    );
    const result = messages.find((message) => message.tool_call_id === "ask");
    assert(result.content.includes(wanted), result.content);
    assert.match(JSON.stringify(kept(windows.at(-2))), /\bm\d+/, "the window names what left it");
  }
});

test("after another history took the place of the log's, recall answers from what the notes number", async () => {
  const calls = work(24);
  const events = [];
  const middleware = [windowMiddleware({ session: await (await open()).create(), on: (event) => events.push(event) })];
  const run = (answers, asked) =>
    scripted(calls, { answers, middleware }).agent.invoke(
      { messages: [new HumanMessage(asked)] },
      { recursionLimit: 500 },
    );
  await run([{ content: "Hello." }], "Say hello.");
  const { messages } = await run(
    [
      ...calls.map(({ id, name, input }) => ({ content: "", tool_calls: [{ id, name, args: input }] })),
      { content: "", tool_calls: [{ id: "ask", name: "recall", args: { id: "m3" } }] },
      { content: "Found." },
    ],
    "Fix the build.",
  );
  assert.equal(events.filter(({ type }) => type === "history-replaced").length, 1);
  const result = messages.find((message) => message.tool_call_id === "ask");
  assert(result.content.includes(calls[0].output.split("\n")[20]), result.content);
});

test("two threads of one middleware without a session recall each its own", async () => {
  const calls = work(24);
  const middleware = [windowMiddleware({ budget })];
  const ask = (id) => ({ content: "", tool_calls: [{ id: "ask", name: "recall", args: { id } }] });
  const work24 = calls.map(({ id, name, input }) => ({ content: "", tool_calls: [{ id, name, args: input }] }));
  // The other thread runs before this one's answer is handed on: its window is the newest when this one recalls.
  const between = createMiddleware({
    name: "between",
    wrapModelCall: async (request, handler) => {
      const answer = await handler(request);
      const { agent: other } = scripted([], { answers: [{ content: "Hello." }], middleware });
      if (request.messages.length > 2 * calls.length) await other.invoke({ messages: [new HumanMessage("Hello?")] });
      return answer;
    },
  });
  const { agent } = scripted(calls, {
    answers: [...work24, ask("m3"), { content: "Found." }],
    middleware: [between, ...middleware],
  });
  const { messages } = await agent.invoke({ messages: [new HumanMessage("Fix it.")] }, { recursionLimit: 500 });
  const result = messages.find((message) => message.tool_call_id === "ask");
  assert(result.content.includes(calls[0].output.split("\n")[20]), result.content);
});

test("calls that end in another order are journalled in the order of their calls, and as soon as they may", async () => {
  const manager = await open();
  const session = await manager.create();
  const seen = [];
  let release;
  const slow = tool(
    async ({ path }) => {
      if (path === "first") await new Promise((done) => (release = done));
      else release();
      return path;
    },
    { name: "read", description: "Reads.", schema: { type: "object", properties: { path: { type: "string" } } } },
  );
  const called = ["first", "second"].map((path) => ({ id: path, name: "read", args: { path } }));
  const answers = [{ content: "", tool_calls: called }, { content: "Done." }];
  const { agent } = scripted([], { answers, tools: [slow], middleware: [windowMiddleware({ session })] });
  const { messages } = await agent.invoke({ messages: [new HumanMessage("Read both.")] });
  for await (const message of session.messages()) seen.push(...message.parts.map((part) => part.callId));
  assert.deepEqual(seen, [undefined, "first", "second", "first", "second", undefined]);
  assert.equal(session.stats().messages, messages.length);
  assert.deepEqual(await session.inDoubt(), []);
  await manager.close();
});

/** What LangChain's own summaries leave of an agent's messages, and what their model is asked. */
async function summarized({ history, calls, answer }) {
  const asked = [];
  let model = fakeModel();
  for (let left = 40; left > 0; left--) {
    model = model.respond((messages) => {
      asked.push(messages.map(({ text }) => text).join("\n"));
      return answer();
    });
  }
  const middleware = [summarizationMiddleware({ model, trigger: { tokens: 6_000 }, keep: { messages: 4 } })];
  const { agent } = scripted(calls, { middleware });
  const { messages } = await agent.invoke({ messages: history }, { recursionLimit: 500 });
  return { messages, asked };
}

test("LangChain's own summary, where its model throws, wipes the agent's messages", async () => {
  const history = [new HumanMessage("Fix the build.")];
  const answer = () => {
    throw new Error("503 overloaded");
  };
  const { messages } = await summarized({ history, calls: work(24), answer });
  const whole = await unmanaged(work(24));
  assert(messages.length < whole.length / 2, `${messages.length} of ${whole.length}: LangChain has mended it`);
  assert(JSON.stringify(kept(messages)).includes("503 overloaded"));
  assert(!JSON.stringify(kept(messages)).includes("Fix the build."));
});

const failing = {
  "throws": async () => {
    throw new Error("503 overloaded");
  },
  "answers nothing": async () => ({ text: "", usage: {}, finish: "stop" }),
  "is cut off": async () => ({ text: "The user wants", usage: {}, finish: "length" }),
};

for (const what of Object.keys(failing)) {
  test(`a summary that ${what} takes nothing out of the history`, async () => {
    const summarizer = failing[what];
    const strategy = { use: "summary-at-threshold" };
    const manager = await open(undefined, { strategy, summarizer, compaction: "blocking" });
    const session = await manager.create();
    const events = [];
    const calls = work(24);
    const middleware = [windowMiddleware({ session, on: (event) => events.push(event) })];
    const { agent, windows } = scripted(calls, { middleware });
    const { messages } = await agent.invoke(
      { messages: [new HumanMessage("Fix the build.")] },
      { recursionLimit: 500 },
    );
    check(windows, events);
    assert.deepEqual(kept(messages), kept(await unmanaged(calls)));
    assert.equal(session.stats().messages, messages.length);
    for (const window of windows) assert(!JSON.stringify(kept(window)).includes("overloaded"));
    assert(windows.every((window) => JSON.stringify(kept(window)).includes("Fix the build.")));
    await manager.close();
  });
}

/** A talk with a fact in every question. */
const facts = Array.from({ length: 59 }, (_, index) => `fact-${index}-${(index * 7919) % 10007}`);
const talk = () =>
  facts.flatMap((fact, index) => [
    new HumanMessage(`Remember ${fact}. ${"It matters for the release. ".repeat(20)}`),
    aiMessage({ content: `Noted, number ${index}.` }),
  ]);

test("a summariser is given all that it is to summarise; LangChain's own only the newest 4,000 tokens of it", async () => {
  const requests = [];
  const summarizer = Object.assign(
    async ({ prompt }) => {
      requests.push(prompt);
      return { text: "The build of orders, billing and stock was looked at.", usage: {}, finish: "stop" };
    },
    { contextWindow: 100_000 },
  );
  const manager = await open(undefined, { summarizer, budget: 16_000, compaction: "blocking" });
  const session = await manager.create();
  const { agent } = scripted([], { middleware: [windowMiddleware({ session })] });
  const { messages } = await agent.invoke({ messages: [...talk(), new HumanMessage("What now?")] });
  await session.compact();
  const given = requests.join("\n");
  const newest = 20;
  // The first message stays in every window, in its own words.
  const missing = facts.slice(1, -newest).filter((fact) => !given.includes(fact));
  assert.deepEqual(missing, [], `${requests.length} requests`);
  assert.equal(session.stats().messages, messages.length);
  await manager.close();

  const answer = () => aiMessage({ content: "They talked." });
  const theirs = await summarized({ history: [...talk(), new HumanMessage("What now?")], calls: [], answer });
  assert.equal(theirs.asked.length, 1);
  const unseen = facts.slice(1, -newest).filter((fact) => !theirs.asked[0].includes(fact));
  assert(unseen.length > 10, `${unseen.length} facts unseen: LangChain has mended it`);
});
