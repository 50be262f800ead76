/**
 * Agents at work while the gateway between them and their provider is killed at random moments: none sees a fault, the
 * provider sees no request that it would refuse, and every message of theirs is in the store once.
 *
 * WINDROW_GATEWAY_KILLS=200 kills so often in each of the tests; TEST_SEED chooses other moments.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openStore } from "windrow/store";
import { runAgent } from "../gateway/fake/agent.ts";
import type { AgentOptions, AgentRun } from "../gateway/fake/agent.ts";
import { startFake } from "../gateway/fake/fake.ts";
import type { Api } from "../gateway/fake/reading.ts";
import { randomBy, startKilled } from "../gateway/kills.ts";
import { temporaryFolder } from "../kit/stores.ts";
import { dist } from "../kit/build.ts";

const kills = Number(process.env["WINDROW_GATEWAY_KILLS"] ?? 4);
const seed = Number(process.env["TEST_SEED"] ?? 1);
const steps = 14;

/** Agents that tell their session, and one that tells nothing. */
const agents: readonly { readonly api: Api; readonly isNamed: boolean }[] = [
  { api: "anthropic", isNamed: true },
  { api: "responses", isNamed: true },
  { api: "chat", isNamed: false },
];

interface Done extends AgentRun {
  readonly task: string;
  readonly options: AgentOptions;
}

/** Runs tasks one after the other until the condition ends, each in a session of its own. */
async function work(
  { api, isNamed }: (typeof agents)[number],
  url: string,
  pause: () => Promise<unknown>,
  isOver: () => boolean,
): Promise<readonly Done[]> {
  const runs: Done[] = [];
  do {
    const task = `Task ${runs.length} of ${api}: read the files.`;
    const session = `${api}-${runs.length}`;
    const named = isNamed ? { session } : {};
    const options = { url, api, ...named, resultBytes: 2_000, retries: 10_000, pause };
    runs.push({ task, options, ...(await runAgent(task, options)) });
  } while (!isOver());
  return runs;
}

const reads = `loop:${steps}:read_file:{"path":"file{k}.txt"}`;

/** Every third step asks the gateway for an old message, beside a call of the client's. */
const recalls = `script:${JSON.stringify(
  Array.from({ length: steps }, (_, step) => {
    const read = ["read_file", { path: `file${step}.txt` }];
    return step % 3 === 2 ? [["windrow_recall", { id: `m${step}` }], read] : [read];
  }),
)}`;

it.each([
  ["observing", reads, []],
  ["composing", reads, ["--budget", "6000"]],
  ["recalling", recalls, ["--budget", "6000", "--recall", "tool"]],
])(
  "%s, a gateway that is killed again and again: no fault, no message lost, none twice",
  { timeout: 3_600_000 },
  async (_, scenario, flags) => {
    const folder = await temporaryFolder();
    const store = join(folder, "store");
    const fake = await startFake({ scenario, pauseMs: 2, keepsBodies: false });
    const passed = (requests: number): Promise<void> => {
      const wanted = fake.requests.length + requests;
      return fake.until(() => fake.requests.length >= wanted);
    };
    const gateway = await startKilled({
      command: join(dist, "cli/main.js"),
      store,
      upstream: fake.url,
      kills,
      flags,
      random: randomBy(seed),
      passed,
    });
    const isOver = (): boolean => gateway.kills() >= kills;
    const works = await Promise.all(agents.map((agent) => work(agent, gateway.url, gateway.up, isOver)));
    const runs = works.flat();
    // The last bytes of an answer wait a moment and no longer: where the gateway was killed then, the next request of the
    // conversation brings what was not kept.
    for (const { messages, options } of runs) {
      await runAgent("That is all.", { ...options, history: messages, headers: { "x-fake-scenario": "plain" } });
    }
    const errors = await gateway.end();
    expect(fake.faults, errors).toEqual([]);
    expect(runs.map(({ text }) => text)).toEqual(runs.map(() => "OK done."));
    expect(fake.turns().every(({ extends: isExtension }) => isExtension)).toBe(flags.length === 0);

    const found = await messagesOf(store);
    const wanted = runs.flatMap((run) => [run.task, ...callsOf(run).flatMap((id) => [`call ${id}`, `result ${id}`])]);
    const ids = new Map<string, Set<string>>(wanted.map((name) => [name, new Set()]));
    for (const { name, id } of found) ids.get(name)?.add(id);
    const lost = [...ids].filter(([, { size }]) => size === 0);
    expect({ lost, twice: [...ids].filter(([, { size }]) => size > 1) }).toEqual({ lost: [], twice: [] });
    await fake.close();
    await rm(folder, { recursive: true });
  },
);

/** The ids of an agent's calls, whatever its API: the fake makes them unlike any other. */
function callsOf({ messages }: AgentRun): readonly string[] {
  const ids = JSON.stringify(messages).matchAll(/"(?:id|call_id)":"((?:toolu|call)_[a-z]_\d+_[\da-f]{8})"/g);
  return [...new Set([...ids].map(([, id]) => id!))];
}

/**
 * Everything in the store: texts of users, and the ids of calls and of results, each with the id of its message. Where an
 * answer was kept and its client was not told, the client asks again, and goes on in a fork: that has the same messages.
 */
async function messagesOf(address: string): Promise<readonly { readonly name: string; readonly id: string }[]> {
  const store = await openStore(address, { create: false });
  const found: { readonly name: string; readonly id: string }[] = [];
  for await (const { metadata } of store.list({})) {
    for await (const { message } of store.read({}, metadata.uuid, { kind: "message" })) {
      for (const part of message.parts) {
        const { id } = message;
        if (part.type === "tool-call") found.push({ name: `call ${part.callId}`, id });
        else if (part.type === "tool-result") found.push({ name: `result ${part.callId}`, id });
        else if (part.type === "text" && message.role === "user") found.push({ name: part.text, id });
      }
    }
  }
  await store.close();
  return found;
}
