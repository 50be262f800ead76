/** The real Genkit with Windrow in it: what its model was given, what its own history is, what the session holds. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { genkitMessages, windowMiddleware } from "windrow/genkit";
import { SessionManager } from "windrow";
import { profileOf } from "windrow/window";
import { checkWindows, fired, killed, throwingStore, work } from "../kit/kit.mjs";
import { inWindow, scripted, toolTokens } from "./host.mjs";

const budget = 8_000;
const profile = profileOf("pi");
const { version } = JSON.parse(await readFile(new URL("node_modules/genkit/package.json", import.meta.url), "utf8"));

let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-interop-"));
});

after(() => rm(folder, { recursive: true }));

const open = (name, options = {}) =>
  SessionManager.open({ store: join(folder, name), budget, profile: "pi", ...options });

function check(requests, events) {
  const sent = events.filter(({ type }) => type === "window-sent");
  assert.deepEqual(
    events.filter(({ type }) => type !== "window-sent"),
    [],
  );
  assert.equal(sent.length, requests.length);
  const epochs = sent.map(({ report }) => report.epoch);
  checkWindows(requests.map(inWindow), { profile, budget, epochs, beside: toolTokens() });
  return epochs.at(-1);
}

/** The middleware with its hooks counted. */
function counted(middleware, counts) {
  const wrap =
    (name, hook) =>
    (...given) => {
      counts[name] = (counts[name] ?? 0) + 1;
      return hook(...given);
    };
  const instantiate = () => {
    const { model, tool, tools } = middleware.instantiate();
    return { tools, model: wrap("model", model), tool: wrap("tool", tool) };
  };
  return { ...middleware, instantiate };
}

for (const way of ["alone", "with a session"]) {
  test(`windows ${way}: valid, in budget, growing at their end; Genkit's own history is an unmanaged twin's`, async () => {
    const calls = work(44);
    const events = [];
    const on = (event) => events.push(event);
    const manager = await open("windows");
    const where = way === "alone" ? { budget, profile: "pi" } : { session: await manager.create() };
    const counts = {};
    const { requests, run } = scripted(calls, { use: [counted(windowMiddleware({ ...where, on }), counts)] });
    const { messages } = await run("Fix the build.");
    const epochs = check(requests, events);
    assert(epochs > 1, `${epochs} epochs`);

    const twin = await scripted(calls).run("Fix the build.");
    assert.deepEqual(messages, twin.messages);
    assert.equal(counts.tool, calls.length);
    if (where.session) {
      const { state, messages: logged } = where.session.stats();
      assert.equal(state.toolCallCount, calls.length);
      assert.equal(state.llmCallCount, requests.length);
      assert.equal(logged, messages.length - 1, "all but the system prompt");
      assert.deepEqual(await where.session.inDoubt(), []);
      assert.deepEqual(await genkitMessages(where.session), messages.slice(1));
      fired({ host: "Genkit", version, fired: counts, calls: requests.length, epochs });
    }
    await manager.close();
  });
}

test("a model that gives no refs: starts, results and windows are paired all the same", async () => {
  const calls = work(30);
  const answers = calls.map(({ name, input }) => [{ toolRequest: { name, input } }]);
  const manager = await open("refs");
  const session = await manager.create();
  const events = [];
  const use = [windowMiddleware({ session, on: (event) => events.push(event) })];
  const { requests, run } = scripted(calls, { answers: [...answers, [{ text: "Done." }]], use });
  const { messages } = await run("Fix the build.");
  assert(check(requests, events) > 1);
  assert.deepEqual(
    messages,
    (await scripted(calls, { answers: [...answers, [{ text: "Done." }]] }).run("Fix the build.")).messages,
  );
  assert.deepEqual(await session.inDoubt(), []);
  assert.equal(session.stats().state.toolCallCount, calls.length);
  await manager.close();
});

test("a process that is killed in the middle of a run loses nothing acknowledged, and the run goes on", async () => {
  const store = join(folder, "killed");
  const job = fileURLToPath(new URL("job.mjs", import.meta.url));
  const acknowledged = await killed(job, { after: 31, args: [store, "44"] });
  const [id] = acknowledged[0].split(" ");
  const manager = await open("killed");
  const session = await manager.resume(id);
  const logged = await genkitMessages(session);
  assert(logged.length >= acknowledged.length, `${logged.length} of ${acknowledged.length}`);
  const twin = await scripted(work(44)).run("Fix the build.");
  assert.deepEqual(logged, twin.messages.slice(1, logged.length + 1));

  const events = [];
  const called = new Set(logged.flatMap(({ content }) => content.map(({ toolRequest }) => toolRequest?.ref)));
  const left = work(44).filter(({ id: ref }) => !called.has(ref));
  const use = [windowMiddleware({ session, on: (event) => events.push(event) })];
  const again = scripted(left, { use });
  const { messages } = await again.run("Go on.", { messages: logged });
  check(again.requests, events);
  assert.equal(session.stats().messages, messages.length);
  assert.deepEqual(messages.slice(0, logged.length), logged);
  await manager.close();
});

test("a store that throws lets the run finish with Genkit's own messages, and one event", async () => {
  const manager = await SessionManager.open({ store: await throwingStore(), budget });
  const events = [];
  const session = await manager.create();
  const use = [windowMiddleware({ session, on: (event) => events.push(event) })];
  const { requests, run } = scripted(work(), { use });
  assert.equal((await run("Fix the build.")).text, "The build is green.");
  const twin = scripted(work());
  await twin.run("Fix the build.");
  assert.deepEqual(requests.at(-1), twin.requests.at(-1));
  assert.equal(events.filter(({ type }) => type === "adapter-failed").length, 1);
});

test("the next turns of a conversation, also in another process, continue its window; nothing is journalled twice", async () => {
  const [calls, later] = [work(24), work(48).slice(24)];
  const first = await open("turns");
  const { id } = await first.create();
  const before = scripted(calls, { use: [windowMiddleware({ session: await first.session(id) })] });
  const { messages: earlier } = await before.run("Fix the build.");
  await first.close();

  const second = await open("turns");
  const session = await second.resume(id);
  const events = [];
  const after = scripted(later, { use: [windowMiddleware({ session, on: (event) => events.push(event) })] });
  const { messages } = await after.run("And now?", { messages: earlier });
  check(after.requests, events);
  assert.equal(session.stats().messages, messages.length - 1);
  await second.close();
});

test("an interrupt and its answer continue the window, and are journalled once", async () => {
  const manager = await open("interrupt");
  const session = await manager.create();
  const events = [];
  const use = [windowMiddleware({ session, on: (event) => events.push(event) })];
  const [call] = work(1);
  const ask = { toolRequest: { ref: "ask", name: "ask", input: {} } };
  const read = { toolRequest: { ref: call.id, name: call.name, input: call.input } };
  const { ai, requests, run } = scripted([call], { answers: [[read, ask], [{ text: "Released." }]], use });
  const tool = ai.defineTool({ name: "ask", description: "Asks." }, (_input, { interrupt }) => interrupt());
  const paused = await run("Release it?", { tools: ["read_file", tool] });
  assert.equal(paused.finishReason, "interrupted");
  const respond = paused.interrupts.map((part) => ({
    toolResponse: { ...ask.toolRequest, output: "yes" },
    metadata: part.metadata,
  }));
  const { text, messages } = await run(undefined, {
    messages: paused.messages,
    tools: ["read_file", tool],
    resume: { respond },
  });
  assert.equal(text, "Released.");
  assert.equal(requests.length, 2);
  assert.deepEqual(
    events.map(({ type }) => type),
    ["window-sent", "window-sent"],
  );
  assert.equal(session.stats().messages, messages.length - 1);
  assert.deepEqual(await session.inDoubt(), []);
  await manager.close();
});

test("output instructions and their mark on the answer are no other history", async () => {
  const manager = await open("output");
  const session = await manager.create();
  const events = [];
  const use = [windowMiddleware({ session, on: (event) => events.push(event) })];
  const { run } = scripted([], { answers: [[{ text: '{"green":true}' }], [{ text: '{"green":true}' }]], use });
  const output = { jsonSchema: { type: "object", properties: { green: { type: "boolean" } } } };
  const { messages: earlier } = await run("Is it green?", { output });
  const { messages } = await run("And now?", { messages: earlier, output });
  assert.deepEqual(
    events.map(({ type }) => type),
    ["window-sent", "window-sent"],
  );
  assert.equal(session.stats().messages, messages.length - 1);
  await manager.close();
});

test("after a tool that throws, the conversation goes on from the log", async () => {
  const manager = await open("throws");
  const session = await manager.create();
  const events = [];
  const use = [windowMiddleware({ session, on: (event) => events.push(event) })];
  const calls = work(6);
  const answers = calls.map(({ id: ref, name, input }) => [{ toolRequest: { ref, name, input } }]);
  const broken = { toolRequest: { ref: "broken", name: "broken", input: {} } };
  const { ai, requests, run } = scripted(calls, { answers: [...answers, [broken], [{ text: "Done." }]], use });
  ai.defineTool({ name: "broken", description: "Breaks." }, () => Promise.reject(new Error("EPIPE")));
  const tools = ["read_file", "search", "run", "broken"];
  await assert.rejects(run("Fix the build.", { tools }), /EPIPE/);
  const logged = await genkitMessages(session);
  assert.equal(logged.length, 14);
  const { text, messages } = await run("Go on.", { tools, messages: logged });
  assert.equal(text, "Done.");
  assert.equal(session.stats().messages, messages.length);
  check(requests, events);
  await manager.close();
});

test("a stream and its chunks are the host's own", async () => {
  const manager = await open("stream");
  const session = await manager.create();
  const { ai } = scripted([]);
  const model = ai.defineModel({ name: "streaming" }, async (_request, chunk) => {
    for (const text of ["Hel", "lo."]) chunk({ content: [{ text }] });
    return { message: { role: "model", content: [{ text: "Hello." }] }, finishReason: "stop" };
  });
  const { stream, response } = ai.generateStream({ model, prompt: "Hi", use: [windowMiddleware({ session })] });
  const said = [];
  for await (const { text } of stream) said.push(text);
  assert.deepEqual(said, ["Hel", "lo."]);
  assert.equal((await response).text, "Hello.");
  assert.equal(session.stats().messages, 2);
  await manager.close();
});

test("documents and an output schema count in the budget", async () => {
  const docs = Array.from({ length: 30 }, (_, at) => ({
    content: [{ text: `${at} ${"words of a document ".repeat(30)}` }],
  }));
  const sent = [];
  for (const more of [{}, { docs }]) {
    const on = (event) => event.type === "window-sent" && sent.push(event.report.tokens);
    const use = [windowMiddleware({ budget, profile: "pi", on })];
    await scripted(work(20), { use, supports: { context: true } }).run("Fix the build.", more);
  }
  const most = (some) => Math.max(...some);
  const half = sent.length / 2;
  const room = docs.reduce((sum, doc) => sum + Math.floor(JSON.stringify(doc).length / 6), 0);
  assert(room > 1_000);
  assert(most(sent.slice(half)) <= budget - room, `${most(sent.slice(half))} beside ${room}`);
  assert(most(sent.slice(0, half)) > budget - room);
});

test("the model calls the recall tool for what left its window, and gets it", async () => {
  const calls = work(24);
  const [wanted] = calls[1].output.split("\n").slice(-1);
  const asked = { toolRequest: { ref: "ask", name: "recall", input: { query: wanted } } };
  const answers = [
    ...calls.map(({ id: ref, name, input }) => [{ toolRequest: { ref, name, input } }]),
    [asked],
    [{ text: "Found." }],
  ];
  for (const where of [{ session: await (await open("recall")).create() }, { budget }]) {
    const { requests, run } = scripted(calls, { answers, use: [windowMiddleware(where)] });
    await run("Fix the build.");
    const result = requests.at(-1).findLast(({ role }) => role === "tool");
    assert(JSON.stringify(result).includes(JSON.stringify(wanted).slice(1, -1)), JSON.stringify(result).slice(0, 400));
    assert.match(JSON.stringify(requests.at(-2)), /\bm\d+/, "the window names what left it");
  }
});

test("after another history took the place of the log's, recall answers from what the notes number", async () => {
  const calls = work(24);
  const events = [];
  const session = await (await open("replaced")).create();
  const use = [windowMiddleware({ session, on: (event) => events.push(event) })];
  await scripted([], { answers: [[{ text: "Hello." }]], use }).run("Say hello.");
  const asked = { toolRequest: { ref: "ask", name: "recall", input: { id: "m3" } } };
  const answers = [
    ...calls.map(({ id: ref, name, input }) => [{ toolRequest: { ref, name, input } }]),
    [asked],
    [{ text: "Found." }],
  ];
  const { requests, run } = scripted(calls, { answers, use });
  await run("Fix the build.");
  assert.equal(events.filter(({ type }) => type === "history-replaced").length, 1);
  const result = JSON.stringify(requests.at(-1).findLast(({ role }) => role === "tool"));
  assert(result.includes(JSON.stringify(calls[0].output.split("\n")[20]).slice(1, -1)), result.slice(0, 400));
});
