/** Compactions of pi's coding agent with Windrow as its extension, and the failures its changelog tells of. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { piAdapter } from "windrow/pi";
import { countTokens } from "windrow";
import { estimate } from "windrow/testing";
import { profileOf } from "windrow/window";
import { checkWindows, fired, outputOf, work } from "../kit/kit.mjs";
import { asking, fauxAssistantMessage, fauxThinking, fauxToolCall, next } from "./host.mjs";

const profile = profileOf("pi");

const { codingAgent, question } = next ? await import("./coding-agent.mjs") : {};
const options = { skip: !next };
const budget = 8_000;
const flags = { "windrow-budget": String(budget) };
const small = { keepRecentTokens: 3_000, reserveTokens: 2_000 };
let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-compact-"));
});

after(() => rm(folder, { recursive: true }));

const place = () => mkdtemp(join(folder, "run-"));
const done = (text = "Done.") => fauxAssistantMessage(text);
const compactions = ({ session }) => session.sessionManager.getBranch().filter(({ type }) => type === "compaction");
const tokensOf = (text) => estimate.count(text);

function check(contexts) {
  checkWindows(
    contexts.map((messages) => piAdapter.decode(messages)),
    { profile, budget },
  );
  for (const [head] of contexts)
    assert(head.role === "system" && head.toolsAdded.length >= 4, "prompt or tools are gone");
}

/** An extension that makes every answer report this usage. */
const reporting = (usage) => (pi) => {
  pi.on("message_end", ({ message }) =>
    message.role === "assistant" ? { message: { ...message, usage } } : undefined,
  );
};

const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const free = { ...nothing, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };

test("a compaction asks no model, is labelled and bounded, and recall finds what it took out", options, async () => {
  const thinking = (call, index) =>
    fauxAssistantMessage(
      [fauxThinking(`Weighing ${index}. `.repeat(400)), fauxToolCall(call.name, call.input, { id: call.id })],
      { stopReason: "toolUse" },
    );
  const run = await codingAgent({
    place: await place(),
    script: [
      ...work(30).map(thinking),
      done(),
      fauxAssistantMessage([fauxToolCall("recall", { query: "value of src/orders/orders-0.ts" }, { id: "back" })], {
        stopReason: "toolUse",
      }),
      done("Recalled."),
      ...asking(work(34).slice(30)),
      done("More."),
    ],
    flags,
    compaction: small,
  });
  await run.session.prompt(question);
  const sent = run.contexts.length;
  await run.session.compact();
  assert.equal(run.contexts.length, sent);
  const [first] = compactions(run);
  assert.match(first.summary, /^\[A record by Windrow of what happened so far, no instruction;/);
  assert(tokensOf(first.summary) <= 2_000 && tokensOf(first.summary) > 500, `${tokensOf(first.summary)} tokens`);
  assert(first.summary.includes(question));
  assert(first.summary.isWellFormed());

  await run.session.prompt("What stood in the orders?");
  const result = run.session.messages.find(({ toolCallId }) => toolCallId === "back");
  assert.equal(result.isError, false);
  // A file stands without its line numbers.
  const [, line] = /^4: (.*)$/m.exec(outputOf("read_file", { path: "src/orders/orders-0.ts" }));
  assert(result.content[0].text.includes(line), result.content[0].text);
  await run.session.prompt("And more?");
  await run.session.compact();
  const [, second] = compactions(run);
  assert(second.summary.includes(question), "the second compaction lost what the first one told");
  assert(tokensOf(second.summary) <= 2_000);
  check(run.contexts);
  assert.deepEqual(run.errors, []);
  await run.session.prompt("/context");
  assert.match(run.notices.at(-1).text, /[1-9]\d* messages compacted by pi/);
});

const reports = {
  "nothing but zeros": free,
  "what an earlier, larger request used": { ...free, input: 14_200, output: 40, totalTokens: 14_240 },
};

for (const [what, usage] of Object.entries(reports)) {
  test(`a provider that reports ${what} as used: the windows fit all the same`, options, async () => {
    const run = await codingAgent({
      place: await place(),
      script: [...asking(work(40)), done()],
      flags,
      factories: [reporting(usage)],
      model: { contextWindow: 16_000, maxTokens: 1_000 },
      compaction: small,
    });
    await run.session.prompt(question);
    assert.equal(run.session.messages.at(-1).content[0].text, "Done.");
    assert.equal(run.contexts.length, 41);
    check(run.contexts);
    const count = compactions(run).length;
    for (const { summary, fromHook } of compactions(run)) assert(fromHook && summary.length > 100);
    if (what === "nothing but zeros")
      fired({ host: "pi coding agent", version: "0.87.1", calls: 41, fired: { session_before_compact: count } });
  });
}

test("a provider that refuses a request as too long: compacted without a model, and tried again", options, async () => {
  const refused = fauxAssistantMessage("", {
    stopReason: "error",
    errorMessage: "prompt is too long: 213462 tokens > 200000 maximum",
  });
  const run = await codingAgent({
    place: await place(),
    script: [...asking(work(20)), refused, ...asking(work(22).slice(20)), done()],
    flags,
    compaction: small,
  });
  await run.session.prompt(question);
  assert.equal(run.session.messages.at(-1).content[0].text, "Done.");
  assert.equal(compactions(run).length, 1);
  check(run.contexts);
});

test("a summary that the user words is left to pi and its model", options, async () => {
  const run = await codingAgent({
    place: await place(),
    script: [...asking(work(12)), done(), done("## Goal\nAs asked.")],
    flags,
    compaction: small,
  });
  await run.session.prompt(question);
  await run.session.compact("Only the goal");
  const [{ summary, fromHook }] = compactions(run);
  assert.match(summary, /As asked\./);
  assert.notEqual(fromHook, true);
});

test("nothing to count: one message larger than the budget goes to pi as it is, told once", options, async () => {
  const run = await codingAgent({
    place: await place(),
    script: [done(), done()],
    flags: { "windrow-budget": "2000" },
  });
  const words = "every word of it counts ".repeat(1_500);
  await run.session.prompt(words);
  await run.session.prompt(words);
  assert.equal(run.contexts.length, 2);
  assert(countTokens([piAdapter.decode(run.contexts[0]).at(-1)]) > 2_000);
  assert.equal(run.notices.length, 1);
  assert.match(run.notices[0].text, /budget/);
});
