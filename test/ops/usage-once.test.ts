/** Calls that an agent's file and Windrow's store both have. */
import { expect, test } from "vitest";
import { withSharedKeys } from "../kit/inside/ops.ts";
import type { CallUsage } from "../kit/inside/transcript.ts";

const call = (key: number, others?: readonly number[]): CallUsage => ({
  ...{ time: 1_000, model: "m", project: "p", input: 900, output: 3, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 },
  ...{ chain: "main", key, ...(others && { others }) },
});

const keysOf = (agent: "claude-code" | "codex", own: CallUsage): readonly number[] => {
  const agents = [{ path: "a", agent, calls: [call(1)] }] as const;
  return withSharedKeys(agents, [{ path: "s", agent: "windrow", calls: [own] }]).map(([one]) => one!.key);
};

test("a call is another's by the provider's ids, and by its tokens only where one of them has none", () => {
  expect(keysOf("claude-code", call(2, [1]))).toEqual([1, 1]);
  expect(keysOf("claude-code", call(2, [7]))).toEqual([1, 2]);
  expect(keysOf("claude-code", call(2))).toEqual([1, 1]);
  expect(keysOf("codex", call(2, [7]))).toEqual([1, 1]);
});
