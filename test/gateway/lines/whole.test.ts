import { expect, test } from "vitest";
import { course } from "./course.ts";

test(
  "a provider that binds thinking to its prefix finds no fault in composed requests",
  { timeout: 120_000 },
  async () => {
    const scenario = 'loop:20:read:{"path":"src/{k}.ts"}';
    const { stage, fake, run } = await course({ scenario }, { budget: 24_000 }, { resultBytes: 8_000 });
    const { text, messages } = await run();
    expect(text).toContain("OK done.");
    expect(stage.events).toEqual([]);
    expect(fake.faults).toEqual([]);
    const sizes = fake.turns().map(({ bytes }) => bytes);
    expect(sizes).toHaveLength(21);
    expect(Math.max(...sizes)).toBeLessThan(8_000 * 19);
    const [info] = await stage.sessions();
    expect(await stage.messages(info!.metadata.uuid)).toHaveLength(messages.length);
  },
);
