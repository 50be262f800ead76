/** Sessions of Claude Code. */
import type { BenchReport } from "../bench.ts";
import { compare } from "./kit.ts";

/** One row a budget and a strategy. */
export async function benchClaudeCode(): Promise<BenchReport> {
  return await compare({
    name: "window/claude-code",
    files: [
      "claude-code-sessions/30530d66-37fb-4f3b-aa5f-d92b6a8afae2.jsonl",
      "claude-code-sessions/4c289ca8-f8bb-4588-8400-88b78beb784d.jsonl",
      "claude-code-sessions/98b76fb9-f5d3-40c5-ab82-b970c20e3764.jsonl",
      "claude-code-sessions/b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093.jsonl",
    ],
    budgets: [8_000, 16_000],
  });
}
