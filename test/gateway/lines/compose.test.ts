import { expect, test } from "vitest";
import { anthropicMessages } from "../../kit/inside/gateway.ts";
import type { JsonObject } from "../../kit/inside/message.ts";
import { countMessages, loadCounter } from "./counting.ts";
import { faultsOf, hashesOf, resultOf, runAgent } from "./agent.ts";
import { answered, bodyOf, exchange, openStage, refusedAgain, requestOf, user } from "./stage.ts";

const session = { "x-claude-code-session-id": "session-1" };
const budget = 40_000;

function epochOf(note: string): number {
  return Number(/epoch=(\d+)/.exec(note)?.[1]);
}

test(
  "sixty rounds stay in the budget, extend each other between epochs, and keep thinking valid",
  { tags: ["slow"], timeout: 120_000 },
  async () => {
    const stage = await openStage({ budget });
    const tokensOf = await loadCounter();
    const raws: Buffer[] = [];
    const { bodies, notes } = await runAgent({
      rounds: 60,
      headers: session,
      lines: () => stage.lines,
      onSent: (_sending, _round, raw) => void raws.push(raw),
    });
    expect(stage.events).toEqual([]);
    expect(bodies.flatMap((body) => faultsOf(body))).toEqual([]);
    expect(Math.max(...bodies.map((body) => countMessages(tokensOf, body)))).toBeLessThanOrEqual(budget);
    expect(countMessages(tokensOf, raws.at(-1)!)).toBeGreaterThan(4 * budget);
    const epochs = new Set(notes.map(epochOf));
    expect(epochs.size).toBeGreaterThan(3);
    for (let at = 1; at < bodies.length; at++) {
      const [before, body] = [hashesOf(bodies[at - 1]!), hashesOf(bodies[at]!)];
      const isSameEpoch = epochOf(notes[at]!) === epochOf(notes[at - 1]!);
      const isExtended = before.every((hash, place) => hash === body[place]);
      expect(isSameEpoch ? isExtended : body.length < before.length).toBe(true);
      const parts = (bytes: Buffer): string =>
        JSON.stringify({ ...(JSON.parse(bytes.toString()) as object), messages: [] });
      expect(parts(bodies[at]!)).toBe(parts(raws[at]!));
    }
    const first = notes.findIndex((note) => epochOf(note) > 0);
    for (let at = 0; at < first; at++) expect(bodies[at]).toBe(raws[at]);
  },
);

test(
  "behind a restart the windows are what they were, and secrets go out as they are",
  { tags: ["slow"] },
  async () => {
    const key = `ghp_${"Ab3dE6gH9jK1mN4pQ7sT0uV2wX5yZ8aBcDeF"}`;
    const secretly = (round: number): string =>
      round % 3 === 0 ? `API key: ${key}\n${resultOf(round)}` : resultOf(round);
    // A recall by `mcp` names the session, and the two sessions have different names.
    const options = { budget, recall: "off" } as const;
    const plain = await openStage(options);
    const steady = await runAgent({ rounds: 24, headers: session, resultOf: secretly, lines: () => plain.lines });
    const stage = await openStage(options);
    let round = 0;
    const moved = await runAgent({
      rounds: 24,
      headers: session,
      resultOf: secretly,
      lines: async () => {
        if (round++ % 5 === 4) await stage.restart();
        return stage.lines;
      },
    });
    expect(moved.notes.map(epochOf)).toEqual(steady.notes.map(epochOf));
    for (const [at, body] of moved.bodies.entries()) expect(body.toString()).toBe(steady.bodies[at]!.toString());
    expect(steady.bodies.at(-1)!.includes(key)).toBe(true);
    expect(moved.bodies.flatMap((body) => faultsOf(body))).toEqual([]);
    const [info, ...others] = await stage.sessions();
    expect(others).toEqual([]);
    const log = JSON.stringify(await stage.messages(info!.metadata.uuid));
    expect([log.includes(key), log.includes("[GITHUB_TOKEN]")]).toEqual([false, true]);
  },
);

test("once composed, always composed: a gateway without a budget keeps the last plan", { tags: ["slow"] }, async () => {
  const stage = await openStage({ budget });
  const { history, notes } = await runAgent({ rounds: 24, headers: session, lines: () => stage.lines });
  await stage.restart({});
  history.push(user("And the smallest?"));
  const after = await runAgent({ rounds: 6, headers: session, lines: () => stage.lines, history });
  expect(after.bodies.flatMap((body) => faultsOf(body))).toEqual([]);
  expect(new Set(after.notes.map(epochOf))).toEqual(new Set([epochOf(notes.at(-1)!)]));
});

test(
  "a summary of the client's own is asked for behind the window, and opens no epoch",
  { tags: ["slow"] },
  async () => {
    const stage = await openStage({ budget });
    const { history, bodies, notes } = await runAgent({ rounds: 24, headers: session, lines: () => stage.lines });
    const summary = [...history, user("CRITICAL: Respond with TEXT ONLY. Summarise.")];
    await stage.restart();
    const sending = await exchange(
      stage.lines,
      requestOf(bodyOf(summary), session),
      answered([{ type: "text", text: "All." }]),
    );
    expect(faultsOf(sending.body)).toEqual([]);
    expect(hashesOf(sending.body).slice(0, hashesOf(bodies.at(-1)!).length)).toEqual(hashesOf(bodies.at(-1)!));
    expect(epochOf(sending.note)).toBe(epochOf(notes.at(-1)!));
  },
);

test(
  "a refusal that the plan caused is met once without reasoning, an overflow by a smaller window",
  { tags: ["slow"] },
  async () => {
    const stage = await openStage({ budget });
    const { history } = await runAgent({ rounds: 24, headers: session, lines: () => stage.lines });
    history.push(user("Go on."));
    const sending = await stage.lines.send(requestOf(bodyOf(history), session), "tenant-a");
    const bound = JSON.stringify({
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "messages.5.content.0: `thinking` block is bound to a different conversation",
      },
    });
    expect(anthropicMessages.isPrefixFault(400, bound)).toBe(true);
    const bare = await sending.again(400, bound);
    expect(bare!.toString()).not.toContain('"thinking"');
    expect(await sending.again(400, bound)).toBeUndefined();
    const long = JSON.stringify({
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 250000 tokens > 200000 maximum" },
    });
    const smaller = await sending.again(400, long);
    expect(smaller!.length).toBeLessThan(bare!.length);
    expect(faultsOf(smaller!)).toEqual([]);
    await sending.keep(answered([{ type: "text", text: "Gone on." }]));
    const [info] = await stage.sessions();
    const records = await stage.records(info!.metadata.uuid);
    expect(records.at(-1)!.data).toMatchObject({ mends: ["reasoning-removed", "emergency-epoch"] });
  },
);

test(
  "a 413 that has nothing to do with the history makes one window smaller, and no more",
  { tags: ["slow"] },
  async () => {
    const stage = await openStage({ budget });
    const { history } = await runAgent({ rounds: 12, headers: session, lines: () => stage.lines });
    history.push(user("Go on."));
    const refused = refusedAgain(413);
    const tokensOf = await loadCounter();
    const bodies: string[] = [];
    const sizes: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const padded = { metadata: { note: "x".repeat(1_000_000) } };
      const sending = await stage.lines.send(requestOf(bodyOf(history, padded), session), "tenant-a");
      const { body } = sending;
      bodies.push(body.toString());
      const smaller = await sending.again(413, "too large");
      expect(smaller !== undefined).toBe(attempt === 0);
      sizes.push((smaller ?? body).length);
      await sending.keep(refused);
    }
    expect(sizes[0]).toBeLessThan(bodies[0]!.length);
    expect(new Set(bodies.slice(1)).size).toBe(1);
    const [first, again] = bodies.map((body) => countMessages(tokensOf, Buffer.from(body)));
    expect(again).toBeGreaterThan(first! * 0.98);
    const rest = await runAgent({ rounds: 8, headers: session, lines: () => stage.lines, history });
    expect(Math.max(...rest.bodies.map((body) => countMessages(tokensOf, body)))).toBeGreaterThan(budget * 0.75);
    expect(rest.bodies.flatMap((body) => faultsOf(body))).toEqual([]);
  },
);

test("two requests that are refused at once, smaller too, leave the window as it was", async () => {
  const stage = await openStage({ budget });
  const { history } = await runAgent({ rounds: 12, headers: session, lines: () => stage.lines });
  history.push(user("Go on."));
  const refused = refusedAgain(413);
  const send = async () =>
    stage.lines.send(requestOf(bodyOf(history, { metadata: { note: "x".repeat(1_000_000) } }), session), "tenant-a");
  const [one, two] = [await send(), await send()];
  const { length } = one.body;
  expect((await one.again(413, "too large"))!.length).toBeLessThan(length);
  await two.again(413, "too large");
  await one.keep(refused);
  await two.keep(refused);
  const { body } = await send();
  expect(body.length - 1_000_000).toBeGreaterThan((length - 1_000_000) * 0.97);
  expect(faultsOf(body)).toEqual([]);
});

test(
  "a body that is taken whole while a smaller one waits leaves that one's window no longer than it helps",
  { tags: ["slow"] },
  async () => {
    const stage = await openStage({ budget });
    const { history } = await runAgent({ rounds: 12, headers: session, lines: () => stage.lines });
    history.push(user("Go on."));
    const send = async () =>
      stage.lines.send(requestOf(bodyOf(history, { metadata: { note: "x".repeat(1_000_000) } }), session), "tenant-a");
    const [one, two] = [await send(), await send()];
    const { length } = one.body;
    await one.again(413, "too large");
    await two.keep(answered("Gone on."));
    await one.keep(refusedAgain(413));
    history.push({ role: "assistant", content: "Gone on." }, user("And on."));
    const { body } = await send();
    expect(body.length - 1_000_000).toBeGreaterThan((length - 1_000_000) * 0.97);
  },
);

test("a 413 for less than any limit makes a window smaller only where it speaks of tokens", async () => {
  const stage = await openStage({ budget });
  const { history } = await runAgent({ rounds: 12, headers: session, lines: () => stage.lines });
  const sending = await stage.lines.send(requestOf(bodyOf([...history, user("Go on.")]), session), "tenant-a");
  for (const body of ["", "<html><h1>413 Request Entity Too Large</h1></html>", '{"error":"Payload too large"}'])
    expect(await sending.again(413, body)).toBeUndefined();
  const words = '{"error":{"message":"Request body too large for m. Max size: 8000 tokens."}}';
  expect(await sending.again(413, words)).toBeDefined();
});

test(
  "a request that is too long by its words is made smaller until it is taken, and stays so",
  { tags: ["slow"] },
  async () => {
    const stage = await openStage({ budget });
    const { history } = await runAgent({ rounds: 12, headers: session, lines: () => stage.lines });
    history.push(user("Go on."));
    const long = JSON.stringify({ error: { message: "prompt is too long: 250000 tokens > 10000 maximum" } });
    const refused = refusedAgain(400);
    const wholes: number[] = [];
    const sizes: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      const sending = await stage.lines.send(requestOf(bodyOf(history), session), "tenant-a");
      wholes.push(sending.body.length);
      const smaller = await sending.again(400, long);
      sizes.push(smaller!.length);
      const isTaken = attempt === 3;
      await sending.keep(isTaken ? answered("Gone on.") : refused);
    }
    expect(sizes.toSorted((left, right) => right - left)).toEqual(sizes);
    expect(sizes[3]).toBeLessThan(sizes[0]! * 0.7);
    expect(Math.min(...wholes)).toBeGreaterThan(wholes[0]! * 0.97);
    history.push({ role: "assistant", content: "Gone on." }, user("And on."));
    const rest = await runAgent({ rounds: 6, headers: session, lines: () => stage.lines, history });
    expect(Math.max(...rest.bodies.map(({ length }) => length))).toBeLessThan(sizes[3]! * 1.6);
  },
);

test("a subagent is composed by itself, and a line without tools is not", async () => {
  const stage = await openStage({ budget: 2_000 });
  const long: JsonObject[] = [];
  for (let at = 0; at < 20; at++)
    long.push(user(`${at} ${"word ".repeat(200)}`), { role: "assistant", content: `${at}.` });
  const body = bodyOf([...long, user("End.")], { tools: [] });
  const request = requestOf(body, session);
  const sending = await exchange(stage.lines, request, answered("Ended."));
  expect(sending.body).toBe(request.call.body);
  const agent = await runAgent({
    rounds: 3,
    headers: { ...session, "x-claude-code-agent-id": "a" },
    lines: () => stage.lines,
    resultOf: (round) => `${round} `.repeat(900),
  });
  expect(epochOf(agent.notes.at(-1)!)).toBeGreaterThan(0);
  expect(agent.bodies.flatMap((sent) => faultsOf(sent))).toEqual([]);
});

test.each([
  ["mcp", true],
  ["loop", false],
] as const)(
  "the note of a window names its session for a recall by %s: %s",
  { tags: ["slow"] },
  async (recall, isNamed) => {
    const stage = await openStage({ budget, recall });
    const { bodies } = await runAgent({ rounds: 16, headers: session, lines: () => stage.lines });
    const [info] = await stage.sessions();
    expect(String(bodies.at(-1))).toContain("are kept; recall shows them by id or by words");
    expect(String(bodies.at(-1)).includes(`of session ${info!.metadata.uuid.slice(0, 8)}`)).toBe(isNamed);
  },
);
