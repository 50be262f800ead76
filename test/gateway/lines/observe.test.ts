/** Lines that are only observed: what of a conversation is kept, and in which session. */
import { expect, test } from "vitest";
import { newestLog, stats, top, viewSession } from "windrow/ops";
import { storedSource } from "windrow/viewer";
import type { Sending, SentAnswer } from "windrow/gateway";
import { answered, assistant, broken, openStage, user } from "./stage.ts";
import type { Raw, Sent, Stage } from "./stage.ts";
import { listed } from "../../kit/sessions.ts";

const claude = { "x-claude-code-session-id": "session-1", "user-agent": "claude-cli/2.1" };
const say = (text: string): object => ({ type: "text", text });

/** Asks as Claude Code does. A text that answers is its one block. */
const ask = (
  stage: Stage,
  history: readonly unknown[],
  answer: SentAnswer | string,
  more?: Sent,
): Promise<Sending & Raw> =>
  stage.exchange(history, typeof answer === "string" ? answered([say(answer)]) : answer, { headers: claude, ...more });

test("a conversation is one session, its messages and its requests", async () => {
  const stage = await openStage();
  const first = await ask(stage, [user("List the files.")], "There are two.");
  expect(first.body).toBe(first.raw);
  expect(first.note).toMatch(/^observed; session=[0-9a-f]{8}; line=main$/);
  const marked = user([{ ...say("List the files."), cache_control: { type: "ephemeral" } }]);
  const goesOn = [marked, assistant([say("There are two.")]), user("Read them.")];
  const second = await ask(stage, goesOn, "Both are empty.");
  const uuid = await stage.only();
  const [info] = await stage.sessions();
  expect(info!.metadata.taskKey).toMatchObject({
    ...{ gateway: 1, api: "anthropic-messages", client: "claude-code" },
    ...{ session: "session-1", line: "main", tenant: "tenant-a" },
  });
  expect((await stage.messages(uuid)).map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  const records = await stage.records(uuid);
  expect(records.map(({ data }) => data)).toMatchObject([
    { kind: "turn", attempt: 1, status: 200, epoch: 0, bytes_in: first.raw.length, stop: "end_turn" },
    { kind: "turn", attempt: 1, bytes_out: second.raw.length, request_id: "req_1" },
  ]);
  expect(info!.state.llmCallCount).toBe(2);
  const [used] = await listed(stage.store.read({}, uuid, { kind: "usage" }));
  expect(used?.window).toMatchObject({ epoch: 0, last: 1 });
});

test("a call's usage names the provider's answer, and the tool calls that the client runs are counted", async () => {
  const stage = await openStage();
  const calls = ["a", "b"].map((id) => ({ type: "tool_use", id, name: "read", input: { path: `${id}.ts` } }));
  const results = ["a", "b"].map((id) => ({ type: "tool_result", tool_use_id: id, content: "Empty." }));
  const goesOn = [user("Read both."), assistant(calls), user(results)];
  await ask(stage, goesOn.slice(0, 1), answered(calls, { id: "msg_1" }));
  await ask(stage, goesOn, broken("They"));
  await ask(stage, goesOn, answered([say("Both are empty.")], { id: "msg_2" }));
  const uuid = await stage.only();
  expect((await stage.sessions())[0]!.state).toMatchObject({ llmCallCount: 3, toolCallCount: 2 });
  const used = await listed(stage.store.read({}, uuid, { kind: "usage" }));
  const told = used.map(({ answerId, requestId, toolCalls }) => `${answerId} ${requestId} ${toolCalls}`);
  expect(told).toEqual(["msg_1 req_1 2", "undefined req_1 undefined", "msg_2 req_1 undefined"]);
  const view = await viewSession(stage.store, {}, uuid, { tools: true });
  expect(view).toMatchObject({ model: "claude-opus-5-5", taskName: "claude-code: Read both." });
  expect(view.statistics.toolCalls).toBe(2);
  const shown = { callId: "a", toolName: "read", arguments: { path: "a.ts" }, status: "success", durationMs: null };
  expect(view.tools).toMatchObject({ total: 2, shown: [shown, { callId: "b", status: "success" }] });
  const title = "claude-code: Read both.";
  const page = await storedSource(stage.store, {}).sessions({});
  expect(page.sessions[0]).toMatchObject({ model: "claude-opus-5-5", toolCalls: 2, title });
  expect((await top(stage.store)).sessions[0]).toMatchObject({ task: title, toolCalls: 2 });
  expect((await stats(stage.store)).average).toMatchObject({ toolCalls: 2 });
  const said = (await newestLog(stage.store, { level: "DEBUG" }, 20)).map(({ text }) => text);
  expect(said[0]).toBe("Task started: claude-code");
  expect(said.filter((text) => text === "Usage (turn): 100 tokens in, 10 out")).toHaveLength(3);
});

test("a request that is asked again with nothing new is an attempt and no message", async () => {
  const stage = await openStage();
  await ask(stage, [user("Go.")], broken("I am"));
  await ask(stage, [user("Go.")], "I am done.", { body: { stream: false } });
  const uuid = await stage.only();
  expect(await stage.messages(uuid)).toHaveLength(2);
  const attempts = (await stage.records(uuid)).map(({ data }) => [
    data["attempt"],
    data["incomplete"],
    data["partial"],
  ]);
  expect(attempts).toEqual([
    [1, true, "I am"],
    [2, undefined, undefined],
  ]);
});

test("an answer that its client writes another way is the same, also after a restart", async () => {
  const stage = await openStage();
  await ask(stage, [user("Go.")], answered([say("One.\n"), say("Two.")]));
  await stage.restart();
  const history = [user("Go."), assistant("One. Two."), user("On.")];
  await ask(stage, history, "Three.");
  await stage.restart();
  await ask(stage, [...history, assistant([say("Three.")]), user("End.")], "Bye.");
  expect(await stage.messages(await stage.only())).toHaveLength(6);
});

test("of many conversations under one name the oldest goes on in its own session", { tags: ["slow"] }, async () => {
  const stage = await openStage();
  for (let n = 0; n < 36; n++) await ask(stage, [user(`Task ${n}.`)], "Done.");
  for (const n of [0, 35]) await ask(stage, [user(`Task ${n}.`), assistant([say("Done.")]), user("On.")], "Done.");
  const logs = await stage.logs();
  expect(logs).toHaveLength(36);
  const longer = logs.filter(({ length }) => length === 4).map(([first]) => first!.parts);
  expect(longer).toEqual(expect.arrayContaining([[say("Task 0.")], [say("Task 35.")]]));
  expect(stage.events).toEqual([]);
});

test("a message that was edited, or an answer that is asked for anew, forks the line", async () => {
  const stage = await openStage();
  const opening = [user("Go."), assistant([say("Gone.")])];
  await ask(stage, opening.slice(0, 1), "Gone.");
  await ask(stage, [...opening, user("Left.")], "Left it is.");
  await ask(stage, [...opening, user("Right.")], "Right it is.");
  await ask(stage, [...opening, user("Left.")], "Left again.");
  const forks = (await stage.sessions()).map(({ metadata }) => metadata.forkedFrom?.at);
  expect(forks).toEqual([undefined, 2, 3]);
  await ask(stage, [...opening, user("Left."), assistant([say("Left it is.")]), user("Stop.")], "Stopped.");
  const lengths = await stage.lengths();
  expect(lengths).toHaveLength(3);
  expect(lengths[0]).toBe(6);
});

test("two conversations that open alike, of a client that names none, part where they differ", async () => {
  const stage = await openStage();
  const nameless = { headers: {} };
  const goesOn = (answer: string, next: string) => [user("hi"), assistant([say(answer)]), user(next)];
  await ask(stage, [user("hi")], "Hello!", nameless);
  await ask(stage, [user("hi")], "Good day!", nameless);
  await ask(stage, goesOn("Hello!", "A"), "a", nameless);
  await ask(stage, goesOn("Good day!", "B"), "b", nameless);
  const texts = (await stage.logs()).map((log) => JSON.stringify(log));
  expect(texts).toHaveLength(2);
  expect(texts.filter((text) => text.includes("Hello!") && text.includes('"A"'))).toHaveLength(1);
  expect(texts.filter((text) => text.includes("Good day!") && text.includes('"B"'))).toHaveLength(1);
});

test("tenants share no line", async () => {
  const stage = await openStage();
  for (const tenant of ["tenant-a", "tenant-b"]) await ask(stage, [user("The same words.")], "Yes.", { tenant });
  const sessions = await stage.sessions();
  expect(sessions.map(({ metadata }) => metadata.taskKey["tenant"])).toEqual(["tenant-a", "tenant-b"]);
});

test("titles, subagents and summaries of a session are told apart", async () => {
  const stage = await openStage();
  const title = { max_tokens: 10, tools: [], output_config: { format: { type: "json_schema", schema: {} } } };
  await ask(stage, [user("Name this.")], "A name", { body: title });
  const history = [user("Work."), assistant([say("Worked.")])];
  await ask(stage, history.slice(0, 1), "Worked.");
  await ask(stage, [user("Search.")], "Found.", { headers: { ...claude, "x-claude-code-agent-id": "agent-7" } });
  await ask(stage, [...history, user("CRITICAL: Respond with TEXT ONLY. Summarise.")], "We worked.");
  const after = "This session is being continued from a previous conversation. We worked.";
  await ask(stage, [user(after)], "On it.");
  const sessions = await stage.sessions();
  const keys = sessions.map(({ metadata }) => metadata.taskKey);
  expect(keys.map(({ line }) => line)).toEqual(["side", "main", "agent", "main"]);
  expect(keys[3]!["parent"]).toEqual({ uuid: sessions[1]!.metadata.uuid, reason: "client compacted" });
  expect((await stage.lengths()).slice(0, 2)).toEqual([0, 2]);
  const records = await stage.records(sessions[1]!.metadata.uuid);
  expect(records.map(({ data }) => data["kind"])).toEqual(["turn", "compaction"]);
});
