/** The recall loop before real lines: what left a composed window comes back within the answer. */
import { expect, it, onTestFinished } from "vitest";
import { openLines, wireApis } from "windrow/gateway";
import type { Lines } from "windrow/gateway";
import { openStore } from "windrow/store";
import { runAgent } from "../fake/agent.ts";
import type { AgentRun } from "../fake/agent.ts";
import { temporaryFolder } from "../lines/stage.ts";
import { staged } from "../proxy/stage.ts";
import { openFake, seenMessages } from "./stage.ts";

/** The id of the first result: each API has its own count of messages. */
const first = { anthropic: "m3", chat: "m4", responses: "m5" } as const;

const stepsOf = (id: string) => [
  ...Array.from({ length: 12 }, (_, index) => [["read_file", { path: `file${index}.txt` }]]),
  [["windrow_recall", { id }]],
  [
    ["windrow_recall", { id: "m5" }],
    ["read_file", { path: "last.txt" }],
  ],
];

it.each(["anthropic", "chat", "responses"] as const)(
  "%s: messages that left come back, over a restart",
  async (api) => {
    const folder = await temporaryFolder();
    const store = await openStore(folder);
    const fake = await openFake();
    const mostWait = { whole: 60_000, append: 60_000 };
    const open = async (): Promise<Lines> =>
      openLines({ store, secret: Buffer.alloc(32, 7), mostWait, budget: 8_000, recall: "loop" });
    const run = async (lines: Lines, task: string, history: AgentRun["messages"]): Promise<AgentRun> => {
      const { gateway } = await staged(fake.url, { lines, apis: wireApis, tenants: () => "tenant" });
      return runAgent(task, { url: gateway.url, api, session: "s-1", history, resultBytes: 4_000 });
    };
    fake.scenario = `script:${JSON.stringify(stepsOf(first[api]))}`;
    const before = await open();
    const looked = await run(before, "Read the files.", []);
    await before.close();
    expect(looked.text).toBe("OK done.");
    expect(JSON.stringify(looked.messages)).not.toContain("windrow_recall");
    // The request before the recall has nothing of the first result, the one behind it has.
    expect(JSON.stringify(seenMessages(fake, 13))).not.toContain("step 1.0 line 1");
    expect(JSON.stringify(seenMessages(fake, 14))).toContain("step 1.0 line 1");
    fake.scenario = "plain";
    const second = await open();
    onTestFinished(async () => {
      await second.close();
      await store.close();
    });
    const again = await run(second, "And now?", looked.messages);
    expect(again.text).toBe("OK done.");
    expect(fake.faults).toEqual([]);
  },
);
