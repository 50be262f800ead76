/** The SDK's real loop with Windrow in it: what its model was given, what its session holds, what a crash leaves. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { tool } from "@openai/agents-core";
import { AgentsSession, groupItems, openaiAgentsAdapter } from "windrow/openai-agents";
import { SessionManager } from "windrow";
import { profileOf } from "windrow/window";
import { checkWindows, fired, killed, throwingStore, work } from "../kit/kit.mjs";
import { answers, assistantMessage, functionCall, hostTools, instructions, plain } from "./host.mjs";
import { question, Runner, scripted, unmanaged } from "./host.mjs";

const profile = profileOf("openai-responses");

const budget = 4_000;
let folder;
let manager;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-agents-"));
  manager = await open();
});

after(async () => {
  await manager.close();
  await rm(folder, { recursive: true });
});

const open = (options = {}) =>
  SessionManager.open({ store: join(folder, "store"), budget, profile: "openai-responses", ...options });

/** A session, a runner that uses it, and what the adapter told. */
function managed(session, options = {}) {
  const events = [];
  const history = new AgentsSession(session, { on: (event) => events.push(event), ...options });
  const counts = {};
  const filter = (args) => {
    counts.callModelInputFilter = (counts.callModelInputFilter ?? 0) + 1;
    return history.filter(args);
  };
  // What the SDK calls on its session, counted on the way.
  const counted = new Proxy(history, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...given) => {
        counts[name] = (counts[name] ?? 0) + 1;
        return value.apply(target, given);
      };
    },
  });
  const runner = new Runner({ callModelInputFilter: filter });
  history.watch(runner);
  runner.on("agent_tool_start", () => (counts.agent_tool_start = (counts.agent_tool_start ?? 0) + 1));
  const run = (agent, prompt, more = {}) => runner.run(agent, prompt, { session: counted, maxTurns: 100, ...more });
  return { history, counts, run, events, sent: () => events.filter(({ type }) => type === "window-sent") };
}

/** The windows a scripted model was given, as messages with the system block. */
function windowsOf(model) {
  const system = { id: "s", role: "system", parts: [{ type: "text", text: instructions }] };
  return model.calls.map(({ request }) => [system, ...openaiAgentsAdapter.decode(groupItems(plain(request.input)))]);
}

function check(model, events) {
  const sent = events.filter(({ type }) => type === "window-sent");
  assert.deepEqual(
    events.filter(({ type }) => type !== "window-sent").map(({ type, error }) => error ?? type),
    [],
  );
  assert.equal(sent.length, model.calls.length);
  const epochs = sent.map(({ report }) => report.epoch);
  checkWindows(windowsOf(model), { profile, budget, epochs });
  return epochs.at(-1);
}

test("windows are valid, in budget and grow at their end; the history is the unmanaged twin's", async () => {
  const session = await manager.create();
  const { run, history, events, counts } = managed(session);
  const { agent, model } = scripted(answers());
  const result = await run(agent, question);
  const fromHost = { ...counts };
  const epochs = check(model, events);
  assert(epochs > 1, `${epochs} epochs`);
  const twin = await unmanaged();
  assert.equal(result.finalOutput, twin.output);
  assert.deepEqual(plain(await history.getItems()), plain(twin.items));
  assert.deepEqual(plain(await history.getItems(3)), plain(twin.items.slice(-3)));
  const used = session.stats().state;
  assert.equal(used.llmCallCount, model.calls.length);
  assert.equal(used.toolCallCount, 40);
  assert.deepEqual(await session.inDoubt(), []);
  fired({
    host: "OpenAI Agents",
    version: "0.20.0",
    fired: fromHost,
    calls: model.calls.length,
    epochs,
  });
  await session.close();
});

test("reasoning is never sent without the item that followed it, nor behind an edit", async () => {
  const session = await manager.create();
  const { run } = managed(session);
  const { agent, model } = scripted(answers());
  await run(agent, question);
  let reasoned = 0;
  for (const { request } of model.calls) {
    request.input.forEach((item, index) => {
      if (item.type !== "reasoning") return;
      reasoned++;
      assert.equal(request.input[index + 1]?.type, "function_call");
    });
  }
  assert(reasoned > 0);
  await session.close();
});

test("streamed runs, a second run and a resumed session continue the same window", async () => {
  const session = await manager.create();
  const first = managed(session);
  const one = scripted([...answers(20), [assistantMessage("Again.")]]);
  const streamed = await first.run(one.agent, question, { stream: true });
  for await (const _event of streamed.toStream()) void _event;
  await streamed.completed;
  await first.run(one.agent, "And now?");
  check(one.model, first.events);
  const twin = await unmanaged(20, [question, "And now?"]);
  assert.deepEqual(plain(await first.history.getItems()), plain(twin.items));
  await session.close();

  const resumed = await manager.resume(session.id);
  const second = managed(resumed);
  const two = scripted([[assistantMessage("Third.")]]);
  await second.run(two.agent, "Once more?");
  const [last, next] = [one.model.lastCall, two.model.lastCall].map(({ request }) => plain(request.input));
  if (!second.sent()[0].report.opened) assert.deepEqual(next.slice(0, last.length), last);
  checkWindows(windowsOf(two.model), { profile, budget });
  assert.equal((await second.history.getItems()).length, twin.items.length + 2);
  await resumed.close();
});

test("a run that is killed in the middle has lost nothing that was on disk, and goes on", async () => {
  const store = join(folder, "killed");
  const job = fileURLToPath(new URL("job.mjs", import.meta.url));
  const [id, ...acknowledged] = await killed(job, { after: 40, args: [store] });
  // The SDK's own sessions are written when a run ends: nothing would be there.
  assert(acknowledged.length >= 39);
  const reopened = await open({ store });
  const session = await reopened.resume(id);
  const ids = new Set();
  for await (const message of session.messages()) ids.add(message.id);
  assert.deepEqual(
    acknowledged.filter((message) => !ids.has(message)),
    [],
  );
  const { run, history, events } = managed(session);
  const done = (await history.getItems()).filter(({ type }) => type === "function_call_result").length;
  const { agent, model } = scripted(answers(40, done));
  const result = await run(agent, "The process ended in the middle. Go on.");
  assert.equal(result.finalOutput, "Done.");
  check(model, events);
  const items = await history.getItems();
  assert.equal(items.filter(({ type }) => type === "function_call_result").length, 40);
  await reopened.close();
});

test("a store that throws lets the run finish with the host's own items, and one event", async () => {
  const ram = await SessionManager.open({ store: await throwingStore(12), budget, profile: "openai-responses" });
  const session = await ram.create();
  const { run, history, events } = managed(session);
  const { agent, model } = scripted(answers());
  const result = await run(agent, question);
  assert.equal(result.finalOutput, "Done.");
  const twin = await unmanaged();
  assert.deepEqual(plain(await history.getItems()), plain(twin.items));
  assert.deepEqual(plain(model.lastCall.request.input), plain(twin.model.lastCall.request.input));
  assert.equal(events.filter(({ type }) => type === "adapter-failed").length, 1);
});

test("what the host takes back stays in the log and out of the windows, also after a resume", async () => {
  const session = await manager.create();
  const { history, run } = managed(session);
  const { agent } = scripted([[assistantMessage("Blue.")], [assistantMessage("Red.")]]);
  await run(agent, "Which colour? Take the secret word heron.");
  assert.equal((await history.popItem()).content[0].text, "Blue.");
  assert.match((await history.popItem()).content, /heron/);
  await history.addItems([{ role: "user", content: "Kept." }]);
  const call = functionCall("search", { query: "a" }, { callId: "a1" });
  await history.addItems([call]);
  await history.applyHistoryMutations({
    mutations: [{ type: "replace_function_call", callId: "a1", replacement: { ...call, arguments: '{"query":"b"}' } }],
  });
  await history.popItem();
  const before = session.stats().messages;
  await session.close();

  const resumed = await manager.resume(session.id);
  const again = managed(resumed);
  assert.deepEqual(plain(await again.history.getItems()), [{ role: "user", content: "Kept." }]);
  const { agent: second, model } = scripted([[assistantMessage("Yes.")]]);
  await again.run(second, "And?");
  assert.doesNotMatch(JSON.stringify(model.lastCall.request.input), /heron/);
  checkWindows(windowsOf(model), { profile, budget });
  assert.match((await resumed.recall({ query: "heron" })).text, /heron/);
  await again.history.clearSession();
  assert.deepEqual(await again.history.getItems(), []);
  assert.equal(await again.history.popItem(), undefined);
  assert.equal(resumed.stats().messages, before + 2);
  await resumed.close();
});

test("transactions are applied once, whole, and refused where they do not fit", async () => {
  const session = await manager.create();
  const { history } = managed(session);
  const say = (content) => ({ type: "message", role: "user", content });
  const append = { operationId: "one", transaction: { type: "append_items", items: [say("a"), say("b")] } };
  await history.applyHistoryTransaction(append);
  await history.applyHistoryTransaction(append);
  const replace = {
    operationId: "two",
    transaction: { type: "replace_suffix", expectedSuffix: [say("b")], replacement: [say("c"), say("d")] },
  };
  await history.applyHistoryTransaction(replace);
  const other = { ...replace, transaction: { ...replace.transaction, replacement: [] } };
  await assert.rejects(history.applyHistoryTransaction(other), { code: "bad-option" });
  await assert.rejects(history.applyHistoryTransaction({ ...replace, operationId: "three" }), { code: "bad-option" });
  await session.close();

  const resumed = await manager.resume(session.id);
  const again = managed(resumed);
  await again.history.applyHistoryTransaction(replace);
  assert.deepEqual(plain(await again.history.getItems()), [say("a"), say("c"), say("d")]);
  // What the windows begin with where the user's first words are gone is a message of Windrow's own.
  await again.history.replaceHistoryWithCompaction([{ type: "compaction", encrypted_content: "sealed" }, say("d")]);
  const { agent, model } = scripted([[assistantMessage("Yes.")]]);
  await again.run(agent, "And?");
  assert.deepEqual(
    plain(model.lastCall.request.input).map(({ type }) => type),
    ["message", "compaction", "message", "message"],
  );
  await resumed.close();
});

test("a run that waits for a person's approval goes on where it was", async () => {
  const session = await manager.create();
  const { run, history, events } = managed(session);
  const guarded = tool({
    name: "deploy",
    description: "Deploys.",
    parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
    strict: false,
    needsApproval: true,
    execute: async () => "deployed",
  });
  const script = [[functionCall("deploy", {}, { callId: "d1" })], [assistantMessage("Deployed.")]];
  const { agent, model } = scripted(script, { tools: [guarded] });
  const waiting = await run(agent, "Deploy it.");
  assert.equal(waiting.interruptions.length, 1);
  waiting.state.approve(waiting.interruptions[0]);
  const result = await run(agent, waiting.state);
  assert.equal(result.finalOutput, "Deployed.");
  check(model, events);
  assert.deepEqual(
    plain(await history.getItems()).map(({ type }) => type),
    ["message", "function_call", "function_call_result", "message"],
  );
  await session.close();
});

test("a recall tool brings back what left the window", async () => {
  const session = await manager.create();
  const { run, history } = managed(session);
  const recall = tool(history.recallTool());
  const script = answers();
  const asked = [functionCall("recall", { query: work()[0].output.split("\n")[3] }, { callId: "r1" })];
  const { agent, model } = scripted([...script.slice(0, -1), asked, script.at(-1)], {
    tools: [...hostTools(), recall],
  });
  await run(agent, question);
  const result = model.lastCall.request.input.find(({ callId, type }) => callId === "r1" && type.endsWith("_result"));
  // A file stands without its line numbers, under its path.
  assert.match(result.output.text, /^\[m3 src\/orders\/orders-0\.ts as it stands; from m3\]$/m);
  assert(result.output.text.includes(work()[0].output.split("\n")[3].replace(/^4: /, "")), result.output.text);
  await session.close();
});

test("after the session was cleared, the recall tool answers from what the notes number", async () => {
  const session = await manager.create();
  const { run, history } = managed(session);
  const tools = [...hostTools(), tool(history.recallTool())];
  await run(scripted([[assistantMessage("Hello.")]], { tools }).agent, "Say hello.");
  await history.clearSession();
  const script = answers();
  const asked = [functionCall("recall", { id: "m3" }, { callId: "r1" })];
  const { agent, model } = scripted([...script.slice(0, -1), asked, script.at(-1)], { tools });
  await run(agent, question);
  const result = model.lastCall.request.input.find(({ callId, type }) => callId === "r1" && type.endsWith("_result"));
  const [first] = history.session
    ? (await history.getItems()).filter(({ type }) => type === "function_call_result")
    : [];
  assert.match(result.output.text, /^\[m3 read_file src\/orders\/orders-0\.ts\]$/m);
  assert(result.output.text.includes(first.output.text.split("\n")[3]), result.output.text.slice(0, 400));
  await session.close();
});
