/** Mastra's real agent with Windrow in it: what its model was given, what its memory keeps, what the session holds. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { MockMemory } from "@mastra/core/memory";
import { mastraMessages, sessionIdOf, windowProcessor } from "windrow/mastra";
import { SessionManager } from "windrow";
import { profileOf } from "windrow/window";
import { checkWindows, fired, killed, throwingStore, work } from "../kit/kit.mjs";
import { inWindow, scripted, toolTokens } from "./host.mjs";

const budget = 8_000;
const profile = profileOf("pi");
const { version } = JSON.parse(
  await readFile(new URL("node_modules/@mastra/core/package.json", import.meta.url), "utf8"),
);

let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-interop-"));
});

after(() => rm(folder, { recursive: true }));

const open = (name, options = {}) =>
  SessionManager.open({ store: join(folder, name), budget, profile: "pi", ...options });

function check(prompts, events) {
  const sent = events.filter(({ type }) => type === "window-sent");
  assert.deepEqual(
    events.filter(({ type }) => type !== "window-sent"),
    [],
  );
  assert.equal(sent.length, prompts.length);
  const epochs = sent.map(({ report }) => report.epoch);
  checkWindows(prompts.map(inWindow), { profile, budget, epochs, beside: toolTokens() });
  return epochs.at(-1);
}

/** A thread as memory keeps it, without what differs from run to run. */
async function kept(memory, threadId) {
  const { messages } = await memory.recall({ threadId, resourceId: "me", perPage: false });
  const passing = new Set(["id", "createdAt", "threadId", "runId", "modelMetadata"]);
  return JSON.parse(JSON.stringify(messages, (name, value) => (passing.has(name) ? undefined : value)));
}

const thread = (id) => ({ memory: { thread: id, resource: "me" } });

for (const way of ["alone", "with a session", "with a manager and memory"]) {
  test(`windows ${way}: valid, in budget, growing at their end; the agent's own messages whole and raw`, async () => {
    const calls = work(44);
    const events = [];
    const on = (event) => events.push(event);
    const manager = await open("windows");
    const where = { "alone": { budget, profile: "pi" }, "with a session": { session: await manager.create() } }[
      way
    ] ?? { manager };
    const processor = windowProcessor({ ...where, on });
    const counts = { processInputStep: 0, processLLMRequest: 0, processOutputStep: 0, processOutputResult: 0 };
    const counted = Object.fromEntries(
      Object.keys(counts).map((hook) => [hook, (given) => (counts[hook]++, processor[hook](given))]),
    );
    const memory = new MockMemory();
    const { prompts, run } = scripted(calls, { processor: { id: processor.id, ...counted }, memory });
    await run("Fix the build.", thread("one"));
    const epochs = check(prompts, events);
    assert(epochs > 1, `${epochs} epochs`);

    const twin = { memory: new MockMemory() };
    await scripted(calls, twin).run("Fix the build.", thread("one"));
    const stored = await kept(memory, "one");
    assert(stored.length > 0);
    assert.deepEqual(stored, await kept(twin.memory, "one"));
    if (way !== "alone") {
      const session = where.session ?? (await manager.session(sessionIdOf("one")));
      assert.equal(session.stats().state.toolCallCount, calls.length);
      assert.equal(session.stats().state.llmCallCount, prompts.length);
      assert.equal(session.stats().messages, 1 + prompts.length + calls.length);
      assert.deepEqual(await session.inDoubt(), []);
    }
    if (way.includes("manager")) fired({ host: "Mastra", version, fired: counts, calls: prompts.length, epochs });
    await manager.close();
  });
}

test("a process that is killed in the middle of a run loses nothing acknowledged, and the run goes on", async () => {
  const store = join(folder, "killed");
  const job = fileURLToPath(new URL("job.mjs", import.meta.url));
  const acknowledged = await killed(job, { after: 31, args: [store, "44"] });
  const [id] = acknowledged[0].split(" ");
  const manager = await open("killed");
  const session = await manager.resume(id);
  const logged = session.stats().messages;
  assert(logged >= acknowledged.length, `${logged} of ${acknowledged.length}`);
  const whole = scripted(work(44));
  await whole.run("Fix the build.");
  const twin = inWindow(whole.prompts.at(-1)).slice(1, logged + 1);
  const logOf = [];
  for await (const message of session.messages()) logOf.push(message);
  const said = (messages) => messages.map(({ role, parts }) => ({ role, parts }));
  assert.deepEqual(said(logOf), said(twin));

  const events = [];
  const called = new Set(logOf.flatMap(({ parts }) => parts.map(({ callId }) => callId)));
  const left = work(44).filter((call) => !called.has(call.id));
  const processor = windowProcessor({ session, on: (event) => events.push(event) });
  const again = scripted(left, { processor });
  await again.run([...(await mastraMessages(session)), { role: "user", content: "Go on." }]);
  check(again.prompts, events);
  assert.equal(session.stats().messages, logged + 1 + again.prompts.length + left.length);
  await manager.close();
});

test("a store that throws lets the run finish with Mastra's own prompts, and one event", async () => {
  const manager = await SessionManager.open({ store: await throwingStore(), budget });
  const events = [];
  const processor = windowProcessor({ manager, on: (event) => events.push(event) });
  const { prompts, run } = scripted(work(), { processor });
  const output = await run("Fix the build.");
  assert.equal(await output.text.then((text) => text.endsWith("The build is green.")), true);
  const twin = scripted(work());
  await twin.run("Fix the build.");
  const said = (prompt) => inWindow(prompt).map(({ role, parts }) => ({ role, parts }));
  assert.deepEqual(said(prompts.at(-1)), said(twin.prompts.at(-1)));
  assert.equal(events.filter(({ type }) => type === "adapter-failed").length, 1);
});

test("the next turns of a thread, also in another process, continue its window; nothing is journalled twice", async () => {
  const memory = new MockMemory({ options: { lastMessages: 1_000 } });
  const [calls, later] = [work(24), work(48).slice(24)];
  const first = await open("turns");
  const before = scripted(calls, { memory, processor: windowProcessor({ manager: first }) });
  await before.run("Fix the build.", thread("one"));
  await first.close();

  const second = await open("turns");
  const events = [];
  const after = scripted(later, {
    memory,
    processor: windowProcessor({ manager: second, on: (event) => events.push(event) }),
  });
  await after.run("And now?", thread("one"));
  check(after.prompts, events);
  const session = await second.session(sessionIdOf("one"));
  const all = 2 + before.prompts.length + after.prompts.length + calls.length + later.length;
  assert.equal(session.stats().messages, all);
  await second.close();
});

test("the model calls the recall tool for what left its window, and gets it", async () => {
  const calls = work(24);
  const [wanted] = calls[1].output.split("\n").slice(-1);
  const answers = [
    ...calls.map((call) => ({ calls: [call] })),
    { calls: [{ id: "ask", name: "recall", input: { query: wanted } }] },
    { text: "Found." },
  ];
  for (const where of [{ session: await (await open("recall")).create() }, { budget }]) {
    const { prompts, run } = scripted(calls, { answers, processor: windowProcessor(where) });
    await run("Fix the build.");
    const result = prompts.at(-1).findLast(({ role }) => role === "tool");
    assert(JSON.stringify(result).includes(wanted), JSON.stringify(result).slice(0, 400));
    assert.match(JSON.stringify(prompts.at(-2)), /\bm\d+/, "the window names what left it");
  }
});

test("after another history took the place of the log's, recall answers from what the notes number", async () => {
  const calls = work(24);
  const events = [];
  const session = await (await open("replaced")).create();
  const processor = windowProcessor({ session, on: (event) => events.push(event) });
  await scripted([], { answers: [{ text: "Hello." }], processor }).run("Say hello.");
  const answers = [
    ...calls.map((call) => ({ calls: [call] })),
    { calls: [{ id: "ask", name: "recall", input: { id: "m3" } }] },
    { text: "Found." },
  ];
  const { prompts, run } = scripted(calls, { answers, processor });
  await run("Fix the build.");
  assert.equal(events.filter(({ type }) => type === "history-replaced").length, 1);
  const result = JSON.stringify(prompts.at(-1).findLast(({ role }) => role === "tool"));
  assert(result.includes(JSON.stringify(calls[0].output.split("\n")[20]).slice(1, -1)), result.slice(0, 400));
});
