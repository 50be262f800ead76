/** pi's real loop with Windrow in it: what its model was given, what the agent keeps, what the session holds. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createTransformContext, journal, piAdapter, piMessages } from "windrow/pi";
import { SessionManager, validateWindow } from "windrow";
import { countTools, estimate } from "windrow/testing";
import { countTokens } from "windrow";
import { profileOf } from "windrow/window";
import { plannedCalls, readingTools } from "../../examples/pi-tools.mjs";
import { fired, throwingStore } from "../kit/kit.mjs";
import { fauxAssistantMessage, fauxThinking, fauxToolCall, next, scripted, version } from "./host.mjs";

const profile = profileOf("pi");

const budget = 8_000;
/** Forty-two calls; some are asked again. */
const calls = [...plannedCalls, ...plannedCalls.slice(4, 10)];
const systemPrompt = "You explore a repository and answer questions about it.";
const tools = readingTools(fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, ""));
let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-interop-"));
});

after(() => rm(folder, { recursive: true }));

/** The planned calls, every fifth together with the next one, with reasoning now and then; then an answer. */
function script() {
  const answers = [];
  for (let index = 0; index < calls.length; index++) {
    const blocks = index % 3 === 0 ? [fauxThinking(`Step ${index}: looking further.`)] : [];
    const at = index;
    if (index % 5 === 0 && index + 1 < calls.length) index++;
    for (let place = at; place <= index; place++) {
      const [name, args] = calls[place];
      blocks.push(fauxToolCall(name, args, { id: `call-${place + 1}` }));
    }
    answers.push(fauxAssistantMessage(blocks, { stopReason: "toolUse" }));
  }
  return [...answers, fauxAssistantMessage("Done.")];
}

/** Messages without what differs from run to run: the time, the faux provider's id, and usage, which the window decides. */
function lasting(messages) {
  const passing = ["timestamp", "usage", "api"];
  return JSON.parse(JSON.stringify(messages, (key, value) => (passing.includes(key) ? undefined : value)));
}

/** What the run cost by the provider's own simulated cache, in tokens of plain input: reads 0.1, writes 1.25. */
function cost(messages) {
  const used = messages.flatMap((message) => (message.role === "assistant" ? [message.usage] : []));
  return Math.round(used.reduce((sum, usage) => sum + usage.cacheRead * 0.1 + usage.cacheWrite * 1.25, 0));
}

function tokensOf({ messages, systemPrompt: prompt }) {
  const system = prompt === "" ? [] : [{ id: "s", role: "system", parts: [{ type: "text", text: prompt }] }];
  const beside = next
    ? []
    : tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters }));
  const counted = [...system, ...piAdapter.decode(messages)];
  return counted.reduce((sum, message) => sum + countTokens([message]), 0) + countTools(estimate, beside);
}

function checkWindows(contexts, events) {
  const sent = events.filter((event) => event.type === "window-sent");
  assert.equal(sent.length, contexts.length);
  assert.deepEqual(
    events.filter((event) => event.type !== "window-sent"),
    [],
  );
  contexts.forEach((context, index) => {
    assert.deepEqual(validateWindow(piAdapter.decode(context.messages), profile), [], `window ${index}`);
    assert(tokensOf(context) <= budget, `window ${index}: ${tokensOf(context)} tokens`);
    const earlier = contexts[index - 1];
    if (!earlier || sent[index].report.epoch !== sent[index - 1].report.epoch) return;
    assert.deepEqual(
      context.messages.slice(0, earlier.messages.length),
      earlier.messages,
      `window ${index} grew elsewhere`,
    );
  });
  if (next) {
    for (const { messages } of contexts) {
      assert.equal(messages[0].role, "system");
      assert.equal(messages[0].content, systemPrompt);
      assert.equal(messages[0].toolsAdded.length, tools.length);
    }
  }
  return sent.at(-1).report.epoch;
}

async function unmanaged() {
  const twin = scripted(script(), { systemPrompt, tools });
  await twin.agent.prompt("Where are windows composed?");
  return twin;
}

for (const way of ["alone", "with a session"]) {
  test(`windows ${way}: valid, in budget, growing at their end; the agent's own messages untouched`, async () => {
    const events = [];
    const on = (event) => events.push(event);
    const { agent, contexts } = scripted(script(), { systemPrompt, tools });
    const manager = await SessionManager.open({ store: join(folder, "twin"), budget, profile: "pi" });
    if (way === "alone") agent.transformContext = createTransformContext({ budget, agent, on });
    else {
      const session = await manager.create();
      journal(agent, session, { on });
      agent.transformContext = createTransformContext({ session, on });
    }
    await agent.prompt("Where are windows composed?");
    const epochs = checkWindows(contexts, events);
    assert(epochs > 1, `${epochs} epochs`);
    const twin = await unmanaged();
    assert.deepEqual(lasting(agent.state.messages), lasting(twin.agent.state.messages));
    const [managed, plain] = [cost(agent.state.messages), cost(twin.agent.state.messages)];
    console.log(`${way}: ${contexts.length} calls, ${epochs} epochs, cost ${managed} managed, ${plain} unmanaged`);
    fired({
      host: `pi, ${way}`,
      version,
      calls: contexts.length,
      epochs,
      fired: { transformContext: contexts.length },
    });
    assert(managed < plain);
    await manager.close();
  });
}

test("the session holds the run as it was, and another process would go on with it", async () => {
  const store = join(folder, "resume");
  const manager = await SessionManager.open({ store, budget, profile: "pi" });
  const session = await manager.create();
  const { agent, contexts } = scripted([...script(), fauxAssistantMessage("More.")], { systemPrompt, tools });
  journal(agent, session);
  agent.transformContext = createTransformContext({ session });
  await agent.prompt("Where are windows composed?");
  const { messages, state } = session.stats();
  assert.equal(messages, agent.state.messages.length);
  assert.equal(state.toolCallCount, calls.length);
  assert.equal(state.llmCallCount, contexts.length);
  await agent.prompt("And more?");
  const lastWindow = contexts.at(-1);
  await manager.close();

  const reopened = await SessionManager.open({ store, budget, profile: "pi" });
  const resumed = await reopened.resume(session.id);
  const restored = await piMessages(resumed);
  assert.deepEqual(restored, JSON.parse(JSON.stringify(agent.state.messages)));
  const again = scripted([fauxAssistantMessage("Going on.")], { systemPrompt, tools });
  again.agent.state.messages = restored;
  const events = [];
  journal(again.agent, resumed);
  again.agent.transformContext = createTransformContext({ session: resumed, on: (event) => events.push(event) });
  await again.agent.prompt("Go on");
  const [window] = again.contexts;
  assert.equal(resumed.stats().messages, restored.length + 2);
  assert.deepEqual(
    events.map(({ type }) => type),
    ["window-sent"],
  );
  if (!events[0].report.opened) {
    const plain = JSON.parse(JSON.stringify({ was: lastWindow.messages, is: window.messages }));
    assert.deepEqual(plain.is.slice(0, plain.was.length), plain.was);
  }
  await reopened.close();
});

test("a store that throws lets the run finish, with one event", async () => {
  const store = await throwingStore();
  const manager = await SessionManager.open({ store, budget, profile: "pi" });
  const session = await manager.create();
  const events = [];
  const on = (event) => events.push(event);
  const { agent } = scripted(script(), { systemPrompt, tools });
  journal(agent, session, { on });
  agent.transformContext = createTransformContext({ session, on });
  await agent.prompt("Where are windows composed?");
  assert.deepEqual(lasting(agent.state.messages), lasting((await unmanaged()).agent.state.messages));
  assert.equal(agent.state.messages.at(-1).content[0].text, "Done.");
  assert.equal(events.filter(({ type }) => type === "adapter-failed").length, 1);
});

test("an aborted run and messages of the host's own roles go on", async () => {
  const events = [];
  const note = { role: "notification", text: "Only for people", timestamp: 1 };
  const seen = [];
  const slow = async () => {
    queueMicrotask(() => agent.abort());
    await new Promise((done) => setImmediate(done));
    return fauxAssistantMessage([fauxToolCall("list", { path: "." }, { id: "cut" })], { stopReason: "toolUse" });
  };
  const answer = fauxAssistantMessage("Here.");
  const { agent, contexts } = scripted([fauxAssistantMessage("Hello."), slow, answer], {
    systemPrompt,
    tools,
    convertToLlm: (messages) => {
      seen.push(...messages.filter(({ role }) => role === "notification"));
      return messages.filter(({ role }) => role !== "notification");
    },
  });
  agent.transformContext = createTransformContext({ budget, agent, on: (event) => events.push(event) });
  await agent.prompt([note, { role: "user", content: "Hi", timestamp: 2 }]);
  await agent.prompt("List");
  assert.equal(agent.state.messages.at(-1).stopReason, "aborted");
  await agent.prompt("Again");
  assert.equal(agent.state.messages.at(-1).content[0].text, "Here.");
  assert(seen.length > 0 && seen.every((message) => message === note));
  for (const { messages } of contexts) {
    assert(messages.every(({ role }) => role !== "notification"));
    assert(messages.every(({ role, toolCallId }) => role !== "toolResult" || toolCallId !== "cut"));
  }
  assert(events.every(({ type }) => type === "window-sent"));
});
