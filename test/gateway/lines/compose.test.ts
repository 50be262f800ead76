import { expect, test } from "vitest";
import { anthropicMessages } from "../../kit/inside/gateway.ts";
import { tokensOf } from "./counting.ts";
import { faultsOf, goOn, hashesOf, resultOf, work } from "./agent.ts";
import { answered, assistant, epochOf, openStage, refusedAgain, session, user } from "./stage.ts";

const budget = 40_000;
const slow = { tags: ["slow"] };
const refusalOf = (message: string): string =>
  JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } });
/** Bytes of a request that have nothing to do with its history. */
const padding = 1_000_000;
const padded = { body: { metadata: { note: "x".repeat(padding) } } };

test("sixty rounds stay in the budget, and extend each other between epochs", slow, async () => {
  const stage = await openStage({ budget });
  const raws: Buffer[] = [];
  const { bodies, notes } = await work(stage, 60, { onSent: (_sending, _round, raw) => void raws.push(raw) });
  expect(stage.events).toEqual([]);
  expect(Math.max(...bodies.map(tokensOf))).toBeLessThanOrEqual(budget);
  expect(tokensOf(raws.at(-1)!)).toBeGreaterThan(4 * budget);
  expect(new Set(notes.map(epochOf)).size).toBeGreaterThan(3);
  for (let at = 1; at < bodies.length; at++) {
    const [before, body] = [hashesOf(bodies[at - 1]!), hashesOf(bodies[at]!)];
    const isSameEpoch = epochOf(notes[at]!) === epochOf(notes[at - 1]!);
    const isExtended = before.every((hash, place) => hash === body[place]);
    expect(isSameEpoch ? isExtended : body.length < before.length, `round ${at}`).toBe(true);
    const parts = (bytes: Buffer): object => ({ ...(JSON.parse(bytes.toString()) as object), messages: [] });
    expect(JSON.stringify(parts(bodies[at]!))).toBe(JSON.stringify(parts(raws[at]!)));
  }
  const first = notes.findIndex((note) => epochOf(note) > 0);
  for (let at = 0; at < first; at++) expect(bodies[at]).toBe(raws[at]);
});

test("with the budget auto a conversation begins small, and grows until it holds fifteen calls", slow, async () => {
  const options = { budget: "auto", recall: "off" } as const;
  const stage = await openStage(options);
  const { bodies, notes } = await work(stage, 16);
  expect(stage.events).toEqual([]);
  const first = notes.findIndex((note) => epochOf(note) > 0);
  expect(tokensOf(bodies[first - 1]!)).toBeLessThan(17_000);
  const epochs = await stage.records(await stage.only(), "epoch");
  const sizes = epochs.flatMap(({ data }) => (data["sizing"] as { readonly size: number } | undefined)?.size ?? []);
  expect(sizes.length).toBeGreaterThan(1);
  expect(sizes).toEqual(sizes.toSorted((one, other) => one - other));
  expect(sizes.at(-1)).toBeGreaterThan(30_000);
  expect(Math.max(...bodies.map(tokensOf))).toBeGreaterThan(30_000);

  const moved = await openStage(options);
  let round = 0;
  const lines = async () => {
    if (round++ % 5 === 4) await moved.restart();
    return moved.lines;
  };
  const again = await work(moved, 16, { lines });
  for (const [at, body] of again.bodies.entries()) expect(body.toString(), `${at}`).toBe(bodies[at]!.toString());
});

test("behind a restart the windows are what they were, and secrets go out as they are", slow, async () => {
  const key = `ghp_${"Ab3dE6gH9jK1mN4pQ7sT0uV2wX5yZ8aBcDeF"}`;
  const secretly = (round: number): string => (round % 3 === 0 ? `API key: ${key}\n` : "") + resultOf(round);
  // A recall by `mcp` names the session, and the two sessions have different names.
  const options = { budget, recall: "off" } as const;
  const steady = await work(await openStage(options), 24, { resultOf: secretly });
  const stage = await openStage(options);
  let round = 0;
  const lines = async () => {
    if (round++ % 5 === 4) await stage.restart();
    return stage.lines;
  };
  const moved = await work(stage, 24, { resultOf: secretly, lines });
  expect(moved.notes.map(epochOf)).toEqual(steady.notes.map(epochOf));
  for (const [at, body] of moved.bodies.entries()) expect(body.toString()).toBe(steady.bodies[at]!.toString());
  expect(steady.bodies.at(-1)!.includes(key)).toBe(true);
  const log = JSON.stringify(await stage.messages(await stage.only()));
  expect([log.includes(key), log.includes("[GITHUB_TOKEN]")]).toEqual([false, true]);
});

test("once composed, always composed: a gateway without a budget keeps the last plan", slow, async () => {
  const stage = await openStage({ budget });
  const { history, notes } = await work(stage, 24);
  await stage.restart({});
  const after = await goOn(stage, history, 6);
  expect(new Set(after.notes.map(epochOf))).toEqual(new Set([epochOf(notes.at(-1)!)]));
});

test("a summary of the client's own is asked for behind the window, and opens no epoch", slow, async () => {
  const stage = await openStage({ budget });
  const { history, bodies, notes } = await work(stage, 24);
  await stage.restart();
  const summary = [...history, user("CRITICAL: Respond with TEXT ONLY. Summarise.")];
  const { body, note } = await stage.exchange(summary, "All.");
  expect(faultsOf(body)).toEqual([]);
  expect(hashesOf(body).slice(0, hashesOf(bodies.at(-1)!).length)).toEqual(hashesOf(bodies.at(-1)!));
  expect(epochOf(note)).toBe(epochOf(notes.at(-1)!));
});

test("a refusal of a plan is met once without reasoning, an overflow by a smaller window", slow, async () => {
  const stage = await openStage({ budget });
  const { history } = await work(stage, 24);
  const sending = await stage.send([...history, user("Go on.")]);
  const bound = refusalOf("messages.5.content.0: `thinking` block is bound to a different conversation");
  expect(anthropicMessages.isPrefixFault(400, bound)).toBe(true);
  const bare = await sending.again(400, bound);
  expect(bare!.toString()).not.toContain('"thinking"');
  expect(await sending.again(400, bound)).toBeUndefined();
  const smaller = await sending.again(400, refusalOf("prompt is too long: 250000 tokens > 200000 maximum"));
  expect(smaller!.length).toBeLessThan(bare!.length);
  expect(faultsOf(smaller!)).toEqual([]);
  await sending.keep(answered("Gone on."));
  const records = await stage.records(await stage.only());
  expect(records.at(-1)!.data).toMatchObject({ mends: ["reasoning-removed", "emergency-epoch"] });
});

test.each(["refused, smaller too,", "taken whole"])(
  "a request that is %s while a smaller one waits leaves the window as it was",
  slow,
  async (outcome) => {
    const stage = await openStage({ budget });
    const { history } = await work(stage, 12);
    history.push(user("Go on."));
    const [one, two] = [await stage.send(history, padded), await stage.send(history, padded)];
    const { length } = one.body;
    expect((await one.again(413, "too large"))!.length).toBeLessThan(length);
    if (outcome === "taken whole") {
      await two.keep(answered("Gone on."));
      await one.keep(refusedAgain(413));
      history.push(assistant("Gone on."), user("And on."));
    } else {
      await two.again(413, "too large");
      await one.keep(refusedAgain(413));
      await two.keep(refusedAgain(413));
    }
    const { body } = await stage.send(history, padded);
    expect(body.length - padding).toBeGreaterThan((length - padding) * 0.97);
    expect(faultsOf(body)).toEqual([]);
  },
);

test("a 413 for less than any limit makes a window smaller only where it speaks of tokens", async () => {
  const stage = await openStage({ budget });
  const { history } = await work(stage, 12);
  const sending = await stage.send([...history, user("Go on.")]);
  for (const body of ["", "<html><h1>413 Request Entity Too Large</h1></html>", '{"error":"Payload too large"}'])
    expect(await sending.again(413, body)).toBeUndefined();
  expect(await sending.again(413, refusalOf("Request body too large for m. Max size: 8000 tokens."))).toBeDefined();
});

test("a subagent is composed by itself, and a line without tools is not", async () => {
  const stage = await openStage({ budget: 2_000 });
  const long = Array.from({ length: 20 }, (_, at) => [user(`${at} ${"word ".repeat(200)}`), assistant(`${at}.`)]);
  const { body, raw } = await stage.exchange([...long.flat(), user("End.")], "Ended.", { body: { tools: [] } });
  expect(body).toBe(raw);
  const headers = { ...session, "x-claude-code-agent-id": "a" };
  const agent = await work(stage, 3, { headers, resultOf: (round) => `${round} `.repeat(900) });
  expect(epochOf(agent.notes.at(-1)!)).toBeGreaterThan(0);
});

test.each([
  ["mcp", true],
  ["tool", false],
] as const)("the note of a window names its session for a recall by %s: %s", slow, async (recall, isNamed) => {
  const stage = await openStage({ budget, recall });
  const { bodies } = await work(stage, 16);
  const [info] = await stage.sessions();
  expect(String(bodies.at(-1))).toContain("are kept; recall shows them by id or by words");
  expect(String(bodies.at(-1)).includes(`of session ${info!.metadata.uuid.slice(0, 8)}`)).toBe(isNamed);
});
