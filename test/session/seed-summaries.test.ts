/** Seed 002 strategy B and seed 001 §10.2 in a running session. */
import { expect, it } from "vitest";
import type { Composed, ManagerOptions, Message, Session } from "windrow";
import type { Model, ModelRequest } from "windrow/model";
import { estimate, scripted } from "windrow/testing";
import type { StrategyChoice } from "windrow/window";
import { messageText } from "../kit/inside/message.ts";
import { countMessage } from "../kit/inside/tokens.ts";
import { answered, asked, listed, openSession } from "../kit/sessions.ts";

async function turns(session: Session, from: number, to: number): Promise<void> {
  for (let turn = from; turn <= to; turn++) {
    await session.append(asked(`question ${turn}: ${"why ".repeat(20)}`));
    await session.compose();
    await session.append(answered(`answer ${turn}: ${"so ".repeat(20)}`));
    await session.endStep();
  }
}

it("folds the earliest 5 of more than 10 turns into the buffer, which the next summary is given", async () => {
  const model = scripted(["BUFFER ONE", "BUFFER TWO"]);
  const strategy = "openstarry-summary";
  const session = await openSession({ budget: 50_000, strategy, summarizer: model, compaction: "blocking" });
  await turns(session, 1, 10);
  expect(model.requests).toHaveLength(0);
  await turns(session, 11, 11);
  expect(model.requests).toHaveLength(1);
  for (const turn of [1, 2, 3, 4, 5]) expect(model.requests[0]?.prompt).toContain(`question ${turn}:`);
  expect(model.requests[0]?.prompt).not.toContain("question 6:");
  expect(session.stats().state.compressionCount).toBe(1);

  const texts = (await session.compose({ system: "Be kind." })).messages.map(messageText);
  expect(texts[1]).toContain("BUFFER ONE");
  expect(texts[2]).toContain("question 6:");

  await turns(session, 12, 16);
  expect(model.requests).toHaveLength(2);
  expect(model.requests[1]?.prompt).toContain("BUFFER ONE");
  expect(model.requests[1]?.prompt).toContain("question 10:");
  const after = (await session.compose()).messages.map(messageText).join("\n");
  expect(after).toContain("BUFFER TWO");
  expect(after).not.toContain("BUFFER ONE");
  model.done();
});

it("keeps what scores high verbatim", async () => {
  const model = scripted(["A summary of the rest."]);
  const strategy = { use: "rolling-summary", threshold: 5, oldest: 4, keepImportance: 0.75 };
  const session = await openSession({ budget: 50_000, strategy, summarizer: model, compaction: "blocking" });
  await turns(session, 1, 2);
  const decision = "error: the migration must never run twice";
  await session.append(asked(decision));
  await session.append(answered("Understood."));
  await turns(session, 4, 6);
  const texts = (await session.compose()).messages.map(messageText);
  expect(texts.join("\n")).toContain("A summary of the rest.");
  expect(texts).toContain(decision);
  expect(texts.join("\n")).not.toContain("question 1:");
  model.done();
});

/** The windows of a session of preset state-manager, one for each turn. */
async function managed(options: object, summarizer?: Model): Promise<{ session: Session; windows: Composed[] }> {
  const session = await openSession({
    budget: 1_000,
    strategy: { use: "state-manager", ...options },
    compaction: "blocking",
    ...(summarizer && { summarizer }),
  });
  const windows: Composed[] = [];
  for (let turn = 1; turn <= 12; turn++) {
    await session.append(asked(`u${turn} ${"why ".repeat(60)}`));
    windows.push(await session.compose({ system: "s" }));
    await session.append(answered(`a${turn} ${"so ".repeat(60)}`));
    await session.endStep();
  }
  return { session, windows };
}

const plain: Model = async () => ({ text: "すべて順調。", usage: {}, finish: "stop" });

it("state-manager summarises whole turns by itself, directly behind the system prompt", async () => {
  const { session, windows } = await managed({}, plain);
  const { messages } = windows.find(({ report }) => report.blocks.notes > 0) ?? { messages: [] };
  expect(messages.map(({ role }) => role).slice(0, 4)).toEqual(["system", "system", "user", "assistant"]);
  expect(messageText(messages[1] as Message)).toMatch(/^前文の要約：すべて順調。\n\[Windrow: メッセージ m1-m\d+/);
  // The newest turn stays, and the next one has begun.
  expect(messages.map(messageText).filter((text) => text.startsWith("u"))).toHaveLength(2);
  expect(session.stats().state.compressionCount).toBeGreaterThan(0);
});

it("state-manager takes its threshold, its turns and its message, and without a model makes no summary", async () => {
  const counts = await Promise.all(
    [{ ratio: 0.4 }, { ratio: 0.9 }].map(async (options) => {
      const { session } = await managed(options, plain);
      return session.stats().state.compressionCount;
    }),
  );
  expect(counts[0]).toBeGreaterThan(counts[1] ?? 0);
  const { windows } = await managed({ keepTurns: 2, message: { role: "user", prefix: "Before: " } }, plain);
  const { messages } = windows.find(({ report }) => report.blocks.notes > 0) ?? { messages: [] };
  expect(messages.map(messageText).filter((text) => text.startsWith("u"))).toHaveLength(3);
  expect(messages[1]).toMatchObject({
    role: "user",
    parts: [{ text: expect.stringMatching(/^Before: すべて/) as string }],
  });
  const alone = await managed({});
  expect(alone.session.stats().state.compressionCount).toBe(0);
  expect(alone.windows[0]?.report.note).toContain("There is no model to summarise");
});

/** A session of a summarising strategy with short turns, and its summariser's requests. */
async function summarised(
  strategy: object,
  options: ManagerOptions = {},
): Promise<{ session: Session; requests: readonly ModelRequest[] }> {
  const requests: ModelRequest[] = [];
  const summarizer: Model = async (request) => {
    requests.push(request);
    return { text: `All went well so far (${requests.length}).`, usage: {}, finish: "stop" };
  };
  const session = await openSession({
    budget: 6_000,
    strategy: strategy as StrategyChoice,
    summarizer,
    compaction: "blocking",
    ...options,
  });
  await turns(session, 1, 24);
  return { session, requests };
}

it.each(["rolling-summary", "summary-at-threshold", "coding-agent", "openstarry-summary", "state-manager"])(
  "%s takes the cap, the words of the request and the message of a summary",
  async (use) => {
    const strategy = { use, maxSummaryTokens: 33, prompt: "Tell the story so far.", message: { prefix: "So far: " } };
    const { session, requests } = await summarised(strategy, { budget: 600 });
    expect(requests[0]).toMatchObject({
      maxOutput: 33,
      prompt: expect.stringMatching(/^Tell the story so far\.\n/) as string,
    });
    const texts = (await session.compose()).messages.map(messageText);
    expect(texts.filter((text) => text.startsWith("So far: All went well"))).toHaveLength(1);
  },
);

it("takes the cap of the manager where the strategy has none, and asks for a length that the source allows", async () => {
  const { requests } = await summarised({ use: "rolling-summary" }, { maxSummaryTokens: 50 });
  expect(requests[0]).toMatchObject({ maxOutput: 50 });
  expect(requests[0]?.prompt).toContain("Aim for about 40 tokens.\nDo not exceed 50 tokens.");
  const roomy = await summarised({ use: "rolling-summary", maxSummaryTokens: 900 }, { maxSummaryTokens: 50 });
  expect(roomy.requests[0]?.prompt).toContain("Aim for 30-40% of the original length.\nDo not exceed 900 tokens.");
});

it("tells the size of all that a running summary stands for", async () => {
  const { session, requests } = await summarised({ use: "rolling-summary" });
  expect(requests.length).toBeGreaterThan(1);
  const { messages } = await session.compose();
  const [, from, to, size] =
    /messages m(\d+)-m(\d+) \(about ([\d,]+) tokens\)/.exec(messages.map(messageText).join("\n")) ?? [];
  const range = (await listed(session.messages())).slice(Number(from) - 1, Number(to));
  const told = range.reduce((sum, message) => sum + countMessage(estimate, message), 0);
  expect(Number(size?.replaceAll(",", ""))).toBe(told);
});

it("keeps verbatim what a function finds important", async () => {
  const score = (messages: readonly Message[]): number =>
    messages.some((one) => messageText(one).startsWith("question 2:")) ? 1 : 0;
  const strategy = { use: "rolling-summary", threshold: 5, oldest: 4, keepImportance: 0.75, score };
  const { session } = await summarised(strategy);
  const texts = (await session.compose()).messages.map(messageText);
  expect(texts.filter((text) => /^question [1-4]:/.test(text)).map((text) => text.slice(0, 11))).toEqual([
    "question 2:",
  ]);
});

/** What a summariser was shown, and a session that is composed as a loop does it. */
async function loop(
  options: ManagerOptions,
  prepares: boolean,
  results: readonly number[],
): Promise<{ session: Session; shown: string }> {
  const prompts: string[] = [];
  const summarizer: Model = async ({ prompt }) => {
    prompts.push(prompt);
    return { text: "All went well.", usage: {}, finish: "stop" };
  };
  const session = await openSession({ compaction: "blocking", summarizer, ...options });
  await session.append(asked("THE TASK: read all of it"));
  for (const [index, tokens] of results.entries()) {
    if (prepares) await session.prepare();
    await session.compose();
    const callId = `c${index}`;
    await session.append({
      role: "assistant",
      parts: [{ type: "tool-call", callId, name: "read", args: { path: `${index}.ts` } }],
    });
    await session.endStep();
    const content = `RESULT ${index} ${"x".repeat(4 * tokens - 10)}`;
    await session.append({ role: "tool", parts: [{ type: "tool-result", callId, name: "read", content }] });
  }
  if (prepares) await session.prepare();
  const { messages } = await session.compose();
  return { session, shown: JSON.stringify([prompts, messages]) };
}

it.each([
  ["results of a tenth of the budget, and the host prepares", true, 1_000],
  ["results of a tenth of the budget, and it does not", false, 1_000],
  ["results of a quarter of it, and the host prepares", true, 2_500],
  ["results of a quarter of it, and it does not", false, 2_500],
])("summarises what a tool loop has no room for: %s", async (_, prepares, tokens) => {
  const options = { strategy: "coding-agent", budget: 10_000, counter: "chars4-floor" };
  const { session, shown } = await loop(
    options,
    prepares,
    Array.from({ length: 30 }, () => tokens),
  );
  expect(shown).toContain("THE TASK");
  const edits = await session.explain();
  const named = edits.items.filter(({ pass }) => pass === "drop-oldest").map(({ seq }) => seq);
  // The result of step `index` is message 3 + 2 × index.
  const lost = Array.from({ length: 30 }, (_step, index) => index).filter(
    (index) => !named.includes(3 + 2 * index) && !shown.includes(`RESULT ${index} `),
  );
  expect(lost).toEqual([]);
  expect(session.stats().state.compressionCount).toBeGreaterThan(1);
  expect(prepares ? named : []).toEqual([]);
});
