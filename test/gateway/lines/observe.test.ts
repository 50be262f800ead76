import { describe, expect, test } from "vitest";
import { newestLog, stats, top, viewSession } from "windrow/ops";
import { storedSource } from "windrow/viewer";
import { answered, bodyOf, broken, exchange, openStage, requestOf, user } from "./stage.ts";

const session = { "x-claude-code-session-id": "session-1", "user-agent": "claude-cli/2.1" };
const say = (text: string): object => ({ type: "text", text });

describe("lines that are only observed", () => {
  test("a conversation is one session, its messages and its requests", async () => {
    const stage = await openStage();
    const first = requestOf(bodyOf([user("List the files.")]), session);
    const sending = await exchange(stage.lines, first, answered([say("There are two.")]));
    expect(sending.body).toBe(first.call.body);
    expect(sending.note).toMatch(/^observed; session=[0-9a-f]{8}; line=main$/);
    const second = requestOf(
      bodyOf([
        user([{ type: "text", text: "List the files.", cache_control: { type: "ephemeral" } }]),
        { role: "assistant", content: [say("There are two.")] },
        user("Read them."),
      ]),
      session,
    );
    await exchange(stage.lines, second, answered([say("Both are empty.")]));
    const [info, ...others] = await stage.sessions();
    expect(others).toEqual([]);
    expect(info!.metadata.taskKey).toMatchObject({
      gateway: 1,
      api: "anthropic-messages",
      client: "claude-code",
      session: "session-1",
      line: "main",
      tenant: "tenant-a",
    });
    const messages = await stage.messages(info!.metadata.uuid);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    const records = await stage.records(info!.metadata.uuid);
    expect(records.map(({ data }) => data)).toMatchObject([
      { kind: "turn", attempt: 1, status: 200, epoch: 0, bytes_in: first.call.body.length, stop: "end_turn" },
      { kind: "turn", attempt: 1, bytes_out: second.call.body.length, request_id: "req_1" },
    ]);
    expect(info!.state.llmCallCount).toBe(2);
  });

  test("a call's usage names the provider's answer, and the tool calls that the client runs are counted", async () => {
    const stage = await openStage();
    const call = (id: string): object => ({ type: "tool_use", id, name: "read", input: { path: `${id}.ts` } });
    const asked = user("Read both.");
    const calls = [call("toolu_1"), call("toolu_2")];
    await exchange(stage.lines, requestOf(bodyOf([asked]), session), answered(calls, { id: "msg_1" }));
    const results = ["toolu_1", "toolu_2"].map((id) => ({ type: "tool_result", tool_use_id: id, content: "Empty." }));
    const second = [asked, { role: "assistant", content: calls }, user(results)];
    await exchange(stage.lines, requestOf(bodyOf(second), session), broken("They"));
    await exchange(
      stage.lines,
      requestOf(bodyOf(second), session),
      answered([say("Both are empty.")], { id: "msg_2" }),
    );
    const [info] = await stage.sessions();
    expect(info!.state).toMatchObject({ llmCallCount: 3, toolCallCount: 2 });
    const used: unknown[] = [];
    for await (const { answerId, requestId, toolCalls } of stage.store.read({}, info!.metadata.uuid, { kind: "usage" }))
      used.push([answerId, requestId, toolCalls]);
    expect(used).toEqual([
      ["msg_1", "req_1", 2],
      [undefined, "req_1", undefined],
      ["msg_2", "req_1", undefined],
    ]);
    const view = await viewSession(stage.store, {}, info!.metadata.uuid, { tools: true });
    expect(view).toMatchObject({ model: "claude-opus-5-5", taskName: "claude-code: Read both." });
    expect(view.statistics.toolCalls).toBe(2);
    expect(view.tools).toMatchObject({
      total: 2,
      shown: [
        { callId: "toolu_1", toolName: "read", arguments: { path: "toolu_1.ts" }, status: "success", durationMs: null },
        { callId: "toolu_2", status: "success" },
      ],
    });
    const listed = await storedSource(stage.store, {}).sessions({});
    expect(listed.sessions[0]).toMatchObject({
      model: "claude-opus-5-5",
      toolCalls: 2,
      title: "claude-code: Read both.",
    });
    expect((await top(stage.store)).sessions[0]).toMatchObject({ task: "claude-code: Read both.", toolCalls: 2 });
    expect((await stats(stage.store)).average).toMatchObject({ toolCalls: 2 });
    const log = await newestLog(stage.store, { level: "DEBUG" }, 20);
    const said = log.map(({ text }) => text);
    expect(said[0]).toBe("Task started: claude-code");
    expect(said.filter((text) => text === "Usage (turn): 100 tokens in, 10 out")).toHaveLength(3);
  });

  test("a request that is asked again with nothing new is an attempt and no message", async () => {
    const stage = await openStage();
    await exchange(stage.lines, requestOf(bodyOf([user("Go.")]), session), broken("I am"));
    await exchange(
      stage.lines,
      requestOf(bodyOf([user("Go.")], { stream: false }), session),
      answered([say("I am done.")]),
    );
    const [info, ...others] = await stage.sessions();
    expect(others).toEqual([]);
    expect(await stage.messages(info!.metadata.uuid)).toHaveLength(2);
    const records = await stage.records(info!.metadata.uuid);
    expect(records.map(({ data }) => [data["attempt"], data["incomplete"], data["partial"]])).toEqual([
      [1, true, "I am"],
      [2, undefined, undefined],
    ]);
  });

  test("an answer that its client writes another way is the same, also after a restart", async () => {
    const stage = await openStage();
    await exchange(stage.lines, requestOf(bodyOf([user("Go.")]), session), answered([say("One.\n"), say("Two.")]));
    await stage.restart();
    const back = { role: "assistant", content: "One. Two." };
    await exchange(
      stage.lines,
      requestOf(bodyOf([user("Go."), back, user("On.")]), session),
      answered([say("Three.")]),
    );
    await stage.restart();
    const last = [user("Go."), back, user("On."), { role: "assistant", content: [say("Three.")] }, user("End.")];
    await exchange(stage.lines, requestOf(bodyOf(last), session), answered([say("Bye.")]));
    const [info, ...others] = await stage.sessions();
    expect(others).toEqual([]);
    expect(await stage.messages(info!.metadata.uuid)).toHaveLength(6);
  });

  test(
    "of a client's many conversations under one name the oldest goes on in its own session",
    { tags: ["slow"] },
    async () => {
      const stage = await openStage();
      const task = (n: number): object => user(`Task ${n}.`);
      const done = { role: "assistant", content: [say("Done.")] };
      for (let n = 0; n < 36; n++)
        await exchange(stage.lines, requestOf(bodyOf([task(n)]), session), answered([say("Done.")]));
      for (const n of [0, 35])
        await exchange(stage.lines, requestOf(bodyOf([task(n), done, user("On.")]), session), answered([say("Done.")]));
      const infos = await stage.sessions();
      expect(infos).toHaveLength(36);
      const lengths = await Promise.all(
        infos.map(async ({ metadata: { uuid } }) => (await stage.messages(uuid)).map(({ parts }) => parts)),
      );
      expect(lengths.filter((parts) => parts.length === 4).map(([first]) => first)).toEqual(
        expect.arrayContaining([0, 35].map((n) => [{ type: "text", text: `Task ${n}.` }])),
      );
      expect(stage.events).toEqual([]);
    },
  );

  test("a message that was edited, or an answer that is asked for anew, forks the line", async () => {
    const stage = await openStage();
    const opening = [user("Go."), { role: "assistant", content: [say("Gone.")] }];
    await exchange(stage.lines, requestOf(bodyOf(opening.slice(0, 1)), session), answered([say("Gone.")]));
    await exchange(
      stage.lines,
      requestOf(bodyOf([...opening, user("Left.")]), session),
      answered([say("Left it is.")]),
    );
    await exchange(
      stage.lines,
      requestOf(bodyOf([...opening, user("Right.")]), session),
      answered([say("Right it is.")]),
    );
    await exchange(
      stage.lines,
      requestOf(bodyOf([...opening, user("Left.")]), session),
      answered([say("Left again.")]),
    );
    const sessions = await stage.sessions();
    expect(sessions).toHaveLength(3);
    expect(sessions.map(({ metadata }) => metadata.forkedFrom?.at)).toEqual([undefined, 2, 3]);
    const goOn = [...opening, user("Left."), { role: "assistant", content: [say("Left it is.")] }, user("Stop.")];
    await exchange(stage.lines, requestOf(bodyOf(goOn), session), answered([say("Stopped.")]));
    expect(await stage.sessions()).toHaveLength(3);
    expect(await stage.messages(sessions[0]!.metadata.uuid)).toHaveLength(6);
  });

  test("two conversations that open alike, of a client that names none, part where they differ", async () => {
    const stage = await openStage();
    const opening = [user("hi")];
    await exchange(stage.lines, requestOf(bodyOf(opening)), answered([say("Hello!")]));
    await exchange(stage.lines, requestOf(bodyOf(opening)), answered([say("Good day!")]));
    const first = [...opening, { role: "assistant", content: [say("Hello!")] }, user("A")];
    const second = [...opening, { role: "assistant", content: [say("Good day!")] }, user("B")];
    await exchange(stage.lines, requestOf(bodyOf(first)), answered([say("a")]));
    await exchange(stage.lines, requestOf(bodyOf(second)), answered([say("b")]));
    const sessions = await stage.sessions();
    const texts = await Promise.all(
      sessions.map(async ({ metadata }) => JSON.stringify(await stage.messages(metadata.uuid))),
    );
    expect(texts).toHaveLength(2);
    expect(texts.filter((text) => text.includes("Hello!") && text.includes('"A"'))).toHaveLength(1);
    expect(texts.filter((text) => text.includes("Good day!") && text.includes('"B"'))).toHaveLength(1);
  });

  test("tenants share no line", async () => {
    const stage = await openStage();
    const request = requestOf(bodyOf([user("The same words.")]), session);
    await exchange(stage.lines, request, answered([say("Yes.")]), "tenant-a");
    await exchange(stage.lines, request, answered([say("Yes.")]), "tenant-b");
    const sessions = await stage.sessions();
    expect(sessions.map(({ metadata }) => metadata.taskKey["tenant"])).toEqual(["tenant-a", "tenant-b"]);
  });

  test("titles, subagents and summaries of a session are told apart", async () => {
    const stage = await openStage();
    const title = {
      model: "claude-opus-5-5",
      max_tokens: 10,
      messages: [user("Name this.")],
      output_config: { format: { type: "json_schema", schema: {} } },
    };
    await exchange(stage.lines, requestOf(title, session), answered([say("A name")]));
    const history = [user("Work."), { role: "assistant", content: [say("Worked.")] }];
    await exchange(stage.lines, requestOf(bodyOf(history.slice(0, 1)), session), answered([say("Worked.")]));
    const agent = { ...session, "x-claude-code-agent-id": "agent-7" };
    await exchange(stage.lines, requestOf(bodyOf([user("Search.")]), agent), answered([say("Found.")]));
    const summary = [...history, user("CRITICAL: Respond with TEXT ONLY. Summarise.")];
    await exchange(stage.lines, requestOf(bodyOf(summary), session), answered([say("We worked.")]));
    const after = [user("This session is being continued from a previous conversation. We worked.")];
    await exchange(stage.lines, requestOf(bodyOf(after), session), answered([say("On it.")]));
    const sessions = await stage.sessions();
    const keys = sessions.map(({ metadata }) => metadata.taskKey);
    expect(keys.map(({ line }) => line)).toEqual(["side", "main", "agent", "main"]);
    expect(keys[3]!["parent"]).toEqual({ uuid: sessions[1]!.metadata.uuid, reason: "client compacted" });
    expect(await stage.messages(sessions[0]!.metadata.uuid)).toEqual([]);
    expect(await stage.messages(sessions[1]!.metadata.uuid)).toHaveLength(2);
    expect((await stage.records(sessions[1]!.metadata.uuid)).map(({ data }) => data["kind"])).toEqual([
      "turn",
      "compaction",
    ]);
  });

  test("windows are looked at, and usage names them", async () => {
    const stage = await openStage();
    await exchange(stage.lines, requestOf(bodyOf([user("Go.")]), session), answered([say("Gone.")]));
    const [info] = await stage.sessions();
    const windows = [];
    for await (const { window } of stage.store.read({}, info!.metadata.uuid, { kind: "usage" })) windows.push(window);
    expect(windows).toMatchObject([{ epoch: 0, last: 1 }]);
  });
});
