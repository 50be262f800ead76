/** The SDK's real loops with Windrow in them: what the model was sent, what the SDK keeps, what the session holds. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { aiSdk, aiSdkMessages, aiSdkMiddleware, aiSdkUiMessages } from "windrow/ai-sdk";
import { SessionManager } from "windrow";
import { profileOf } from "windrow/window";
import { checkWindows, fired, killed, throwingStore, work } from "../kit/kit.mjs";
import {
  added,
  ai,
  answers,
  call,
  folder as host,
  major,
  scripted,
  stopWhen,
  system,
  text,
  thinking,
} from "./host.mjs";
import { tokensOf, toolTokens, version, ways, windowsOf, workingTools } from "./host.mjs";

const anthropic = profileOf("anthropic");

const budget = 6_000;
const question = [{ role: "user", content: "Which tests fail, and why?" }];
let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-interop-"));
});

after(() => rm(folder, { recursive: true }));

const open = (store) => SessionManager.open({ store, budget, profile: "anthropic" });

/** Counts what is called of an object of functions. */
function counted(hooks, counts) {
  const wrapped = Object.entries(hooks).map(([name, hook]) => [
    name,
    (...given) => {
      counts[name] = (counts[name] ?? 0) + 1;
      return hook(...given);
    },
  ]);
  return Object.fromEntries(wrapped);
}

const twins = new Map();

/** What the same run adds without Windrow. */
async function unmanaged(way = "generateText", count = 40) {
  const key = `${way} ${count}`;
  if (!twins.has(key)) {
    const { model } = scripted(answers(count));
    twins.set(key, added(await ways[way]({ model, tools: workingTools(), messages: question, hooks: {} })));
  }
  return twins.get(key);
}

/** Messages as JSON, results of parallel calls by id: streams have them as they came in, the log as they were asked for. */
function inOrder(messages) {
  const plain = JSON.parse(JSON.stringify(messages));
  for (const { role, content } of plain) {
    if (role === "tool") content.sort((left, right) => (left.toolCallId < right.toolCallId ? -1 : 1));
  }
  return plain;
}

function check(requests, events) {
  const sent = events.filter(({ type }) => type === "window-sent");
  assert.deepEqual(
    events.filter(({ type }) => type !== "window-sent"),
    [],
  );
  const epochs = sent.map(({ report }) => report.epoch);
  checkWindows(windowsOf(requests), { profile: anthropic, budget, epochs, beside: toolTokens(requests) });
  return epochs.at(-1);
}

for (const way of Object.keys(ways)) {
  test(`${way}: windows valid, in budget, growing at their end; the log whole, as it happened`, async () => {
    const manager = await open(way === "generateText" ? join(folder, "whole") : "ram:");
    const session = await manager.create();
    const events = [];
    const logged = [];
    const tools = workingTools(async () => logged.push(session.stats().messages));
    const { hooks, recall } = aiSdk({ session, system, tools, on: (event) => events.push(event) });
    const counts = {};
    const { model, requests } = scripted(answers());
    const steps = await ways[way]({
      model,
      tools: { ...tools, recall },
      messages: question,
      hooks: counted(hooks, counts),
    });
    const epochs = check(requests, events);
    assert(epochs >= 2, `${epochs} epochs`);
    const run = added(steps);
    assert.deepEqual(inOrder(run), inOrder(await unmanaged(way)));
    assert.deepEqual(inOrder(await aiSdkMessages(session)), inOrder([...question, ...run]));
    const { messages, state } = session.stats();
    assert.equal(messages, run.length + 1);
    assert.equal(state.llmCallCount, requests.length);
    // Every call saw the steps before it on disk: one message asks, one has the results.
    const before = answers().flatMap((content, step) =>
      content.filter(({ type }) => type === "tool-call").map(() => 1 + 2 * step),
    );
    assert.deepEqual(logged, before);
    assert.deepEqual(await session.inDoubt(), []);
    fired({ host: `AI SDK, ${way}`, version, calls: requests.length, epochs, fired: counts });
    await manager.close();
  });
}

test("without a session: windows alone, and recall from the run's own messages", async () => {
  const events = [];
  const tools = workingTools();
  const { hooks, recall } = aiSdk({ budget, system, tools, on: (event) => events.push(event) });
  const { model, requests } = scripted([
    ...answers(24).slice(0, -1),
    [call({ id: "back", name: "recall", input: { id: "m3" } })],
    [text("Done.")],
  ]);
  const steps = await ways.generateText({ model, tools: { ...tools, recall }, messages: question, hooks });
  check(requests, events);
  const results = added(steps).flatMap(({ role, content }) => (role === "tool" ? content : []));
  const brought = results.find(({ toolCallId }) => toolCallId === "back").output.value;
  assert(brought.includes(work(1)[0].output.split("\n")[20]), brought);
});

test("after another history took the place of the log's, recall answers from what the notes number", async () => {
  const manager = await open("ram:");
  const events = [];
  const tools = workingTools();
  const { hooks, recall } = aiSdk({
    session: await manager.create(),
    system,
    tools,
    on: (event) => events.push(event),
  });
  const run = (script, messages) =>
    ways.generateText({ model: scripted(script).model, tools: { ...tools, recall }, messages, hooks });
  await run([[text("Hello.")]], [{ role: "user", content: "Say hello." }]);
  const asked = [call({ id: "back", name: "recall", input: { id: "m3" } })];
  const steps = await run([...answers(24).slice(0, -1), asked, [text("Done.")]], question);
  assert.equal(events.filter(({ type }) => type === "history-replaced").length, 1);
  const results = added(steps).flatMap(({ role, content }) => (role === "tool" ? content : []));
  const brought = results.find(({ toolCallId }) => toolCallId === "back").output.value;
  assert(brought.includes(work(1)[0].output.split("\n")[20]), brought);
  await manager.close();
});

test("killed with -9 in the middle, another process goes on and nothing acknowledged is lost", async () => {
  const store = join(folder, "killed");
  const manager = await open(store);
  const { id } = await manager.create();
  await manager.close();
  const script = fileURLToPath(new URL("killed.mjs", import.meta.url));
  const acknowledged = await killed(script, { after: 15, args: [store, id] });

  const reopened = await open(store);
  const session = await reopened.resume(id);
  const restored = await aiSdkMessages(session);
  const results = restored.flatMap(({ role, content }) => (role === "tool" ? content : []));
  const held = new Set(results.map(({ toolCallId }) => toolCallId));
  for (const callId of acknowledged.flatMap((line) => line.split(" "))) assert(held.has(callId), `${callId} is lost`);
  assert(restored.length < 66, "the process was killed too late");
  const whole = [...question, ...(await unmanaged())];
  assert.deepEqual(JSON.parse(JSON.stringify(restored)), whole.slice(0, restored.length));

  const events = [];
  const tools = workingTools();
  const { hooks, recall } = aiSdk({ session, system, tools, on: (event) => events.push(event) });
  const { model, requests } = scripted(answers().slice(Math.floor(restored.length / 2)));
  const more = { role: "user", content: "The process ended in the middle. Go on." };
  const steps = await ways.generateText({ model, tools: { ...tools, recall }, messages: [...restored, more], hooks });
  check(requests, events);
  const run = added(steps);
  assert.equal(run.at(-1).content[0].text, "Done.");
  assert.equal(session.stats().messages, restored.length + 1 + run.length);
  await reopened.close();
});

test("a call that runs when the process dies is in doubt afterwards", { skip: major === "5" }, async () => {
  const store = join(folder, "doubt");
  const manager = await open(store);
  const { id } = await manager.create();
  await manager.close();
  const script = fileURLToPath(new URL("killed.mjs", import.meta.url));
  await killed(script, { after: 1, args: [store, id, "call-9"] });
  const reopened = await open(store);
  const session = await reopened.resume(id);
  assert.deepEqual(
    (await session.inDoubt()).map(({ callId, toolName }) => [callId, toolName]),
    [["call-9", work(9)[8].name]],
  );
  await reopened.close();
});

for (const way of ["generateText", "streamText"]) {
  test(`a store that throws lets ${way} finish, with one event`, async () => {
    const manager = await open(await throwingStore());
    const session = await manager.create();
    const events = [];
    const tools = workingTools();
    const { hooks } = aiSdk({ session, system, tools, on: (event) => events.push(event) });
    const { model, requests } = scripted(answers(20));
    const run = added(await ways[way]({ model, tools, messages: question, hooks }));
    assert.deepEqual(inOrder(run), inOrder(await unmanaged(way, 20)));
    assert.equal(events.filter(({ type }) => type === "adapter-failed").length, 1);
    const last = requests.at(-1).prompt;
    assert.equal(last.filter(({ role }) => role === "tool").length, run.filter(({ role }) => role === "tool").length);
  });
}

test("the running turn keeps its reasoning, which pruneMessages takes away", async () => {
  const tools = workingTools();
  const { hooks } = aiSdk({ budget: 100_000, system, tools });
  const { model, requests } = scripted(answers(12));
  await ways.generateText({ model, tools, messages: question, hooks });
  const seen = requests
    .at(-1)
    .prompt.flatMap(({ content }) => content)
    .filter(({ type }) => type === "reasoning");
  const thought = answers(12)
    .flat()
    .filter(({ type }) => type === "reasoning");
  assert.deepEqual(
    seen.map((part) => [part.text, part.providerOptions.anthropic.signature]),
    thought.map((part) => [part.text, part.providerMetadata.anthropic.signature]),
  );
  const running = [...question, ...(await unmanaged("generateText", 12)).slice(0, -1)];
  const pruned = ai.pruneMessages({ messages: running, reasoning: "before-last-message" });
  const left = pruned.flatMap(({ content }) => content).filter(({ type }) => type === "reasoning");
  assert.equal(left.length, 0, "pruneMessages no longer does this: the comparison can go");
});

test("behind an epoch no reasoning stands that was written before it, and what is written since stays", async () => {
  const events = [];
  const tools = workingTools();
  const { hooks } = aiSdk({ budget, system, tools, on: (event) => events.push(event) });
  const calls = work(24);
  const script = calls.map((one, index) => [thinking(`Step ${index}.`, `signature-${index}`), call(one)]);
  const { model, requests } = scripted([...script, [text("Done.")]]);
  await ways.generateText({ model, tools, messages: question, hooks });
  check(requests, events);
  let opened = 0;
  events.forEach(({ report }, index) => {
    if (report.opened) opened = index;
    const signatures = requests[index].prompt
      .flatMap(({ content }) => content)
      .flatMap((part) => (part.type === "reasoning" ? [part.providerOptions.anthropic.signature] : []));
    const since = Array.from({ length: index - opened }, (_, step) => `signature-${opened + step}`);
    assert.deepEqual(signatures, since, `window ${index}`);
  });
  assert(opened > 0);
});

for (const way of ["generateText", "streamText"]) {
  test(`${way} through the middleware alone: windows at the prompt`, async () => {
    const events = [];
    const { model, requests } = scripted(answers());
    const middleware = aiSdkMiddleware({ budget, on: (event) => events.push(event) });
    const counts = {};
    const wrapped = ai.wrapLanguageModel({
      model,
      middleware: { ...middleware, ...counted({ transformParams: middleware.transformParams }, counts) },
    });
    const run = added(await ways[way]({ model: wrapped, tools: workingTools(), messages: question, hooks: {} }));
    const epochs = check(requests, events);
    assert(epochs >= 2);
    assert.deepEqual(inOrder(run), inOrder(await unmanaged(way)));
    fired({ host: `AI SDK, middleware, ${way}`, version, calls: requests.length, epochs, fired: counts });
  });

  test(`${way}: a request that the provider calls too large is sent again, smaller, once`, async () => {
    const limit = 4_000;
    const refused = [];
    const script = answers(20);
    let at = 0;
    const answer = ({ prompt, tools: sent }) => {
      const tokens = tokensOf(windowsOf([{ prompt }])[0]) + toolTokens([{ tools: sent }]);
      if (tokens <= limit) return script[at++];
      refused.push(tokens);
      const message = `prompt is too long: ${tokens} tokens > ${limit} maximum`;
      if (way === "streamText" && refused.length === 1) return [{ type: "error", error: new Error(message) }];
      throw Object.assign(new Error(message), { statusCode: 400 });
    };
    const { model, requests } = scripted(Array.from({ length: 80 }, () => answer));
    const events = [];
    const middleware = aiSdkMiddleware({ budget, on: (event) => events.push(event) });
    const run = await ways[way]({
      model: ai.wrapLanguageModel({ model, middleware }),
      tools: workingTools(),
      messages: question,
      hooks: {},
    });
    assert.deepEqual(inOrder(added(run)), inOrder(await unmanaged(way, 20)));
    assert.deepEqual(refused.length, 1, `refused at ${refused.join(", ")} tokens`);
    check(requests, events);
  });
}

test("an error that is no overflow is the caller's, at once", async () => {
  const { model, requests } = scripted([
    () => {
      throw Object.assign(new Error("Rate limit: too many tokens per minute"), { statusCode: 429 });
    },
  ]);
  const wrapped = ai.wrapLanguageModel({ model, middleware: aiSdkMiddleware({ budget }) });
  await assert.rejects(ai.generateText({ model: wrapped, messages: question, maxRetries: 0 }), /Rate limit/);
  assert.equal(requests.length, 1);
});

test("a chat in UI messages goes on with its session, in this process and after a reload", async () => {
  const manager = await open(join(folder, "chat"));
  const session = await manager.create();
  const events = [];
  const on = (event) => events.push(event);
  const tools = workingTools();
  const { model } = scripted([...answers(12), [text("Because.")], [text("Bye.")]]);
  const asked = (id, words) => ({ id, role: "user", parts: [{ type: "text", text: words }] });
  const shown = [asked("u1", "Which tests fail?")];
  const turn = async (messages) => {
    const given = await ai.convertToModelMessages(messages, { tools });
    const { hooks } = aiSdk({ session, system, tools, on });
    const result = ai.streamText({ model, system, tools, stopWhen, messages: given, ...hooks });
    let last;
    for await (const message of ai.readUIMessageStream({ stream: result.toUIMessageStream(errors) })) last = message;
    return { ...last, id: `a${messages.length}` };
  };
  // Up to major 6 the SDK shows a browser no tool's error, unless it is told what to show.
  const errors = major === "7" ? {} : { onError: (error) => error.message };
  const wire = (value) => JSON.parse(JSON.stringify(value));
  shown.push(wire(await turn(shown)));
  shown.push(asked("u2", "Why?"));
  shown.push(wire(await turn(shown)));
  assert.equal(session.stats().messages, 1 + 2 * (answers(12).length - 1) + 1 + 2);

  const reloaded = wire(await aiSdkUiMessages(session));
  assert.deepEqual(
    reloaded.map(({ role }) => role),
    ["user", "assistant", "user", "assistant"],
  );
  assert.deepEqual(
    inOrder(await ai.convertToModelMessages(reloaded, { tools })),
    inOrder(await aiSdkMessages(session)),
  );
  await turn([...reloaded, asked("u3", "Thanks")]);
  assert.deepEqual(
    events.filter(({ type }) => type !== "window-sent"),
    [],
  );
  assert.equal(session.stats().messages, 1 + 2 * (answers(12).length - 1) + 1 + 4);
  await manager.close();
});

test("the SDK that was driven is the one that was asked for", () => {
  assert.equal(version.split(".")[0], major, host.href);
});
