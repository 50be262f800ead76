/** Recall for clients that lack the tool: which text stands for a call, whatever happens to the store, the client and the gateway. */
import { expect, test } from "vitest";
import { WindrowError } from "windrow";
import type { Store } from "windrow";
import type { LinesOptions } from "windrow/gateway";
import { createMask, openStore } from "windrow/store";
import type { JsonObject } from "../../kit/inside/message.ts";
import { deferred } from "../../kit/inside/gateway.ts";
import {
  another,
  answered,
  assistant,
  bodyOf,
  named,
  openStage,
  requestOf,
  storeWith,
  tools,
  used,
  user,
} from "../lines/stage.ts";
import { work } from "../lines/agent.ts";
import type { Asked, Sent, Stage } from "../lines/stage.ts";

const options = { budget: 100_000, recall: "tool" } as const;
const missing = "<tool_use_error>Error: No such tool available: windrow_recall</tool_use_error>";
const task = user("The word of the day is heliotrope.");

const calls = (...ids: readonly string[]): JsonObject =>
  assistant(ids.map((id) => ({ type: "tool_use", id, name: "windrow_recall", input: { id: "m1" } })));

const results = (content: unknown, ...ids: readonly string[]): JsonObject =>
  user(ids.map((id) => ({ type: "tool_result", content, is_error: true, tool_use_id: id })));

const contentOf = ({ content }: JsonObject): readonly JsonObject[] => content as readonly JsonObject[];

/** The history behind one recall. */
const asked = [task, calls("toolu_1"), results(missing, "toolu_1")];

const messagesOf = (body: Buffer): readonly JsonObject[] =>
  (JSON.parse(body.toString()) as { readonly messages: readonly JsonObject[] }).messages;

/** The texts of a body's results. */
const textsOf = (body: Buffer): readonly unknown[] =>
  messagesOf(body).flatMap(({ content }) =>
    (Array.isArray(content) ? (content as readonly JsonObject[]) : []).flatMap((block) => block["content"] ?? []),
  );

/** A line whose model has recalled. */
async function recalling(given: Partial<LinesOptions> = {}, history = asked): Promise<Stage> {
  const stage = await openStage({ ...options, ...given });
  await stage.exchange(history.slice(0, 1), answered(history[1]!["content"]));
  return stage;
}

const found = expect.stringContaining("heliotrope") as unknown;

/** A store whose methods fail while they are named. */
function failing(): { readonly fails: Set<string>; readonly store: Store } {
  const fails = new Set<string>();
  const full = new WindrowError("not-durable", "No space left on the device.");
  const store = storeWith((_inner, name) => {
    if (!fails.has(name)) return undefined;
    if (name === "append") return () => Promise.reject(full);
    return () => {
      throw full;
    };
  });
  return { fails, store };
}

test("the client's own bytes stay but for the tool, and one content that is no error any more", async () => {
  const stage = await recalling();
  const block = { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: missing }] };
  const others = [
    { is_error: true, ...block, cache_control: { type: "ephemeral" } },
    { type: "text", text: "1.0" },
  ];
  const { body, raw } = await stage.send([...asked.slice(0, 2), user(others)]);
  const [text] = textsOf(body);
  expect(text).toEqual(found);
  const tool = /,(\{"name":"windrow_recall".*?\})\],"messages"/.exec(body.toString())![1]!;
  const own = body
    .toString()
    .replace(`,${tool}`, "")
    .replace(JSON.stringify(text), JSON.stringify(block.content))
    .replace('"is_error":false', '"is_error":true');
  expect(own).toBe(raw.toString());
});

test("a restart between the call and the next request, and any later one, change no byte", async () => {
  const stage = await recalling();
  const before = await stage.send(asked);
  expect(textsOf(before.body)).toEqual([found]);
  await stage.restart();
  expect((await stage.exchange(asked, "It is heliotrope.")).body).toEqual(before.body);
  await stage.restart({});
  const later = await stage.send([...asked, assistant("It is heliotrope."), user("Thanks.")]);
  expect(messagesOf(later.body).slice(0, 3)).toEqual(messagesOf(before.body));
  const tool = /"name":"windrow_recall"/;
  expect([before, later].map(({ body }) => tool.test(body.toString()))).toEqual([true, true]);
  const [log] = await stage.logs();
  expect(JSON.stringify(log)).not.toContain("No such tool");
});

test.each([
  ["append", false],
  ["append", true],
  ["read", true],
])("a store whose %s fails leaves the client's own error, for good; a restart behind: %s", async (method, restarts) => {
  const { fails, store } = failing();
  const stage = await recalling({ store });
  fails.add(method);
  const sent = await stage.exchange(asked, "I do not know.");
  expect(sent.note).toMatch(/^bypassed; reason=not-durable/);
  expect(textsOf(sent.body)).toEqual([missing]);
  fails.clear();
  if (restarts) await stage.restart({ ...options, store });
  const history = [...asked, assistant("I do not know."), user("Try again.")];
  const again = await stage.exchange(history, answered(calls("toolu_2")["content"]));
  expect(textsOf(again.body)).toEqual([missing]);
  const last = await stage.send([...history, calls("toolu_2"), results(missing, "toolu_2")]);
  expect(textsOf(last.body)).toEqual([missing, found]);
});

test("a store that is slow to keep an answer keeps the one that was sent", async () => {
  const gate = deferred<undefined>();
  let isSlow = false;
  const store = storeWith((inner, name) => {
    if (name !== "append" || !isSlow) return undefined;
    return async (...given: Parameters<Store["append"]>) => {
      if (given[1].some(({ kind }) => kind === "message")) await gate.promise;
      return inner.append(...given);
    };
  });
  const stage = await recalling({ store, mostWait: { whole: 60_000, append: 20 } });
  isSlow = true;
  const sent = stage.exchange(asked, "It is heliotrope.");
  await expect.poll(() => stage.events.map(({ reason }) => reason)).toEqual(["slow"]);
  gate.resolve(undefined);
  const { body } = await sent;
  expect(textsOf(body)).toEqual([found]);
  await stage.restart({ ...options, store });
  const later = await stage.send([...asked, assistant("It is heliotrope."), user("Thanks.")]);
  expect(messagesOf(later.body).slice(0, 3)).toEqual(messagesOf(body));
});

test.each([false, true])(
  "a client may tell its error another way at each request; a restart before: %s",
  async (restarts) => {
    const stage = await recalling();
    const { body } = await stage.exchange(asked, "It is heliotrope.");
    for (const told of ["unsupported call", "[Old tool result content cleared]"]) {
      if (restarts) await stage.restart();
      const history = [...asked.slice(0, 2), results(told, "toolu_1"), assistant("It is heliotrope."), user("Thanks.")];
      const later = await stage.exchange(history, "Welcome.");
      expect(messagesOf(later.body).slice(0, 3)).toEqual(messagesOf(body));
    }
  },
);

test("a fork behind a recall has its text, and one before it has its own", async () => {
  const stage = await recalling();
  const { body } = await stage.exchange(asked, "It is heliotrope.");
  await stage.restart();
  const beside = await stage.exchange([...asked, assistant("It is heliotrope."), user("Why?")], "It was said.");
  const behind = await stage.send([...asked, assistant("It is heliotrope."), user("Where?")]);
  for (const one of [beside, behind]) expect(messagesOf(one.body).slice(0, 3)).toEqual(messagesOf(body));
  const before = await stage.send([task, calls("toolu_9"), results(missing, "toolu_9")]);
  expect(textsOf(before.body)).toEqual([found]);
});

test("two gateways over one store send the same bytes", async () => {
  const stage = await recalling();
  const other = await another(stage, options);
  const { body } = await stage.exchange(asked, "It is heliotrope.");
  const history = [...asked, assistant("It is heliotrope."), user("Thanks.")];
  const bodies: Buffer[] = [];
  const ask = async (gateway: Asked): Promise<void> =>
    void bodies.push((await gateway.exchange(history, "Welcome.")).body);
  for (const gateway of [other, stage, other]) await ask(gateway);
  for (const one of bodies) {
    expect(one).toEqual(bodies[0]);
    expect(messagesOf(one).slice(0, 3)).toEqual(messagesOf(body));
  }
});

test.each([
  ["masks", undefined],
  ["masks and seals", "s".repeat(32)],
])("a secret that the log %s is masked in what comes back, and nowhere else", async (_, seal) => {
  const store = await openStore("ram:", { mask: createMask(seal === undefined ? {} : { seal }) });
  const secret = `ghp_${"aB3dE6gH9jK2mN5pQ8sT".repeat(2).slice(0, 36)}`;
  const history = [user(`The token is ${secret}, of heliotrope.`), calls("toolu_1"), results(missing, "toolu_1")];
  const stage = await recalling({ store }, history);
  const before = await stage.exchange(history, "I see.");
  const [text] = textsOf(before.body);
  expect(text).toEqual(found);
  expect(text).not.toContain(secret);
  expect(JSON.stringify(messagesOf(before.body)[0])).toContain(secret);
  await stage.restart({ ...options, store });
  const later = await stage.send([...history, assistant("I see."), user("Thanks.")]);
  expect(messagesOf(later.body).slice(0, 3)).toEqual(messagesOf(before.body));
});

test("a conversation whose session was erased goes on with the client's own error", async () => {
  const stage = await recalling();
  await stage.exchange(asked, "It is heliotrope.");
  const id = await stage.only();
  await stage.lines.close();
  await stage.store.upkeep.erase({}, [id]);
  await stage.restart();
  const later = await stage.send([...asked, assistant("It is heliotrope."), user("Thanks.")]);
  expect(textsOf(later.body)).toEqual([missing]);
});

test("recalls beside each other and beside the client's own calls are told apart by their ids", async () => {
  const own = { type: "tool_use", id: "toolu_own", name: "read", input: {} };
  const all = [
    ...(calls("toolu_1", "toolu_2", "toolu_3", "toolu_4", "toolu_5")["content"] as readonly JsonObject[]),
    own,
  ];
  const wrong = { ...all[1]!, input: { id: "m77" } };
  const content = all.map((call, place) => (place === 1 ? wrong : call));
  const history = [task, assistant(content), results(missing, ...all.map(({ id }) => id as string).reverse())];
  const stage = await recalling({}, history);
  const { body } = await stage.send(history);
  const many = expect.stringContaining("Only 4 recalls") as unknown;
  const none = expect.stringContaining("m77") as unknown;
  // The client answers the last call first, and the answers are counted as they stand.
  expect(textsOf(body)).toEqual([missing, found, found, found, none, many]);
});

test("a server that gives ids again: each call has its own answer", async () => {
  const chat = (id: string): JsonObject => ({
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "call_0", type: "function", function: { name: "windrow_recall", arguments: JSON.stringify({ id }) } },
    ],
  });
  const said = { role: "tool", tool_call_id: "call_0", content: "unsupported call" };
  const stage = await openStage(options);
  const function_ = { name: "read", parameters: { type: "object" } };
  const more = { tools: [{ type: "function", function: function_ }], system: undefined };
  const send = async (history: readonly unknown[], answer: JsonObject): Promise<Buffer> => {
    const request = requestOf(bodyOf(history, more), {}, "/v1/chat/completions");
    const sending = await stage.lines.send(request, "tenant-a");
    const { answer: whole, ...rest } = answered("");
    await sending.keep({ ...rest, answer: { ...whole, message: answer } });
    return sending.body;
  };
  const history: JsonObject[] = [task];
  await send(history, chat("m1"));
  history.push(chat("m1"), said);
  await send(history, chat("m88"));
  history.push(chat("m88"), said);
  const texts = messagesOf(await send(history, assistant("Done."))).flatMap(({ role, content }) =>
    role === "tool" ? [content] : [],
  );
  expect(texts).toEqual([found, expect.stringContaining("m88")]);
});

const function_ = { type: "function", name: "read", parameters: {} };
const schema = { type: "json_schema", schema: { type: "object" } };
type Begin = readonly [why: string, more: Sent & { readonly path?: string }, given: Partial<LinesOptions>];
const begins: readonly Begin[] = [
  ["no tools", { body: { tools: [] } }, options],
  ["the client's own", { body: { tools: [...tools, { name: "mcp__windrow__windrow_recall" }] } }, options],
  ["a tool that is forced", { body: { tool_choice: { type: "tool", name: "read" } } }, options],
  ["any tool that is forced", { body: { tool_choice: { type: "any" } } }, options],
  ["several answers", { body: { n: 2 } }, options],
  ["an answer in JSON", { body: { output_config: { format: schema } } }, options],
  ["a client that ends its run at such a call", { headers: { "user-agent": "Agents/JavaScript 0.20.0" } }, options],
  ["a client that makes another call of it", { headers: { "user-agent": "opencode/1.18.33" } }, options],
  ["a header", { headers: { "x-windrow-recall": "off" } }, options],
  [
    "an answer that the provider keeps",
    { path: "/v1/responses", body: { input: [task], tools: [function_] } },
    options,
  ],
  ["no budget", {}, { recall: "tool" }],
  ["another recall", {}, { ...options, recall: "mcp" }],
];

test.each(begins)("no tool is added: %s", async (_why, { path, headers = {}, body }, given) => {
  const stage = await openStage(given);
  const request = requestOf(bodyOf([task], body), headers, path);
  const sending = await stage.lines.send(request, "tenant-a");
  expect(sending.body).toBe(request.call.body);
});

test("a conversation that began without the tool never gets it, and one that has it does not lose it", async () => {
  const stage = await openStage({ ...options, recall: "mcp" });
  await stage.exchange([task], "Good.");
  await stage.restart(options);
  const history = [task, assistant("Good."), user("Go on.")];
  expect((await stage.send(history)).body.includes("windrow_recall")).toBe(false);
  const other = [user("Something else."), assistant("Yes."), user("Go on.")];
  expect((await stage.send(other)).body.includes("windrow_recall")).toBe(false);
  const third = [user("A third thing.")];
  await stage.exchange(third, "Yes.");
  const later = [...third, assistant("Yes."), user("Go on.")];
  const forced = { body: { tool_choice: { type: "any" } } };
  for (const given of [options, { ...options, recall: "mcp" } as const, {}]) {
    await stage.restart(given);
    expect((await stage.send(later, forced)).body.includes("windrow_recall")).toBe(true);
  }
  // The same first message from a client that may not have it begins a line of its own.
  expect((await stage.send(third, forced)).body.includes("windrow_recall")).toBe(false);
});

test("an id that comes again, and a call that is made again, have their own texts", async () => {
  const stage = await recalling();
  await stage.exchange(asked, answered(calls("toolu_1")["content"]));
  const wrong = assistant([{ type: "tool_use", id: "toolu_1", name: "windrow_recall", input: { id: "m99" } }]);
  const none = expect.stringContaining("m99") as unknown;
  const again = await stage.send([...asked, wrong, results(missing, "toolu_1")]);
  expect(textsOf(again.body)).toEqual([found, none]);
  const other = await stage.send([task, wrong, results(missing, "toolu_1")]);
  expect(textsOf(other.body)).toEqual([none]);
  const twice = await stage.send([
    task,
    assistant([...contentOf(calls("a")), ...contentOf(wrong)]),
    results(missing, "a", "toolu_1"),
  ]);
  expect(textsOf(twice.body)).toEqual([found, none]);
  for (const [log] of [await stage.logs()]) expect(JSON.stringify(log)).not.toContain('"toolu_1#');
});

test("two calls of one message with one id are answered in their order", async () => {
  const both = assistant(
    ["m1", "m99"].map((id) => ({ type: "tool_use", id: "same", name: "windrow_recall", input: { id } })),
  );
  const history = [task, both, results(missing, "same", "same")];
  const stage = await recalling({}, history);
  expect(textsOf((await stage.send(history)).body)).toEqual([found, expect.stringContaining("m99")]);
});

test("a tool of that name that the client adds on its way answers by itself", async () => {
  const stage = await recalling();
  await stage.exchange(asked, "It is heliotrope.");
  const more = { body: { tools: [...tools, { name: "windrow_recall", input_schema: { type: "object" } }] } };
  const own = results("My own text.", "toolu_2");
  const { body } = await stage.send([...asked, calls("toolu_2"), own], more);
  expect(textsOf(body)).toEqual([found, "My own text."]);
  expect(body.toString().split('"name":"windrow_recall"').length).toBe(2 + 2);
});

test("a log that lacks what stood before a call answers nothing", async () => {
  const { fails, store } = failing();
  const stage = await openStage({ ...options, store });
  fails.add("append");
  const begun = await stage.exchange([task], answered(calls("toolu_1")["content"]));
  expect(begun.body.includes("windrow_recall")).toBe(false);
  fails.clear();
  expect(textsOf((await stage.send(asked)).body)).toEqual([missing]);
});

test("what another gateway recalled stands here too", async () => {
  const stage = await recalling();
  const other = await another(stage, options);
  const { body } = await other.exchange(asked, "It is heliotrope.");
  const history = [...asked, assistant("It is heliotrope."), user("Thanks.")];
  const later = await stage.send(history);
  expect(messagesOf(later.body).slice(0, 3)).toEqual(messagesOf(body));
});

test("a session that is erased while its line is in memory is forgotten, and what was recalled from it too", async () => {
  const stage = await recalling({ idleTimeout: 1 });
  await stage.exchange(asked, "It is heliotrope.");
  const id = await stage.only();
  const erased = (): Promise<string> => stage.store.upkeep.erase({}, [id]).then(() => "erased", String);
  await expect.poll(erased).toBe("erased");
  const { note, body } = await stage.send([...asked, assistant("It is heliotrope."), user("Thanks.")]);
  expect(note).toMatch(/^composed/);
  expect(textsOf(body)).toEqual([missing]);
});

test("a client that clears an old result of its own keeps what was recalled behind it", async () => {
  const stage = await openStage(options);
  const [reading, read] = used("toolu_read", "A long file. ".repeat(50)) as [JsonObject, JsonObject];
  const history = [task, reading, read, calls("toolu_1"), results(missing, "toolu_1")];
  await stage.exchange(history.slice(0, 1), answered(reading["content"]));
  await stage.exchange(history.slice(0, 3), answered(history[3]!["content"]));
  const { body } = await stage.exchange(history, "It is heliotrope.");
  const cleared = history.with(2, results("[Old tool result content cleared]", "toolu_read"));
  const later = await stage.send([...cleared, assistant("It is heliotrope."), user("Thanks.")]);
  expect(textsOf(later.body).at(-1)).toBe(textsOf(body).at(-1));
  expect(textsOf(body).at(-1)).toEqual(found);
});

test("Gemini: the text stands in its own result, whatever the client's others hold", async () => {
  const stage = await openStage(options);
  const name = "windrow_recall";
  const turn = [
    { functionCall: { id: "1", name: "view", args: {} } },
    { functionCall: { id: "2", name, args: { id: "m1" } } },
  ];
  const own = { functionResponse: { id: "1", name: "view", response: ["a"], parts: [{ fileData: { fileUri: "x" } }] } };
  const error = { functionResponse: { id: "2", name, response: { error: missing } } };
  const history = [
    { role: "user", parts: [{ text: "The word is heliotrope." }] },
    { role: "model", parts: turn },
  ];
  const send = async (contents: readonly unknown[]): Promise<Buffer> => {
    const body = { contents, tools: [{ functionDeclarations: [{ name: "view", parameters: { type: "object" } }] }] };
    const sending = await stage.lines.send(requestOf(body, {}, "/v1beta/models/gemini-3-pro:generateContent"), "t");
    const { answer, ...rest } = answered("");
    await sending.keep({ ...rest, answer: { ...answer, message: { role: "model", parts: turn } } });
    return sending.body;
  };
  await send(history.slice(0, 1));
  const body = await send([...history, { role: "user", parts: [own, error] }]);
  const { contents } = JSON.parse(body.toString()) as { readonly contents: readonly JsonObject[] };
  const output = expect.stringContaining("heliotrope") as unknown;
  expect(contents[2]!["parts"]).toEqual([own, { functionResponse: { id: "2", name, response: { output } } }]);
});

test("a summary of another conversation has no text of this one, and takes none", async () => {
  const stage = await recalling();
  const other = [user("The word is crocus."), calls("toolu_1"), results(missing, "toolu_1")];
  const prompt = user("You are performing a CONTEXT CHECKPOINT COMPACTION. Summarise.");
  const summary = await stage.exchange([...other, prompt], "Summary", { body: { tools: undefined } });
  expect(textsOf(summary.body)).toEqual([missing]);
  expect(textsOf((await stage.send(asked)).body)).toEqual([found]);
});

test.each([false, true])(
  "reasoning behind a text that nobody knows any more is left out once refused; erased: %s",
  async (isErased) => {
    const stage = await recalling();
    const thought = [
      { type: "thinking", thinking: "Hm.", signature: "sig" },
      { type: "text", text: "Heliotrope." },
    ];
    await stage.exchange(asked, answered(thought));
    const id = await stage.only();
    if (isErased) {
      await stage.lines.close();
      await stage.store.upkeep.erase({}, [id]);
      await stage.restart();
    }
    const history = [...asked, assistant(thought), user("Thanks.")];
    const sending = await stage.send(history, isErased ? {} : { headers: named("another-session") });
    expect(textsOf(sending.body)[0]).toBe(missing);
    const message = "messages.3.content.0: Invalid `signature` in `thinking` block";
    const mended = await sending.again(400, JSON.stringify({ type: "error", error: { message } }));
    expect(mended?.includes("sig")).toBe(false);
  },
);

test("a gateway that only observes sends what another one composed", async () => {
  const stage = await openStage({ budget: 6_000 });
  const other = await another(stage, {});
  await other.exchange([user("Hello.")], "Hi.");
  const { history } = await work(stage, 12);
  expect((await other.send([...history, user("Go on.")])).note).toMatch(/^composed/);
});
