/** Sessions that real agents wrote, replayed through a manager: every window is made again as it was; skipped where absent. */
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readTranscripts } from "windrow/transcript";
import { assertWindows, opened, talk } from "./windows.ts";
import type { Composed } from "./windows.ts";

const root = "../shared/data/open";
const recorded = [
  { file: `${root}/pi-sessions/trajectories.jsonl.gz`, profile: "anthropic", budget: 32_000, least: 400 },
  {
    file: `${root}/claude-code-sessions/30530d66-37fb-4f3b-aa5f-d92b6a8afae2.jsonl`,
    profile: "anthropic",
    budget: 4_000,
    least: 14,
  },
  { file: `${root}/openhands/trajectories.jsonl.gz`, profile: "openai-chat", budget: 4_000, least: 10 },
];

describe.each(recorded)("$file", ({ file, profile, budget, least }) => {
  it.skipIf(!existsSync(file))("has every window as it was", { timeout: 600_000 }, async () => {
    const [transcript] = await readTranscripts(file);
    const { manager, source } = await opened({ budget, profile });
    const session = await manager.create();
    const seen: Composed[] = [];
    await talk(session, seen, transcript?.messages ?? [], { system: "You are an agent." });
    expect(await assertWindows(source, session.id, seen)).toBeGreaterThan(least);
  });
});
