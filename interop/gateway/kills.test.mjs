/**
 * Claude Code and Codex at work under a budget while the gateway is killed at random moments and started again: the
 * provider sees no request that it would refuse, each run ends as it does without a gateway, and every message that a
 * client's own transcript has is in the store once.
 *
 * WINDROW_GATEWAY_KILLS=200 kills so often, half of them under each client; WINDROW_SEED chooses other moments.
 */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "windrow/store";
import { fired } from "../kit/kit.mjs";
import { startFake } from "./build/test/gateway/fake/fake.js";
import { randomBy, startKilled } from "./build/test/gateway/kills.js";
import { client, project, scriptOf } from "./clients.mjs";
import { drive, scratch } from "./drive.mjs";
import { command } from "./gateway.mjs";

const kills = Math.ceil(Number(process.env.WINDROW_GATEWAY_KILLS ?? 8) / 2);
const seed = Number(process.env.WINDROW_SEED ?? 1);
const budget = 40_000;
const files = 60;
/** Runs that are at work at once. */
const workers = 2;
/** A run may take long: a client waits longer before each time that it asks again. */
const longest = 600_000;

for (const name of ["claude-code", "codex"]) {
  const one = client(name);
  if (!one) {
    console.log(`SKIPPED: ${name} is not installed.`);
    continue;
  }
  test(
    `${name} ${one.version}, a gateway that is killed ${kills} times: none refused, none lost, none twice`,
    { timeout: 3_600_000 },
    async (context) => {
      const folder = scratch("project");
      project(folder, files, 8_000);
      const store = join(scratch("store"), "store");
      const scenario = scriptOf("loop", one, folder, files);
      // Codex asks again with the reasoning of an answer that broke off, which stands alone then, with or without a gateway.
      const fake = await startFake({ scenario, keepsBodies: false, pauseMs: 2, takesLoneReasoning: name === "codex" });
      context.after(() => fake.close());
      const direct = await run(one, { url: fake.url, folder, task: "Read all the files, one by one." });
      assert.deepEqual(fake.faults, []);
      fake.reset();

      const gateway = await startKilled({
        command,
        store,
        upstream: fake.url,
        kills,
        flags: ["--budget", String(budget)],
        random: randomBy(seed),
        passed(requests) {
          const wanted = fake.requests.length + requests;
          return fake.until(() => fake.requests.length >= wanted);
        },
      });
      const runs = [];
      const works = Array.from({ length: workers }, async (_, worker) => {
        do {
          const task = `Worker ${worker}, task ${runs.length}: read all the files, one by one.`;
          runs.push(await run(one, { url: gateway.url, folder, task }));
        } while (gateway.kills() < kills);
      });
      await Promise.all(works);
      const errors = await gateway.end();
      assert.deepEqual(fake.faults, [], errors);
      for (const { status, text, errors: told } of runs) {
        assert.deepEqual({ status, text }, { status: direct.status, text: direct.text }, `${told}\n${errors}`);
      }

      const found = await messagesOf(store);
      const wanted = runs.flatMap(({ results }) => results.flatMap((id) => [`call ${id}`, `result ${id}`]));
      // Codex acts on a call whose answer then breaks off, and is asked for it again.
      assert(new Set(wanted).size >= runs.length * files * 2);
      const texts = (wantedName) => [...(found.names.get(wantedName)?.values() ?? [])];
      const lost = wanted.filter((wantedName) => texts(wantedName).length === 0);
      // A message that a client writes in other words when it asks again is another one.
      const anew = wanted.filter((wantedName) => new Set(texts(wantedName)).size > 1);
      const twice = wanted.filter((wantedName) => texts(wantedName).length > new Set(texts(wantedName)).size);
      const turns = fake.turns();
      console.log(
        `${name}: ${gateway.kills()} kills in ${runs.length} runs of ${files} files, ${turns.length} requests, ` +
          `${turns.filter((turn) => !turn.extends).length} epochs, ${fake.faults.length} faults, ` +
          `${wanted.length} messages acknowledged, ${lost.length} lost, ${twice.length} twice, ` +
          `${anew.length} written anew, ` +
          `${found.sessions} sessions, ${found.forks} of them forks`,
      );
      assert.deepEqual({ lost, twice }, { lost: [], twice: [] }, errors);
      assert.deepEqual(found.repeated, []);
      for (const { task } of runs)
        assert(
          found.done.some((told) => told.includes(task)),
          `the end of "${task}" is kept`,
        );
      fired({ host: name, version: one.version, calls: turns.length, fired: { kills: gateway.kills() } });
    },
  );
}

/** Drives one run, which asks again for as long as it takes. Its results are those that the client's transcript has. */
async function run(one, { url, folder, task }) {
  let results;
  const { environment, more } = one.patient(url);
  const ended = (home) => (results = resultsIn(home));
  const done = await drive(one, { url, folder, task, environment, more, longest, ended });
  return { ...done, task, results };
}

/** The ids of all results in the transcripts that a client keeps in its home. */
function resultsIn(home) {
  const names = readdirSync(home, { recursive: true }).filter((name) => name.endsWith(".jsonl"));
  const lines = names.flatMap((name) => readFileSync(join(home, name), "utf8").split("\n"));
  const entries = lines.flatMap((line) => (line.startsWith("{") ? JSON.parse(line) : []));
  const items = entries.flatMap(({ message, payload }) => [message?.content, payload]).flat();
  const ids = items.flatMap((item) => {
    if (item?.type === "tool_result") return item.tool_use_id;
    return item?.type?.endsWith?.("_call_output") ? item.call_id : [];
  });
  return [...new Set(ids)];
}

/**
 * Everything in the store: the ids of calls and of results with the ids of their messages, those that one session has
 * twice, and the texts of users in sessions that have the last answer. A fork has the same messages as its beginning.
 */
async function messagesOf(address) {
  const store = await openStore(address, { create: false });
  const found = { names: new Map(), repeated: [], done: [], sessions: 0, forks: 0 };
  for await (const { metadata } of store.list({})) {
    const own = new Set();
    let texts = "";
    let isDone = false;
    found.sessions++;
    if (metadata.forkedFrom) found.forks++;
    for await (const { message } of store.read({}, metadata.uuid, { kind: "message" })) {
      for (const part of message.parts) {
        if (part.type === "text" && message.role === "user") texts += `${part.text}\n`;
        isDone ||= part.type === "text" && message.role === "assistant" && part.text === "OK done.";
        if (part.type !== "tool-call" && part.type !== "tool-result") continue;
        const name = `${part.type === "tool-call" ? "call" : "result"} ${part.callId}`;
        if (own.has(name)) found.repeated.push(name);
        own.add(name);
        const ids = found.names.get(name) ?? new Map();
        found.names.set(name, ids.set(message.id, JSON.stringify(message.parts)));
      }
    }
    if (isDone) found.done.push(texts);
  }
  await store.close();
  return found;
}
