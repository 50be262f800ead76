/** The recall loop: recalls within one answer, and hidden rounds in every later request, as a checking provider sees them. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { Store } from "windrow";
import { openStore } from "windrow/store";
import { runAgent } from "../fake/agent.ts";
import type { AgentRun } from "../fake/agent.ts";
import { list, object, text } from "../fake/json.ts";
import type { Json } from "../fake/json.ts";
import { temporaryFolder } from "../lines/stage.ts";
import { gateBefore, handClock, loopApis, loopStage, openFake, post, seenMessages } from "./stage.ts";
import type { LoopApi, Stage } from "./stage.ts";

const recall = (id: string) => ["windrow_recall", { id }] as const;
const readFile = (path: string) => ["read_file", { path }] as const;
const script = (...steps: readonly (readonly (readonly [string, Json])[])[]): string =>
  `script:${JSON.stringify(steps)}`;

const session = "0b1f6f3e-2f0e-4a5c-9b3a-6f7d1f0f8a11";

/** The calls and results of a request as a provider reads them, in order. */
function sequence(messages: readonly Json[]): readonly string[] {
  return messages.flatMap((message) => {
    const { type, role, content, call_id: id } = message;
    if (type === "function_call") return [`call ${text(message["name"])}`];
    if (type === "function_call_output") return [`result ${text(id)}`.replace(/_[0-9a-f]{8}$/, "")];
    if (role === "tool") return [`result ${text(message["tool_call_id"])}`.replace(/_[0-9a-f]{8}$/, "")];
    const calls = list(message["tool_calls"]).map((call) => `call ${text(object(call["function"])["name"])}`);
    const blocks = list(content).flatMap((block) => {
      if (block["type"] === "tool_use") return [`call ${text(block["name"])}`];
      if (block["type"] === "tool_result") return [`result ${text(block["tool_use_id"])}`.replace(/_[0-9a-f]{8}$/, "")];
      return [];
    });
    return [...calls, ...blocks];
  });
}

/** Whether anything that the client knows names the tool. */
const leaks = ({ messages }: Pick<AgentRun, "messages">): boolean =>
  JSON.stringify(messages).includes("windrow_recall");

describe.each(loopApis)("%s", (api) => {
  const prefix = api === "anthropic" ? "toolu_" : "call_";
  const agent = (stage: Stage, task: string, more: Partial<Parameters<typeof runAgent>[1]> = {}): Promise<AgentRun> =>
    runAgent(task, { url: stage.url, api, session, ...more });

  /** A task with the script, then a further one with the whole history. */
  async function twoTasks(stage: Stage, scenario: string, isStream = true): Promise<AgentRun> {
    stage.fake.scenario = scenario;
    const first = await agent(stage, "Look it up.", { isStream });
    expect(leaks(first)).toBe(false);
    stage.fake.scenario = "plain";
    return agent(stage, "And now?", { isStream, history: first.messages });
  }

  it.each([true, false])("a recall alone is answered within the answer, streaming: %s", async (isStream) => {
    const stage = await loopStage();
    const run = await twoTasks(stage, script([recall("m1")]), isStream);
    expect(run.messages.some((message) => JSON.stringify(message).includes("Step 1."))).toBe(true);
    expect(stage.toy.recalled).toEqual([{ id: "m1" }]);
    expect(stage.fake.faults).toEqual([]);
    expect(stage.fake.turns().map((turn) => turn.extends)).toEqual([true, true, true]);
    const truth = ["call windrow_recall", `result ${prefix}a_0`];
    expect(sequence(seenMessages(stage.fake, 2))).toEqual(truth);
    expect(sequence(seenMessages(stage.fake, 3))).toEqual(truth);
    expect(JSON.stringify(seenMessages(stage.fake, 3))).toContain("The text of m1.");
    expect(stage.toy.kept.map(({ answer }) => answer.isComplete)).toEqual([true, true, true]);
  });

  it.each([true, false])("a recall beside a client's tool waits for the client, streaming: %s", async (isStream) => {
    const stage = await loopStage();
    const run = await twoTasks(stage, 'mixed:read_file:{"path":"a"}', isStream);
    expect(run.calls).toBe(1);
    expect(stage.fake.faults).toEqual([]);
    const truth = ["call windrow_recall", "call read_file", `result ${prefix}a_0`, `result ${prefix}b_0`];
    expect(sequence(seenMessages(stage.fake, 2))).toEqual(truth);
    expect(sequence(seenMessages(stage.fake, 3))).toEqual(truth);
    expect(stage.fake.turns().map((turn) => turn.extends)).toEqual([true, true, true]);
  });

  it("several recalls and calls, in one message and in many, stay in the model's order", async () => {
    const stage = await loopStage();
    const steps = [
      [recall("m1"), recall("m2")],
      [readFile("a"), recall("m3"), readFile("b"), recall("m4")],
      [recall("m5")],
      [readFile("c")],
    ];
    await twoTasks(stage, script(...steps));
    expect(stage.fake.faults).toEqual([]);
    expect(stage.toy.recalled.map(({ id }) => id)).toEqual(["m1", "m2", "m3", "m4", "m5"]);
    const truth = sequence(seenMessages(stage.fake, stage.fake.turns().length));
    expect(truth.filter((one) => one.startsWith("call"))).toEqual(steps.flat().map(([name]) => `call ${name}`));
    expect(truth.slice(8, 12)).toEqual(["b", "d", "a", "c"].map((letter) => `result ${prefix}${letter}_1`));
    expect(stage.fake.turns().every((turn) => turn.extends)).toBe(true);
  });

  it("a recall that fails tells the model so, and the answer goes on", async () => {
    const stage = await loopStage();
    stage.toy.recall = () => {
      throw new Error("There is no message m1.");
    };
    await twoTasks(stage, script([recall("m1")]));
    expect(stage.fake.faults).toEqual([]);
    expect(JSON.stringify(seenMessages(stage.fake, 2).slice(-2))).toContain("There is no message m1.");
  });

  it("recalls within one answer have a limit, which the model is told", async () => {
    const stage = await loopStage();
    const run = await twoTasks(stage, 'loop:9:windrow_recall:{"id":"m{k}"}');
    expect(stage.toy.recalled).toHaveLength(3);
    expect(stage.fake.turns()).toHaveLength(6);
    expect(JSON.stringify(seenMessages(stage.fake, 5).slice(-1))).toContain("limit of recalls");
    expect(stage.fake.faults).toEqual([]);
    expect(leaks(run)).toBe(false);
  });

  it("usage is the output of all rounds and the input of the last", async () => {
    const stage = await loopStage();
    stage.fake.scenario = script([recall("m1")]);
    const answer = await ask(stage, api, false);
    const usage = object(answer["usage"]);
    const [first, last] = stage.fake.turns().map((turn) => turn.usage!);
    expect(usage["output_tokens"] ?? usage["completion_tokens"]).toBe(first!.output + last!.output);
    const input = last!.fresh + last!.read + last!.written;
    const told = Number(usage["cache_read_input_tokens"] ?? 0) + Number(usage["cache_creation_input_tokens"] ?? 0);
    expect(Number(usage["input_tokens"] ?? usage["prompt_tokens"]) + told).toBe(input);
    const stop = answer["stop_reason"] ?? answer["status"] ?? list(answer["choices"])[0]?.["finish_reason"];
    expect(["end_turn", "completed", "stop"]).toContain(stop);
  });

  it("a hidden round with a secret is masked on the disk; after a restart its turn and reasoning go", async () => {
    const { fake, first, restart } = await restarting(script([recall("m1")], [readFile("a")]));
    const secret = `ghp_${"aB3dE6gH9jK2mN5pQ8sT".repeat(2).slice(0, 36)}`;
    first.toy.recall = () => `The token is ${secret}.`;
    const run = await agent(first, "Look it up.");
    for (const n of [2, 3]) expect(JSON.stringify(seenMessages(fake, n))).toContain(secret);
    const second = await restart();
    const more = await agent(second, "And now?", { history: run.messages });
    await agent(second, "And then?", { history: more.messages });
    expect(fake.faults.filter(({ kind }) => kind !== "tools-changed")).toEqual([]);
    expect(JSON.stringify(seenMessages(fake, fake.turns().length))).not.toMatch(new RegExp(`${secret}|REDACTED`));
  });

  it("a line that began without the tool never gets it", async () => {
    const stage = await loopStage({ begins: false });
    stage.fake.scenario = script([readFile("a")]);
    const first = await agent(stage, "Look it up.");
    await agent(stage, "And now?", { history: first.messages, headers: { "x-windrow-recall": "loop" } });
    for (const { body } of stage.fake.turns()) expect(body!.toString()).not.toContain("windrow_recall");
    expect(stage.fake.faults).toEqual([]);
  });

  it("nothing is touched where it is not asked for; one request's header asks for it", async () => {
    const stage = await loopStage({ begins: false });
    await agent(stage, "Look it up.");
    const [sent] = stage.toy.requests;
    expect(stage.fake.turns()[0]!.body!.equals(sent!.call.body)).toBe(true);
    expect(sent!.call.body.toString()).not.toContain("windrow_recall");
    await agent(stage, "Something else.", { headers: { "x-windrow-recall": "loop" } });
    expect(stage.fake.turns()[1]!.body!.toString()).toContain("windrow_recall");
    expect(stage.fake.turns()[1]!.rawHeaders.join().toLowerCase()).not.toContain("x-windrow");
  });

  it("a round that fails ends the answer with an error, and invents no end", async () => {
    const stage = await loopStage();
    stage.fake.scenario = script([recall("m1")]);
    stage.toy.recall = () => {
      stage.fake.scenario = "529:9";
      return "found";
    };
    await expect(agent(stage, "Look it up.")).rejects.toThrow(/error in the stream|refused to go on/);
    expect((await ask(stage, api, false)) as Json).toMatchObject({ error: { message: "Overloaded" } });
  });

  it("a client that leaves in the second round ends it, and what came is kept", async () => {
    const fake = await openFake();
    const gate = await gateBefore(fake, 2);
    const stage = await loopStage({ fake, upstream: gate.url });
    fake.scenario = script([recall("m1")]);
    const leaving = new AbortController();
    const answer = ask(stage, api, true, leaving.signal);
    answer.catch(() => undefined);
    await gate.came(2);
    leaving.abort();
    await gate.left;
    await expect(answer).rejects.toThrow(/abort/i);
    await stage.event(1);
    expect(stage.events[0]!.outcome).toBe("aborted");
    expect(stage.toy.kept.map(({ isAborted }) => isAborted)).toEqual([false, true]);
  });

  it("a silent second round of 40 s is filled with pings", async () => {
    const fake = await openFake();
    const gate = await gateBefore(fake, 2);
    const clock = handClock();
    const stage = await loopStage({ fake, upstream: gate.url, clock });
    fake.scenario = script([recall("m1")]);
    const answer = raw(stage, api);
    await gate.came(2);
    const before = clock.now();
    await clock.pass(40_000);
    expect(clock.now() - before).toBe(40_000);
    gate.open();
    const body = await answer;
    const pings = body.match(api === "anthropic" ? /^event: ping$/gm : /^: ping$/gm) ?? [];
    // Anthropic's own stream has one ping in each round.
    expect(pings).toHaveLength(api === "anthropic" ? 6 : 4);
    expect(body).toContain("OK done.");
  });

  it("the stream is one answer: one start, one end, indexes and numbers without a gap", async () => {
    const stage = await loopStage();
    stage.fake.scenario = script([recall("m1"), recall("m2")], [recall("m3"), readFile("a"), readFile("b")]);
    const body = await raw(stage, api);
    const events = body
      .split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => object(JSON.parse(line.slice(6))));
    expect(body).not.toContain("windrow_recall");
    expect(outlineOf[api](events)).toEqual(outlines[api]);
    expect(body.match(/\[DONE\]/g) ?? []).toHaveLength(api === "chat" ? 1 : 0);
  });
});

/** The order of a stream in a few words, by API. */
const outlineOf: Readonly<Record<LoopApi, (events: readonly Json[]) => Json>> = {
  anthropic(events) {
    const of = (type: string): readonly Json[] => events.filter((event) => event["type"] === type);
    return {
      ends: ["message_start", "message_delta", "message_stop"].map((type) => of(type).length),
      starts: of("content_block_start").map(({ index }) => index),
      stops: of("content_block_stop").map(({ index }) => index),
      reason: object(of("message_delta")[0]?.["delta"])["stop_reason"],
    };
  },
  responses(events) {
    const added = events.filter(({ type }) => type === "response.output_item.added");
    const ids = added.map((event) => text(object(event["item"])["id"]));
    const output = list(object(events.at(-1)!["response"])["output"]).map(({ id }) => text(id));
    return {
      hasGap: events.some((event, index) => event["sequence_number"] !== index),
      places: added.map((event) => event["output_index"]),
      ends: events.filter(({ type }) => type === "response.completed").length,
      isWhole: output.join() === ids.join(),
    };
  },
  chat(events) {
    const choices = events.flatMap((event) => list(event["choices"]));
    const calls = choices.flatMap((choice) => list(object(choice["delta"])["tool_calls"]));
    return {
      places: calls.filter(({ id }) => id !== undefined).map(({ index }) => index),
      ends: choices.filter((choice) => choice["finish_reason"] !== null).length,
      ids: new Set(events.map(({ id }) => id)).size,
    };
  },
};

const outlines: Readonly<Record<LoopApi, Json>> = {
  anthropic: { ends: [1, 1, 1], starts: [0, 1, 2, 3], stops: [0, 1, 2, 3], reason: "tool_use" },
  responses: { hasGap: false, places: [0, 1, 2, 3], ends: 1, isWhole: true },
  chat: { places: [0, 1], ends: 1, ids: 1 },
};

/** A gateway over files that can be started again. */
async function restarting(scenario: string) {
  const folder = await temporaryFolder();
  const fake = await openFake();
  fake.scenario = scenario;
  const open = async (): Promise<[Store, Stage]> => {
    const store = await openStore(folder);
    onTestFinished(() => store.close());
    return [store, await loopStage({ fake, store })];
  };
  const [store, first] = await open();
  const restart = async (): Promise<Stage> => {
    await first.turns.close();
    await store.close();
    return (await open())[1];
  };
  return { fake, first, restart };
}

/** One request's answer as text. */
const raw = async (stage: Stage, api: LoopApi, isStream = true, signal?: AbortSignal): Promise<string> =>
  (await post(stage.url, api, isStream, signal && { signal })).text();

async function ask(stage: Stage, api: LoopApi, isStream: boolean, signal?: AbortSignal): Promise<Json> {
  const answer = await raw(stage, api, isStream, signal);
  return isStream ? {} : (JSON.parse(answer) as Json);
}
