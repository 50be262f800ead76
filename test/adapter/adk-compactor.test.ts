/** The context compactor for ADK: every id that a compaction names is one that its recall tool brings back. */
import assert from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { contextCompactor, recallTool } from "windrow/adk";
import type { RecallToolOptions } from "windrow/adk";
import { geminiAdapter } from "windrow/gemini";
import type { AdkEvent, AdkInvocation } from "../kit/inside/adapter.ts";
import { notedPaths, readingMessages, readings } from "./replaced-histories.ts";

class FunctionTool {
  readonly options: RecallToolOptions;
  constructor(options: never) {
    this.options = options;
  }
}

const budget = 3_000;
let clock = 1_700_000_000_000;
const eventsOf = (name: string): readonly AdkEvent[] =>
  geminiAdapter.encode(readingMessages(readings(name, 12))).map((content) => {
    clock++;
    return { id: `e${clock}`, timestamp: clock, author: content.role ?? "", content } as AdkEvent;
  });

describe("contextCompactor", () => {
  it("names ids that its recall tool brings back, in every compaction", async () => {
    const compactor = contextCompactor({ budget });
    const tool = recallTool(FunctionTool, compactor).options;
    const events = [...eventsOf("first")];
    const session = { id: "s", appName: "app", userId: "me", state: {}, events, lastUpdateTime: 0 };
    const invocationContext: AdkInvocation = { session, agent: { name: "a" } };
    let asked = 0;
    for (const name of ["second", "third"]) {
      assert(compactor.shouldCompact(invocationContext));
      compactor.compact(invocationContext);
      const compaction = session.events.at(-1) as AdkEvent & { compactedContent: string };
      assert(compaction.isCompacted);
      for (const { path, id } of notedPaths(compaction.compactedContent)) {
        asked++;
        const { result } = (await tool.execute({ id }, { invocationContext })) as { result: string };
        expect(result).toContain(`content of ${path} here`);
      }
      session.events.push(...eventsOf(name).slice(1));
    }
    assert(asked > 2, `only ${asked} files were named`);
    expect(await tool.execute({ id: "m999" }, { invocationContext })).toEqual({
      error: expect.stringContaining("There is no message m999"),
    });
    expect(await tool.execute({ id: "m2" })).toEqual({ error: "Recall works in a run of an agent." });
  });
});
