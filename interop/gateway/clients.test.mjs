/**
 * Real coding agents, each against the fake provider directly and through the gateway: the same exit, the same words, the
 * same calls. And a long task of each under a budget: every request in it, nothing refused, the task done.
 *
 * WINDROW_GATEWAY_ALL=1 drives every client through every scenario; without it a few that stand for them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fired } from "../kit/kit.mjs";
import { startFake } from "./build/test/gateway/fake/fake.js";
import { client, names, project, scriptOf } from "./clients.mjs";
import { drive, scratch } from "./drive.mjs";
import { startGateway } from "./gateway.mjs";

/** A client that hangs is a failure. */
const timeout = 170_000;
const isWhole = process.env.WINDROW_GATEWAY_ALL === "1";
const budget = 40_000;
const every = ["plain", "tool", "loop", "mixed", "unknown-tool", "sse-error", "drop", "529", "overflow"];
/** The scenarios of a run that has to be short. */
const few = {
  "claude-code": ["loop", "drop"],
  "codex": ["loop", "sse-error"],
  "opencode": ["loop"],
  "pi": ["mixed", "529"],
  "gemini-cli": ["loop"],
};
/** Faults that a client makes by itself: Codex asks again with the reasoning of an answer that broke off, which stands alone. */
const own = { "codex, drop": ["broken-run: reasoning in item 4 stands alone"] };
/** The clients that keep a call that they do not know; files that are read before one of them is recalled, a line of the first, and what clients say to a tool that they lack. */
const recalling = ["claude-code", "codex", "pi", "gemini-cli"];
const recallFrom = 24;
const lost = "file 1 line 5: the value of setting 31609";
const lacking = /No such tool available|unsupported call|Tool not found/;
/** The clients that are driven through a long task in a short run. */
const longFew = ["claude-code", "codex"];

/** The course of a run, as it must be the same through a gateway. */
const courseOf = ({ status, text }, fake) => ({
  status,
  text,
  turns: fake.turns().map(({ api, status: answer, outcome }) => `${api} ${answer} ${outcome}`),
  sides: fake.requests.length - fake.turns().length,
  faults: fake.faults.map(({ kind, detail }) => `${kind}: ${detail}`),
});

const total = { runs: 0, requests: 0 };

for (const name of names) {
  const one = client(name);
  if (!one) {
    console.log(`SKIPPED: ${name} is not installed.`);
    continue;
  }
  const kinds = isWhole ? every : few[name];
  for (const kind of kinds) {
    test(`${name} ${one.version}, ${kind}: through the gateway as without it`, { timeout }, async (context) => {
      const folder = scratch("project");
      project(folder, 3, 400);
      const fake = await startFake({ scenario: scriptOf(kind, one, folder) });
      context.after(() => fake.close());
      const direct = courseOf(await drive(one, { url: fake.url, folder }), fake);
      assert(direct.turns.length > 0, "the client asked its provider");
      fake.reset();
      fake.scenario = scriptOf(kind, one, folder);
      const gateway = await startGateway({ upstream: fake.url, store: scratch("store") });
      context.after(() => gateway.close());
      const run = await drive(one, { url: gateway.url, folder });
      assert.deepEqual(courseOf(run, fake), direct, `${run.errors}\n${gateway.errors()}`);
      assert.deepEqual(direct.faults, own[`${name}, ${kind}`] ?? []);
      total.runs += 2;
      total.requests += fake.requests.length;
    });
  }

  if (isWhole || name === "claude-code") {
    test(
      `${name} ${one.version}, killed in the middle of an answer: the upstream's connection is closed`,
      { timeout },
      async (context) => {
        const folder = scratch("project");
        const fake = await startFake({ scenario: "slow" });
        const gateway = await startGateway({ upstream: fake.url, store: scratch("store") });
        context.after(() => Promise.all([gateway.close(), fake.close()]));
        let kill;
        const ended = drive(one, { url: gateway.url, folder, started: (child) => (kill = child.kill) });
        await fake.until(() => fake.turns().some(({ outcome }) => outcome === "open"));
        kill("SIGKILL");
        await ended;
        await fake.until(() => fake.turns().every(({ outcome }) => outcome === "aborted"));
      },
    );
  }

  if (isWhole || longFew.includes(name)) {
    test(
      `${name} ${one.version}, sixty files under a budget: each request in it, none refused, the task done`,
      { timeout },
      async (context) => {
        const folder = scratch("project");
        project(folder, 60, 8_000);
        const scenario = scriptOf("loop", one, folder, 60);
        const fake = await startFake({ scenario, keepsBodies: false });
        context.after(() => fake.close());
        const direct = await drive(one, { url: fake.url, folder });
        const cost = { direct: fake.cost().cost, largest: Math.max(...fake.turns().map(({ tokens }) => tokens)) };
        fake.reset();
        const gateway = await startGateway({
          upstream: fake.url,
          store: scratch("store"),
          more: ["--budget", String(budget)],
        });
        context.after(() => gateway.close());
        const run = await drive(one, { url: gateway.url, folder });
        assert.deepEqual(fake.faults, [], gateway.errors());
        assert.equal(run.status, direct.status, run.errors);
        assert.equal(run.text, direct.text);
        const turns = fake.turns();
        assert.equal(turns.length, 61);
        const largest = Math.max(...turns.map(({ tokens }) => tokens));
        assert(largest <= budget, `the largest request has ${largest} tokens`);
        const epochs = turns.filter((turn) => !turn.extends).length;
        assert(epochs > 0, "there was an epoch");
        console.log(
          `${name}: ${turns.length} requests, ${epochs} epochs, the largest of ${largest} tokens (${cost.largest} direct), ` +
            `cost ${Math.round(fake.cost().cost)} (${Math.round(cost.direct)} direct)`,
        );
        fired({ host: name, version: one.version, calls: turns.length, epochs, fired: { tokens: largest } });
      },
    );
  }

  if (recalling.includes(name) && (isWhole || longFew.includes(name))) {
    test(
      `${name} ${one.version}, a recall of what left: the client lacks the tool, and its model gets the text`,
      { timeout },
      async (context) => {
        const folder = scratch("project");
        project(folder, recallFrom, 8_000);
        const [tool, args] = one.tool(folder);
        const reading = (k) => [tool, JSON.parse(JSON.stringify(args).replaceAll("{k}", String(k)))];
        const recall = ["windrow_recall", { query: "setting 31609" }];
        const steps = Array.from({ length: recallFrom }, (_, step) => [reading(step + 1)]);
        const fake = await startFake({
          scenario: `script:${JSON.stringify([...steps, [recall], [recall, reading(1)]])}`,
        });
        context.after(() => fake.close());
        const more = ["--budget", String(budget), "--recall", "tool"];
        const gateway = await startGateway({ upstream: fake.url, store: scratch("store"), more });
        context.after(() => gateway.close());
        const run = await drive(one, { url: gateway.url, folder });
        assert.deepEqual(fake.faults, [], gateway.errors());
        assert.equal(run.status, 0, run.errors);
        const turns = fake.turns();
        assert.equal(turns.length, recallFrom + 3);
        for (const { body } of turns) assert.doesNotMatch(String(body), lacking);
        const [before, behind] = [turns[recallFrom], turns[recallFrom + 1]].map(({ body }) => String(body));
        assert(!before.includes(lost), "it had left the window");
        assert(behind.includes(lost), "it came back");
        fired({ host: name, version: one.version, calls: turns.length, fired: { recalls: 2 } });
      },
    );
  }
}

test("what was driven", () => {
  assert(total.runs > 0 || names.every((name) => !client(name)));
  fired({ host: "gateway", version: "", calls: total.requests, fired: { "runs compared": total.runs } });
});
