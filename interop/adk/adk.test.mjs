/** Windrow in ADK's real loop: windows, ADK's own history, a kill, a store that fails. */
import assert from "node:assert/strict";
import { readFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  BaseSessionService,
  FunctionTool,
  InMemorySessionService,
  SequentialAgent,
  LlmAgent,
  Runner,
} from "@google/adk";
import { ContextManagementPlugin, createSessionService, recallTool } from "windrow/adk";
import { SessionManager } from "windrow";
import { profileOf } from "windrow/window";
import { checkWindows, fired, killed, throwingStore } from "../kit/kit.mjs";
import {
  calling,
  comparable,
  jobScript,
  jobTools,
  key,
  runnerOf,
  ScriptedLlm,
  text,
  turn,
  windowsOf,
} from "./host.mjs";

const gemini = profileOf("gemini");

const budget = 8_000;
const folder = mkdtempSync(join(tmpdir(), "windrow-adk-"));
after(() => rmSync(folder, { recursive: true }));
const version = JSON.parse(
  readFileSync(new URL("node_modules/@google/adk/package.json", import.meta.url), "utf8"),
).version;

/** The history of the same run without Windrow. */
async function twin() {
  const sessionService = new InMemorySessionService();
  await sessionService.createSession(key);
  const model = new ScriptedLlm(jobScript());
  await turn(runnerOf({ model, sessionService }));
  return { session: await sessionService.getSession(key), model };
}

/** Counts calls of a plug-in's callbacks. */
function counted(plugin, ...names) {
  const counts = Object.fromEntries(names.map((name) => [name, 0]));
  for (const name of names) {
    const real = plugin[name].bind(plugin);
    plugin[name] = (given) => {
      counts[name]++;
      return real(given);
    };
  }
  return counts;
}

function listener() {
  const events = [];
  const of = (type) => events.filter((event) => event.type === type);
  return { on: (event) => events.push(event), of };
}

function check(model, heard, { epochs = true } = {}) {
  const sent = heard.of("window-sent");
  assert.equal(sent.length, model.requests.length);
  const beside = sent[0].report.blocks.tools;
  assert(beside > 0, "the tools were not counted");
  const numbers = sent.map(({ report }) => report.epoch);
  checkWindows(windowsOf(model), { profile: gemini, budget, beside, ...(epochs && { epochs: numbers }) });
  assert.deepEqual(heard.of("adapter-failed"), []);
  return numbers.at(-1);
}

test("40 calls with the session service: windows in budget, history whole, one log", async () => {
  const heard = listener();
  const manager = await SessionManager.open({ store: join(folder, "loop"), profile: "gemini", budget });
  const plugin = new ContextManagementPlugin({ manager, on: heard.on });
  const hooks = counted(plugin, "beforeModelCallback", "afterModelCallback", "afterToolCallback", "onEventCallback");
  const sessionService = createSessionService(BaseSessionService, manager);
  await sessionService.createSession(key);
  const model = new ScriptedLlm(jobScript());
  await turn(runnerOf({ model, sessionService, plugins: [plugin] }));
  const epochs = check(model, heard);
  assert(epochs >= 2, `${epochs} epochs`);

  const unmanaged = await twin();
  const session = await sessionService.getSession(key);
  assert.deepEqual(comparable(session.events), comparable(unmanaged.session.events));
  const last = unmanaged.model.requests.at(-1).contents;
  assert(JSON.stringify(last).length > 4 * budget, "the unmanaged run would have fitted");

  const { id, info } = await onlySession(manager);
  assert.deepEqual(info.metadata.taskKey, { app_name: "shop", user_id: "maya", session_id: "orders of today" });
  assert.equal(info.state.llmCallCount, model.requests.length);
  const log = await manager.session(id);
  assert.equal(log.stats().messages, session.events.length + 1);
  assert.deepEqual(await log.inDoubt(), []);
  const answer = await log.recall({ query: "ordersTotal" });
  assert.match(answer.text, /ordersTotal/);
  await manager.close();

  // Another process, another turn: the same history, and the window goes on.
  const again = await SessionManager.open({ store: join(folder, "loop"), profile: "gemini", budget });
  const service = createSessionService(BaseSessionService, again);
  const resumed = await service.getSession(key);
  assert.deepEqual(comparable(resumed.events), comparable(session.events));
  const late = listener();
  const second = new ScriptedLlm([text("Nothing more.")]);
  const next = new ContextManagementPlugin({ manager: again, on: late.on });
  await turn(runnerOf({ model: second, sessionService: service, plugins: [next] }), "Anything else?");
  check(second, late);
  const before = windowsOf(model).at(-1);
  const [window] = windowsOf(second);
  const same = ({ role, parts }) => ({ role, parts });
  assert.deepEqual(window.slice(0, before.length).map(same), before.map(same), "the window did not go on");
  await again.close();
  fired({ host: "ADK", version, fired: hooks, calls: model.requests.length, epochs });
});

async function onlySession(manager) {
  const found = [];
  for await (const info of manager.list()) found.push(info);
  assert.equal(found.length, 1);
  return { id: found[0].metadata.uuid, info: found[0] };
}

test("beside ADK's own session service the plug-in keeps the log itself", async () => {
  const heard = listener();
  const manager = await SessionManager.open({ store: "ram:", profile: "gemini", budget });
  const plugin = new ContextManagementPlugin({ manager, on: heard.on });
  const sessionService = new InMemorySessionService();
  await sessionService.createSession(key);
  const model = new ScriptedLlm(jobScript());
  await turn(runnerOf({ model, sessionService, plugins: [plugin] }));
  assert(check(model, heard) >= 2);
  const session = await sessionService.getSession(key);
  assert.deepEqual(comparable(session.events), comparable((await twin()).session.events));
  const { id } = await onlySession(manager);
  assert.equal((await manager.session(id)).stats().messages, session.events.length);
});

test("without a log, windows of the requests alone", async () => {
  const heard = listener();
  const sessionService = new InMemorySessionService();
  await sessionService.createSession(key);
  const model = new ScriptedLlm(jobScript());
  const plugin = new ContextManagementPlugin({ budget, on: heard.on });
  await turn(runnerOf({ model, sessionService, plugins: [plugin] }));
  assert(check(model, heard) >= 2);
  const session = await sessionService.getSession(key);
  assert.deepEqual(comparable(session.events), comparable((await twin()).session.events));
});

test("kill -9 in the middle: nothing acknowledged is lost, and the run goes on", async () => {
  const store = join(folder, "killed");
  const script = fileURLToPath(new URL("killed.mjs", import.meta.url));
  const acknowledged = await killed(script, { after: 31, args: [store, String(budget)] });
  const heard = listener();
  const manager = await SessionManager.open({ store, profile: "gemini", budget });
  const sessionService = createSessionService(BaseSessionService, manager, { on: heard.on });
  const session = await sessionService.getSession(key);
  const ids = session.events.map(({ id }) => id);
  assert.deepEqual(ids.slice(0, acknowledged.length), acknowledged);
  const done = session.events.flatMap(({ content }) => content.parts).filter((part) => part.functionResponse).length;
  const model = new ScriptedLlm(jobScript(done));
  const plugin = new ContextManagementPlugin({ manager, on: heard.on });
  await turn(runnerOf({ model, sessionService, plugins: [plugin] }), "The process ended in the middle. Go on.");
  check(model, heard);
  const whole = await sessionService.getSession(key);
  assert.deepEqual(
    whole.events.slice(0, ids.length).map(({ id }) => id),
    ids,
  );
  await manager.close();
});

for (const [name, served] of [
  ["the session service", true],
  ["the plug-in's log", false],
]) {
  test(`a store that throws under ${name}: the run ends with ADK's own messages and one event`, async () => {
    const heard = listener();
    const manager = await SessionManager.open({ store: await throwingStore(), profile: "gemini", budget });
    const sessionService = served
      ? createSessionService(BaseSessionService, manager, { on: heard.on })
      : new InMemorySessionService();
    await sessionService.createSession(key);
    const model = new ScriptedLlm(jobScript());
    const plugin = new ContextManagementPlugin({ manager, on: heard.on });
    const events = await turn(runnerOf({ model, sessionService, plugins: [plugin] }));
    assert.equal(events.at(-1).content.parts[0].text, "The totals are rounded twice.");
    assert.equal(heard.of("adapter-failed").length, 1);
    assert.deepEqual(heard.of("history-replaced"), []);
    assert.deepEqual(model.requests.at(-1).contents, (await twin()).model.requests.at(-1).contents);
  });
}

test("the recall tool brings back what left", async () => {
  const manager = await SessionManager.open({ store: "ram:", profile: "gemini", budget });
  const plugin = new ContextManagementPlugin({ manager });
  const sessionService = createSessionService(BaseSessionService, manager);
  await sessionService.createSession(key);
  const asking = calling({ name: "recall", input: { id: "m4" } });
  const model = new ScriptedLlm([...jobScript().slice(0, -1), asking, text("Now I know.")]);
  const tools = [...jobTools(), recallTool(FunctionTool, plugin)];
  await turn(runnerOf({ model, sessionService, plugins: [plugin], tools }));
  const answer = model.requests.at(-1).contents.at(-1).parts[0].functionResponse.response.result;
  const session = await sessionService.getSession(key);
  assert.match(answer, /^\[m4 read_file src\/orders\/orders-0\.ts\]$/m);
  // m1 is the state the session was created with.
  const { response } = session.events[2].content.parts[0].functionResponse;
  assert(answer.includes(response.result.split("\n")[5]), answer);
  const lines = JSON.stringify(model.requests.at(-2).contents);
  assert(!lines.includes(JSON.stringify(response.result).slice(1, -1)), "it had not left");
});

test("after events were taken out of ADK's session, the recall tool answers from what the notes number", async () => {
  const heard = listener();
  const manager = await SessionManager.open({ store: "ram:", profile: "gemini", budget });
  const plugin = new ContextManagementPlugin({ manager, on: heard.on });
  const sessionService = new InMemorySessionService();
  await sessionService.createSession(key);
  const tools = [...jobTools(), recallTool(FunctionTool, plugin)];
  const plugins = [plugin];
  await turn(runnerOf({ model: new ScriptedLlm([text("Hello.")]), sessionService, plugins, tools }), "Say hello.");
  sessionService.sessions[key.appName][key.userId][key.sessionId].events.splice(0);
  const asking = calling({ name: "recall", input: { id: "m3" } });
  const model = new ScriptedLlm([...jobScript().slice(0, -1), asking, text("Now I know.")]);
  await turn(runnerOf({ model, sessionService, plugins, tools }));
  assert.equal(heard.of("history-replaced").length, 1);
  const answer = model.requests.at(-1).contents.at(-1).parts[0].functionResponse.response.result;
  const { events } = await sessionService.getSession(key);
  const { response } = events[2].content.parts[0].functionResponse;
  assert(answer.includes(response.result.split("\n")[5]), answer);
});

test("agents in a row: each one's windows fit, and no history is taken for replaced", async () => {
  const heard = listener();
  const manager = await SessionManager.open({ store: "ram:", profile: "gemini", budget });
  const plugin = new ContextManagementPlugin({ manager, on: heard.on });
  const sessionService = createSessionService(BaseSessionService, manager);
  await sessionService.createSession(key);
  const models = [new ScriptedLlm(jobScript()), new ScriptedLlm(jobScript())];
  const agent = new SequentialAgent({
    name: "pipeline",
    subAgents: models.map((model, index) => new LlmAgent({ name: `agent_${index}`, model, tools: jobTools() })),
  });
  const runner = new Runner({ appName: key.appName, agent, sessionService, plugins: [plugin] });
  await turn(runner);
  models.forEach((model, index) => model.script.push(text(`Agent ${index} has nothing more.`)));
  await turn(runner, "Is that all?");
  for (const model of models) {
    assert.equal(model.requests.length, 39);
    checkWindows(windowsOf(model), { profile: gemini, budget });
  }
  assert.deepEqual(heard.of("adapter-failed"), []);
  assert.deepEqual(heard.of("history-replaced"), []);
});
