/** The session service beside ADK's, and the manager of the miki design in a real run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { BaseSessionService, FunctionTool, InMemorySessionService, createEvent } from "@google/adk";
import { ContextManagementPlugin, ContextManager, createSessionService } from "windrow/adk";
import { fromContents } from "windrow/gemini";
import { SessionManager, validateWindow } from "windrow";
import { profileOf } from "windrow/window";
import { calling, goal, key, runnerOf, ScriptedLlm, text, turn } from "./host.mjs";

const gemini = profileOf("gemini");

test("the session service keeps what ADK's own keeps", async () => {
  const manager = await SessionManager.open({ store: "ram:" });
  const services = [new InMemorySessionService(), createSessionService(BaseSessionService, manager)];
  const seen = [];
  for (const service of services) {
    const state = { "kept": 1, "temp:now": 2 };
    const first = await service.createSession({ ...key, state });
    const other = await service.createSession({ ...key, sessionId: "another/one" });
    const event = (given) => createEvent({ invocationId: "i", author: "user", timestamp: 1_700_000_000_000, ...given });
    const stateDelta = { "kept": 2, "more": { a: [1] }, "temp:x": 1, "app:theme": "dark", "user:name": "Maya" };
    await service.appendEvent({ session: first, event: event({ id: "e1", actions: { stateDelta } }) });
    await service.appendEvent({ session: first, event: event({ id: "e2", partial: true }) });
    const content = { role: "user", parts: [{ text: "Hi" }] };
    await service.appendEvent({ session: first, event: event({ id: "e3", content, timestamp: 1_700_000_000_500 }) });
    await service.appendEvent({ session: first, event: event({ id: "e3", content, timestamp: 1_700_000_000_500 }) });
    const third = await service.createSession({ ...key, sessionId: "third" });
    const listed = await service.listSessions({ appName: key.appName, userId: key.userId, limit: 2, page: 2 });
    await service.deleteSession({ ...key, sessionId: "another/one" });
    const again = await service.createSession({ ...key, sessionId: "another/one", state: { fresh: true } });
    const found = await service.getSession(key);
    seen.push(
      JSON.parse(
        JSON.stringify({
          states: [first.state, other.state, third.state, again.state, found.state],
          events: found.events.map(({ id, content: said, actions, timestamp }) => ({ id, said, actions, timestamp })),
          recent: (await service.getSession({ ...key, config: { numRecentEvents: 1 } })).events.map(({ id }) => id),
          later: (await service.getSession({ ...key, config: { afterTimestamp: 1_700_000_000_200 } })).events.length,
          unknown: (await service.getSession({ ...key, userId: "other" })) ?? null,
          existing: (await service.getOrCreateSession(key)).events.length,
          listed: { ...listed, sessions: listed.sessions.length },
          gone: (await service.listSessions({ appName: key.appName })).totalItems,
          none: await service.listSessions({ appName: "other", limit: 5 }),
        }),
      ),
    );
  }
  assert.deepEqual(seen[1], seen[0]);
  await manager.close();
});

/** A tree of a screen, as large as those of real desktops. */
const screen = Array.from({ length: 301 }, (_, index) => ({
  role: "AXButton",
  title: `Button ${index}`,
  description: "Click this button",
  children: Array.from({ length: 50 }, (__, child) => ({ role: "AXText", title: `${child}` })),
}));

function screenTools() {
  return ["elementsJson", "click", "done"].map(
    (name) =>
      new FunctionTool({
        name,
        description: name,
        execute: () => {
          if (name === "click") throw new Error("no element there");
          return name === "elementsJson" ? { elements: screen } : { ok: true };
        },
      }),
  );
}

for (const uiTrees of ["window", "stored"]) {
  test(`the manager and plug-in of the miki design, trees cut in the ${uiTrees}`, async () => {
    const contextManager = new ContextManager();
    const lines = [];
    const plugin = new ContextManagementPlugin({
      contextManager,
      uiTrees,
      debugEvery: 5,
      log: (line) => lines.push(line),
    });
    contextManager.updateSnapshot({ goal, completedActions: [], currentPhase: "planning", keyObservations: [] });
    const sessionService = new InMemorySessionService();
    await sessionService.createSession(key);
    const failures = [];
    const step = (name) => () => {
      failures.push(plugin.consecutiveFailures);
      return calling({ name, input: {} });
    };
    const names = ["click", "click", "click", "elementsJson", ...Array.from({ length: 12 }, () => "click"), "done"];
    const model = new ScriptedLlm([...names.map(step), text("Done: it is clicked.")], "any-model");
    const actions = [];
    await turn(runnerOf({ model, sessionService, plugins: [plugin], tools: screenTools() }), goal, ({ content }) => {
      const call = content?.parts?.[0]?.functionCall;
      if (call) contextManager.updateSnapshot({ completedActions: [...actions, actions.push(call.name) && call.name] });
    });
    assert.deepEqual(failures.slice(0, 5), [0, 1, 2, 3, 0]);
    assert.deepEqual(contextManager.getContextSnapshot().completedActions, names);
    assert.equal(lines.length, 3);
    assert.match(lines[2], /^Context stats: \d+ messages, ~\d+ tokens$/);

    const sent = model.requests[4].contents.flatMap(({ parts }) => parts);
    const [dump] = sent.flatMap(({ functionResponse }) => functionResponse?.response.elements ?? []);
    const cut = sent.find(({ functionResponse }) => functionResponse?.name === "elementsJson").functionResponse
      .response;
    assert.equal(cut.elements.length, 200);
    assert.equal(dump.children.length, 20);
    assert.equal("description" in dump, false);
    const { events } = await sessionService.getSession(key);
    const stored = events
      .flatMap(({ content }) => content.parts)
      .find(({ functionResponse: one }) => one?.response.elements);
    assert.equal(stored.functionResponse.response.elements.length, uiTrees === "stored" ? 200 : 301);
    for (const { contents } of model.requests) {
      assert(contents.length <= 25, `${contents.length} contents`);
      assert(JSON.stringify(contents).includes("State of the job"), "the snapshot is missing");
      const rules = { ...gemini.rules, callNeedsSignature: false };
      assert.deepEqual(validateWindow(fromContents(contents), { ...gemini, rules }), []);
    }
    const stats = contextManager.getStats();
    assert(stats.messageCount <= 24 && stats.hasSnapshot, JSON.stringify(stats));
    await contextManager.reset();
    assert.deepEqual(contextManager.getStats(), { messageCount: 0, estimatedTokens: 0, hasSnapshot: false });
  });
}
