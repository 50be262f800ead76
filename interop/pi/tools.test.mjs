/** Large results, recall, a killed process, and what pi's changelog tells of: in pi's real loop. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createRecallTool, createTransformContext, journal, piAdapter, piMessages } from "windrow/pi";
import { SessionManager } from "windrow";
import { profileOf } from "windrow/window";
import { checkWindows, fired, killed, work } from "../kit/kit.mjs";
import { asking, fauxAssistantMessage, fauxToolCall, next, scripted, version, workTools } from "./host.mjs";

const profile = profileOf("pi");

const budget = 8_000;
const question = "Where are the totals computed?";
let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-tools-"));
});

after(() => rm(folder, { recursive: true }));

const open = (store, options) => SessionManager.open({ store: join(folder, store), budget, profile: "pi", ...options });
const plain = (value) => JSON.parse(JSON.stringify(value));
const check = (contexts) =>
  checkWindows(
    contexts.map(({ messages }) => piAdapter.decode(messages)),
    { profile, budget },
  );
const resultOf = (agent, callId) => agent.state.messages.find(({ toolCallId }) => toolCallId === callId);

test("a huge result is an excerpt in windows and whole in the log; recall brings it back", async () => {
  const huge = Array.from({ length: 9_000 }, (_, line) => `line ${line} 😀😀😀😀 of the dump`).join("\n");
  const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
  const dump = {
    ...workTools()[0],
    name: "dump",
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: huge }, image], details: { own: 1 } }),
  };
  const manager = await open("huge", { ingestCap: 1_000 });
  const session = await manager.create();
  const recall = (args, id) => fauxAssistantMessage([fauxToolCall("recall", args, { id })], { stopReason: "toolUse" });
  const { agent, contexts } = scripted(
    [
      fauxAssistantMessage([fauxToolCall("dump", {}, { id: "big" }), fauxToolCall("dump", {}, { id: "twin" })], {
        stopReason: "toolUse",
      }),
      recall({ query: "line 4711" }, "back"),
      recall({}, "none"),
      fauxAssistantMessage("Done."),
    ],
    { tools: [dump, createRecallTool(session)] },
  );
  const events = [];
  journal(agent, session, { on: (event) => events.push(event) });
  agent.transformContext = createTransformContext({ session });
  await agent.prompt(question);

  check(contexts);
  for (const { messages } of contexts) assert(JSON.stringify(messages).isWellFormed());
  const sent = contexts[1].messages.find(({ toolCallId }) => toolCallId === "big");
  assert.match(
    sent.content[0].text,
    /^\[Windrow: an excerpt of dump, quoted behind a space or \|; the whole \(9,00\d lines, .*\) is m\d+\]/,
  );
  assert.deepEqual(resultOf(agent, "big").content, [{ type: "text", text: huge }, image]);
  assert(resultOf(agent, "back").content[0].text.includes("line 4711 😀"));
  assert.equal(resultOf(agent, "none").isError, true);
  const log = [];
  for await (const message of session.messages()) log.push(message);
  const results = log.flatMap(({ parts }) =>
    parts.filter(({ type, name }) => type === "tool-result" && name === "dump"),
  );
  assert.deepEqual(
    results.map(({ content }) => content[0].text === huge),
    [true, true],
  );
  assert.deepEqual(
    events.filter(({ type }) => type !== "window-sent"),
    [],
  );
  fired({ host: "pi, tools", version, calls: contexts.length, fired: { recall: 2 } });
  await manager.close();

  const again = await open("huge", { ingestCap: 1_000 });
  const resumed = await again.resume(session.id);
  const restored = await piMessages(resumed);
  assert.deepEqual(restored, plain(agent.state.messages));
  const goingOn = scripted([fauxAssistantMessage("On.")], { tools: [dump, createRecallTool(resumed)] });
  goingOn.agent.state.messages = restored;
  const on = (event) => events.push(event);
  journal(goingOn.agent, resumed, { on });
  goingOn.agent.transformContext = createTransformContext({ session: resumed, on });
  events.length = 0;
  await goingOn.agent.prompt("Go on.");
  assert.deepEqual(
    events.map(({ type }) => type),
    ["window-sent"],
  );
  assert.deepEqual(plain(goingOn.contexts[0].messages.find(({ toolCallId }) => toolCallId === "big")), plain(sent));
  await again.close();
});

test("killed in the middle: everything acknowledged is in the log, and the run goes on", async () => {
  const store = join(folder, "killed");
  const child = fileURLToPath(new URL("pi-child.mjs", import.meta.url));
  const acknowledged = (await killed(child, { after: 25, args: [store, String(budget)] })).map((line) =>
    JSON.parse(line),
  );
  const manager = await open("killed");
  const session = await manager.resume(acknowledged[0].session);
  const restored = await piMessages(session);
  const answered = restored.flatMap(({ toolCallId }) => toolCallId ?? []);
  for (const { toolCallId } of acknowledged) assert(answered.includes(toolCallId), toolCallId);

  const rest = work(40).slice(answered.length);
  const { agent, contexts } = scripted([...asking(rest), fauxAssistantMessage("Done.")], { tools: workTools() });
  agent.state.messages = restored;
  journal(agent, session);
  const events = [];
  agent.transformContext = createTransformContext({ session, on: (event) => events.push(event) });
  await agent.prompt("Go on.");
  check(contexts);
  assert(events.every(({ type }) => type === "window-sent"));
  const all = (await piMessages(session)).flatMap(({ toolCallId }) => toolCallId ?? []);
  assert.deepEqual(
    all,
    work(40).map(({ id }) => id),
  );
  await manager.close();
});

test("what a provider reports as used does not decide what fits", async () => {
  const zeros = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
  const windows = [];
  for (const usage of ["its own", zeros, undefined, { ...zeros, input: 9e6, totalTokens: 9e6 }]) {
    const manager = await open(`usage-${windows.length}`);
    const session = await manager.create();
    const { agent, contexts } = scripted([...asking(work(30)), fauxAssistantMessage("Done.")], { tools: workTools() });
    agent.subscribe(async ({ type, message }) => {
      if (type !== "message_end" || message.role !== "assistant" || usage === "its own") return;
      if (usage) message.usage = usage;
      else delete message.usage;
    });
    journal(agent, session);
    agent.transformContext = createTransformContext({ session });
    await agent.prompt(question);
    check(contexts);
    windows.push(contexts.map(({ messages }) => messages.map(({ role, content }) => ({ role, content }))));
    await manager.close();
  }
  for (const other of windows.slice(1)) assert.deepEqual(other, windows[0]);
});

test("after the agent's messages were replaced, recall answers from what the notes number", async () => {
  const manager = await open("replaced");
  const session = await manager.create();
  const recall = (args, id) => fauxAssistantMessage([fauxToolCall("recall", args, { id })], { stopReason: "toolUse" });
  const calls = work(24);
  // 0.87 has its system message among the agent's messages.
  const firstResult = next ? "m4" : "m3";
  const { agent } = scripted(
    [
      fauxAssistantMessage("Hello."),
      ...asking(calls),
      recall({ id: firstResult }, "back"),
      fauxAssistantMessage("Done."),
    ],
    { tools: [...workTools(), createRecallTool(session)] },
  );
  const events = [];
  agent.transformContext = createTransformContext({ session, on: (event) => events.push(event) });
  await agent.prompt("Say hello.");
  agent.state.messages = [];
  await agent.prompt(question);
  assert.equal(events.filter(({ type }) => type === "history-replaced").length, 1);
  const said = resultOf(agent, "back").content[0].text;
  const own = agent.state.messages.find(({ role }) => role === "toolResult");
  assert(said.includes(own.content[0].text.split("\n")[20]), said.slice(0, 400));
  await manager.close();
});
