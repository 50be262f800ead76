/** Sessions that real agents wrote, replayed through a manager: every window is made again as it was; skipped where absent. */
import { existsSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { openStore } from "windrow/store";
import { readTranscripts } from "windrow/transcript";
import { storedSource } from "windrow/viewer";
import { newFolder } from "../cli/stage.ts";
import { assertWindows, call } from "./windows.ts";
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

const managers: SessionManager[] = [];

afterEach(async () => {
  for (const manager of managers.splice(0)) await manager.close();
});

describe.each(recorded)("$file", ({ file, profile, budget, least }) => {
  it.skipIf(!existsSync(file))("has every window as it was", { timeout: 600_000 }, async () => {
    const [transcript] = await readTranscripts(file);
    const store = await openStore(await newFolder());
    const manager = await SessionManager.open({ store, budget, profile });
    managers.push(manager);
    const session = await manager.create();
    const seen: Composed[] = [];
    for (const message of transcript?.messages ?? []) {
      if (message.role === "assistant") await call(session, seen, { system: "You are an agent." });
      await session.append(message);
    }
    expect(await assertWindows(storedSource(store, {}), session.id, seen)).toBeGreaterThan(least);
  });
});
