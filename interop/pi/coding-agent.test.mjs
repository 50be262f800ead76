/** pi's coding agent with Windrow as its extension, loaded as a package: its loop, its session file, its tree. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { piAdapter } from "windrow/pi";
import { profileOf } from "windrow/window";
import { checkWindows, fired, killed, work } from "../kit/kit.mjs";
import { asking, fauxAssistantMessage, fauxToolCall, next } from "./host.mjs";

const profile = profileOf("pi");

const { codingAgent, ownPackage, question } = next ? await import("./coding-agent.mjs") : {};
const options = { skip: !next };
const budget = 8_000;
const flags = { "windrow-budget": String(budget) };
let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-coding-agent-"));
});

after(() => rm(folder, { recursive: true }));

const place = () => mkdtemp(join(folder, "run-"));
const script = (calls) => [...asking(calls ?? work(40)), fauxAssistantMessage("Done.")];
const entriesOf = async (file) =>
  (await readFile(file, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const epochsIn = (entries) => entries.filter(({ customType }) => customType === "windrow-window");

/** What a session file holds of the conversation, without what differs from run to run. */
async function conversation(file) {
  const passing = ["timestamp", "usage", "api"];
  const messages = (await entriesOf(file)).flatMap(({ type, message }) => (type === "message" ? [message] : []));
  const said = messages.filter(({ role }) => role !== "system");
  return JSON.parse(JSON.stringify(said, (key, value) => (passing.includes(key) ? undefined : value)));
}

/** The windows' epochs, by how much each begins with the one before it. */
function epochsBy(contexts) {
  let epoch = 0;
  return contexts.map((messages, index) => {
    const before = contexts[index - 1] ?? [];
    const grown = before.every((message, at) => JSON.stringify(message) === JSON.stringify(messages[at]));
    return grown ? epoch : ++epoch;
  });
}

function check(contexts) {
  const epochs = epochsBy(contexts);
  checkWindows(
    contexts.map((messages) => piAdapter.decode(messages)),
    { profile, budget, epochs },
  );
  for (const [head] of contexts) {
    assert.equal(head.role, "system");
    assert(head.toolsAdded.some(({ name }) => name === "recall"));
    assert(head.toolsAdded.some(({ name }) => name === "read_file"));
  }
  return epochs.at(-1);
}

test(
  "every window is valid, in budget and append-only; the session file has what it has without",
  options,
  async () => {
    const run = await codingAgent({ place: await place(), script: script(), flags });
    assert.deepEqual(run.problems, []);
    await run.session.prompt(question);
    const twin = await codingAgent({ place: await place(), script: script(), extensions: [] });
    await twin.session.prompt(question);
    assert.deepEqual([run.errors, run.notices], [[], []]);
    assert.equal(run.contexts.length, 41);
    const epochs = check(run.contexts);
    const entries = await entriesOf(run.session.sessionFile);
    assert.equal(epochsIn(entries).length, epochs);
    assert(epochs >= 2 && epochs <= 12, `${epochs} epochs`);
    assert.deepEqual(await conversation(run.session.sessionFile), await conversation(twin.session.sessionFile));
    await run.session.prompt("/context");
    assert.match(
      run.notices[0].text,
      /^Windrow: [\d,]+ of 8,000 tokens in the window\n.*\n {2}\d+ messages whole, \d+ short/,
    );
    fired({ host: "pi coding agent", version: "0.87.1", calls: 41, epochs, fired: { context: 41, command: 1 } });
  },
);

test("killed in the middle, it goes on with the same window and all that was acknowledged", options, async () => {
  const where = await place();
  const child = fileURLToPath(new URL("coding-agent-child.mjs", import.meta.url));
  const acknowledged = await killed(child, { after: 25, args: [where, String(budget)], env: { WINDROW_PI: "next" } });
  const [file] = acknowledged.map((line) => JSON.parse(line).file);
  const before = (await conversation(file)).flatMap(({ toolCallId }) => toolCallId ?? []);
  for (const line of acknowledged) assert(before.includes(JSON.parse(line).toolCallId), line);

  const rest = work(40).slice(before.length);
  const run = await codingAgent({ place: where, script: script(rest), flags, sessionFile: file });
  const lastEpoch = epochsIn(await entriesOf(file)).at(-1).data;
  await run.session.prompt("Go on.");
  check(run.contexts);
  assert.deepEqual([run.errors, run.notices], [[], []]);
  const [first] = run.contexts;
  const noted = lastEpoch.edits.filter(({ kind }) => kind === "replace" || kind === "stub");
  assert(noted.length > 0, "the killed run opened no epoch");
  assert(
    JSON.stringify(first).includes(JSON.stringify(noted[0].text ?? noted[0].messages).slice(1, 60)),
    "another window",
  );
  const after = (await conversation(file)).flatMap(({ toolCallId }) => toolCallId ?? []);
  assert.deepEqual(after, [...before, ...rest.map(({ id }) => id)]);
});

test("entries that cannot be written: the run finishes with pi's own messages, and one notice", options, async () => {
  const run = await codingAgent({ place: await place(), script: script(), flags });
  run.session.sessionManager.appendCustomEntry = () => {
    throw new Error("EIO");
  };
  await run.session.prompt(question);
  assert.equal(run.session.messages.at(-1).content[0].text, "Done.");
  assert.equal(run.contexts.at(-1).length, run.session.messages.length - 1);
  assert.deepEqual(run.errors, []);
  assert.equal(run.notices.length, 1);
  assert.match(run.notices[0].text, /EIO/);
});

test("a huge result gives way to an excerpt, and recall brings it back; no half characters", options, async () => {
  const huge = Array.from({ length: 6_000 }, (_, line) => `line ${line} 😀😀😀😀😀 of the dump`).join("\n");
  const recall = (args, id) => fauxAssistantMessage([fauxToolCall("recall", args, { id })], { stopReason: "toolUse" });
  const run = await codingAgent({
    place: await place(),
    script: [
      ...asking([{ id: "big", name: "run", input: { command: "dump" } }]),
      recall({ id: "r1", query: "line 4711" }, "back"),
      recall({ query: "line 3333" }, "words"),
      recall({ id: "m99" }, "none"),
      fauxAssistantMessage("Done."),
    ],
    flags,
    execute: async () => ({ content: [{ type: "text", text: huge }], details: undefined }),
  });
  await run.session.prompt(question);
  check(run.contexts);
  const entries = await entriesOf(run.session.sessionFile);
  const kept = entries.find(({ customType }) => customType === "windrow-result").data;
  assert.deepEqual([kept.id, kept.toolCallId, kept.content[0].text], ["r1", "big", huge]);
  const results = new Map(
    entries.flatMap(({ message }) => (message?.toolCallId ? [[message.toolCallId, message]] : [])),
  );
  assert.match(
    results.get("big").content[0].text,
    /^\[Windrow: an excerpt, quoted behind a space or \|; the whole \(6,000 lines, .*is r1 for/,
  );
  assert(results.get("back").content[0].text.includes("line 4711 😀"));
  assert(results.get("words").content[0].text.includes("line 3333 😀"));
  assert.equal(results.get("none").isError, true);
  for (const context of run.contexts) assert(JSON.stringify(context).isWellFormed());
});

test(
  "on another branch, and behind another extension, recall answers from what the notes number",
  options,
  async () => {
    const recall = (id) =>
      fauxAssistantMessage([fauxToolCall("recall", { id: "m3" }, { id })], { stopReason: "toolUse" });
    const calls = work(30);
    const later = calls.map((call) => ({ ...call, id: `later-${call.id}` }));
    const where = await place();
    // Takes the first exchange out of what is sent, before Windrow sees it.
    const other = join(where, "other.js");
    await writeFile(
      other,
      `export default (pi) => pi.on("context", ({ messages }) => {
      const from = messages.findIndex((message) => JSON.stringify(message).includes(${JSON.stringify(question)}));
      return { messages: messages.filter(({ role }, index) => role === "system" || index >= from) };
    });`,
    );
    const run = await codingAgent({
      place: where,
      extensions: [other, ownPackage],
      script: [
        fauxAssistantMessage("Hello."),
        ...asking(calls),
        recall("first"),
        fauxAssistantMessage("Done."),
        ...asking(later),
        recall("second"),
        fauxAssistantMessage("Done."),
      ],
      flags,
    });
    const { sessionManager } = run.session;
    await run.session.prompt("Say hello.");
    const hello = sessionManager.getLeafId();
    const answerOf = (id) =>
      sessionManager.getBranch().find(({ message }) => message?.toolCallId === id).message.content[0].text;
    await run.session.prompt(question);
    assert(answerOf("first").includes(calls[0].output.split("\n")[20]), answerOf("first").slice(0, 300));
    await run.session.navigateTree(hello);
    await run.session.prompt(`${question} Another way.`);
    assert(answerOf("second").includes(later[0].output.split("\n")[20]), answerOf("second").slice(0, 300));
  },
);

test("another branch has windows of its own, and a fork goes on with the state of its origin", options, async () => {
  const where = await place();
  const run = await codingAgent({
    place: where,
    script: [...script(), ...script(work(3)), fauxAssistantMessage("Back.")],
    flags,
  });
  await run.session.prompt(question);
  const { sessionManager } = run.session;
  const early = sessionManager.getBranch().find(({ message }) => message?.toolCallId === "call-3");
  const leaf = sessionManager.getLeafId();
  await run.session.navigateTree(early.id);
  await run.session.prompt("Another way.");
  const branch = run.contexts.slice(41);
  check(branch);
  assert(branch[0].length <= 9, "the branch has what belongs to another one");
  assert(!JSON.stringify(branch).includes("Windrow"), "edits of another branch");
  await run.session.navigateTree(leaf);
  await run.session.prompt("And back.");
  check([run.contexts.at(-1)]);
  assert.deepEqual(run.errors, []);

  const file = sessionManager.createBranchedSession(leaf);
  const fork = await codingAgent({ place: where, script: [fauxAssistantMessage("On.")], flags, sessionFile: file });
  await fork.session.prompt("And back.");
  const plain = (messages) => messages.slice(1).map(({ role, content }) => ({ role, content }));
  assert.deepEqual(plain(fork.contexts[0]), plain(run.contexts.at(-1)));
});
