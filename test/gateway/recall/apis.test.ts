/** Recall for clients that lack the tool, in every API: agents that answer its calls with an error, before a checking provider. */
import { expect, test } from "vitest";
import { bodyOf } from "../fake/conversations.ts";
import { course } from "../lines/course.ts";
import type { Course } from "../lines/course.ts";

const missing = "No such tool available";

/** The id of the first result: each API has its own count of messages. */
const first = { anthropic: "m3", chat: "m4", responses: "m5", gemini: "m3", ollama: "m4" } as const;

const stepsOf = (id: string) => [
  ...Array.from({ length: 12 }, (_, index) => [["read_file", { path: `file${index}.txt` }]]),
  [["windrow_recall", { id }]],
  [
    ["read_file", { path: "last.txt" }],
    ["windrow_recall", { id }],
    ["windrow_recall", { id: "m999" }],
  ],
];

const seen = ({ fake }: Course, n: number): string => JSON.stringify(bodyOf(fake.turns()[n - 1]?.body));

test.each(["anthropic", "chat", "responses", "gemini", "ollama"] as const)(
  "%s: what left comes back in the place of the client's error, over restarts",
  async (api) => {
    const scenario = `script:${JSON.stringify(stepsOf(first[api]))}`;
    const lines = { budget: 8_000, recall: "tool" } as const;
    const agent = { api, resultBytes: 4_000, headers: { "user-agent": "agent/1" } } as const;
    const done = await course({ scenario }, lines, agent, (n) => n % 2 === 0);
    const { fake, run, notes } = done;
    const looked = await run();
    expect(looked.text).toBe("OK done.");
    expect(JSON.stringify(looked.messages).split(missing)).toHaveLength(4);
    // The window before the recall has nothing of the first result, the one behind it has.
    expect(seen(done, 13)).not.toContain("step 1.0 line 1");
    for (const n of [14, 15]) expect(seen(done, n)).toContain("step 1.0 line 1");
    expect(seen(done, 15)).toContain("m999");
    fake.scenario = "plain";
    await run({ history: looked.messages });
    expect(fake.faults).toEqual([]);
    for (const { body } of fake.turns()) {
      expect(body!.toString()).not.toContain(missing);
      expect(body!.toString().split('"windrow_recall","description"')).toHaveLength(2);
    }
    for (const note of notes) expect(note).toMatch(/recall=tool$/);
  },
);
