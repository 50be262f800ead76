import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Model } from "windrow/model";
import type { StoredRecordOf } from "windrow/store/author";
import { estimate, scripted } from "windrow/testing";
import { coverageOf } from "windrow/window";
import type { ViewStep } from "windrow/window";
import {
  liveSummaries,
  mergeSummaries,
  planMerge,
  summarise,
  summaryEdits,
  summaryOf,
  summaryRange,
  summaryRecord,
} from "../../kit/inside/window.ts";
import type { LiveSummary } from "../../kit/inside/window.ts";
import { factSession, numbered, user } from "./kit.ts";

function live(id: number, from: number, to: number, tokens: number, level = 1): LiveSummary {
  const sentence = `Step ${id} changed src/file-${id}.ts and the tests pass. `;
  const text = sentence.repeat(Math.ceil(tokens / estimate.count(sentence)));
  return { id, from, to, kept: [], text, tokens: estimate.count(text), originalTokens: 10 * tokens, level };
}

/** What a view is made of: one step for each message, or for each group of them. */
function steps(...groups: readonly (readonly [ViewStep["kind"], ...number[]])[]): readonly ViewStep[] {
  return groups.map(([kind, ...seqs]) => ({
    kind,
    from: Math.min(...seqs),
    to: Math.max(...seqs),
    messages: seqs.map((seq) => ({ seq, message: user(`${seq}`) })),
    tokens: 10,
    logTokens: 10,
    protected: false,
  }));
}

describe("a range", () => {
  it("leaves out the system prompt and the newest five messages, and is whole steps", () => {
    const view = steps(
      ["system", 1],
      ["user", 2],
      ["assistant", 3, 4, 5],
      ["assistant", 6, 7, 8],
      ["assistant", 9, 10],
    );
    expect(summaryRange(view)).toEqual({ from: 2, to: 5, kept: [] });
    expect(summaryRange(view, { keepMessages: 0 })).toEqual({ from: 2, to: 10, kept: [] });
    expect(summaryRange(view, { keepMessages: 9 })).toBeUndefined();
  });

  it("begins behind the last labelled message", () => {
    const view = steps(["user", 1], ["note", 2, 8], ["assistant", 9], ["user", 10], ["assistant", 11]);
    expect(summaryRange(view, { keepMessages: 1 })).toEqual({ from: 9, to: 10, kept: [] });
  });

  it("takes the oldest turns where it is asked to", () => {
    const view = steps(["user", 1], ["assistant", 2], ["user", 3], ["assistant", 4, 5], ["user", 6], ["assistant", 7]);
    expect(summaryRange(view, { turns: 2, keepMessages: 0 })).toEqual({ from: 1, to: 5, kept: [] });
    expect(summaryRange(view, { turns: 9, keepMessages: 0 })).toEqual({ from: 1, to: 7, kept: [] });
  });

  it("ends before a step whose result came late", () => {
    const view = steps(["user", 1], ["assistant", 2, 3], ["assistant", 4, 7], ["user", 5], ["user", 6], ["user", 8]);
    expect(summaryRange(view, { keepMessages: 2 })).toEqual({ from: 1, to: 3, kept: [] });
    expect(summaryRange(view, { keepMessages: 1 })).toEqual({ from: 1, to: 7, kept: [] });
  });

  it("leaves verbatim what is to be kept, system messages in the middle too", () => {
    const view = steps(["user", 1], ["assistant", 2, 3], ["system", 4], ["assistant", 5, 6], ["user", 7]);
    const keep = ({ from }: { readonly from: number }): boolean => from === 1 || from === 5;
    expect(summaryRange(view, { keepMessages: 0, keep })).toEqual({ from: 2, to: 7, kept: [4, 5, 6] });
    expect(summaryRange(view, { keepMessages: 0, keep: () => true })).toBeUndefined();
  });
});

describe("merging", () => {
  it("is not planned while the block fits, then takes the oldest neighbours of the lowest level", () => {
    const summaries = [live(1, 1, 9, 300, 2), live(2, 10, 19, 200), live(3, 20, 29, 200), live(4, 30, 39, 200)];
    expect(planMerge(summaries, 1_000)).toBeUndefined();
    expect(planMerge(summaries, 700)?.children.map(({ id }) => id)).toEqual([2, 3, 4]);
    expect(planMerge(summaries, 500)?.children.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  });

  it("asks the model for one summary of them, and falls back on their sentences where it fails", async () => {
    const children = [live(1, 1, 9, 200), live(2, 12, 19, 200)];
    const merge = { children, maxTokens: 150 };
    const model = scripted(["Both files changed; tests pass.", new Error("overloaded")], { contextWindow: 32_000 });
    const merged = await mergeSummaries(merge, { model, counter: estimate });
    expect(merged).toMatchObject({ text: "Both files changed; tests pass.", startSeq: 1, endSeq: 19, kept: [10, 11] });
    expect(model.requests[0]?.prompt).toContain("[SUMMARY m1-m9]: Step 1");
    const fallen = await mergeSummaries(merge, { model, counter: estimate });
    expect(fallen).toMatchObject({ by: "extract", calls: 1, originalTokens: 4_000 });
    expect(fallen.summaryTokens).toBeLessThanOrEqual(150);
    expect(fallen.text).toContain("src/file-");
    expect(summaryOf(fallen, children).level).toBe(2);
  });

  it("keeps ten summaries of an echoing summariser under the cap, with every message covered after each", async () => {
    const messages = numbered(factSession(100, 40));
    // It answers with as much of its source as it is allowed to.
    const echo: Model = async ({ prompt, maxOutput = 0 }) => {
      const [, source = ""] = prompt.split("=== Messages to summarise ===\n");
      return { text: source.slice(0, maxOutput * 2), usage: {}, finish: "stop" };
    };
    const model = Object.assign(echo, { contextWindow: 32_000 });
    const blockTokens = 1_500;
    const maxTokens = 700;
    let block: readonly LiveSummary[] = [];
    let id = 0;
    for (let round = 0; round < 10; round++) {
      const range = messages.slice(round * 20, round * 20 + 20);
      const outcome = await summarise({ messages: range }, { model, counter: estimate, maxTokens });
      if (!outcome.ok) throw new Error(outcome.message);
      const merge = planMerge(block, blockTokens - outcome.summaryTokens);
      if (merge) {
        const merged = await mergeSummaries(merge, { model, counter: estimate });
        const parent = { ...summaryOf(merged, merge.children), id: ++id };
        block = [parent, ...block.filter((one) => !merge.children.includes(one))].toSorted((a, b) => a.from - b.from);
      }
      block = [...block, { ...summaryOf(outcome), id: ++id }];
      const verbatim = messages.slice(round * 20 + 20).map(({ seq }) => seq);
      const coverage = coverageOf({ length: messages.length, verbatim, summaries: block, dropped: [] });
      expect(coverage.faults).toEqual([]);
      expect(coverage.summarised).toBe(round * 20 + 20);
      expect(block.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(blockTokens);
    }
    expect(Math.max(...block.map(({ level }) => level))).toBeGreaterThanOrEqual(2);
  });
});

describe("records and edits", () => {
  const outcome = {
    ok: true,
    text: "Fixed it.",
    startSeq: 10,
    endSeq: 20,
    kept: [13, 14],
    originalTokens: 1_200,
    summaryTokens: 3,
    compressionRatio: 0.003,
    struck: [],
    by: "model",
    calls: 1,
    usage: [],
  } as const;
  const timestamp = "2024-01-15T10:32:00.000Z";

  it("a record has the range it read, and what it took the place of", () => {
    const child = live(1, 1, 9, 100);
    expect(summaryRecord(outcome, { children: [], timestamp })).toMatchObject({ startSeq: 10, endSeq: 20 });
    expect(summaryRecord(outcome, { children: [child], timestamp })).toMatchObject({
      startSeq: 10,
      endSeq: 20,
      data: { level: 2, from: 1, children: [1], kept: [13, 14], by: "model" },
    });
  });

  it("edits show one labelled message and leave what is kept", () => {
    const edits = summaryEdits(summaryOf(outcome), estimate);
    expect(edits.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ["replace", 10, 12],
      ["drop", 15, 20],
    ]);
    expect(edits[0]?.text).toMatch(/^\[Windrow: a summary of messages m10-m20 .*no instruction.*\]\n Fixed it\.$/);
    const [prefixed] = summaryEdits(summaryOf(outcome), estimate, { role: "system", prefix: "前文の要約：" });
    expect(prefixed).toMatchObject({ role: "system" });
    expect(prefixed?.text).toMatch(/^前文の要約：Fixed it\.\n\[Windrow: .*no instruction/);
  });

  it("what stands in a window is found again by its records, also after a newer one was undone", () => {
    const one = summaryRecord(outcome, { children: [], timestamp });
    const stored = [
      { ...one, seq: 1, pos: 5 },
      {
        ...one,
        summary: "Undone.",
        startSeq: 21,
        endSeq: 30,
        data: { level: 2, from: 10, children: [1] },
        seq: 2,
        pos: 9,
      },
    ] as readonly StoredRecordOf<"summary">[];
    const [edit] = summaryEdits(summaryOf(outcome), estimate);
    if (!edit) throw new Error("no edit");
    expect(liveSummaries([{ kind: "note", from: 10, edit }], stored)).toEqual([{ ...summaryOf(outcome), id: 1 }]);
    expect(liveSummaries([{ kind: "note", from: 10, edit: { ...edit, pass: "digest" } }], stored)).toEqual([]);
  });
});

describe("coverage", () => {
  it("finds what is lost, told twice, or dropped without a reason", () => {
    const { faults } = coverageOf({
      length: 20,
      verbatim: [1, 8, 16, 17, 18, 19, 20],
      summaries: [
        { from: 2, to: 9, kept: [8] },
        { from: 9, to: 10, kept: [] },
      ],
      dropped: [
        { from: 13, to: 13, reason: "no room" },
        { from: 14, to: 15, reason: "" },
      ],
    });
    expect(faults.map(({ problem, from, to }) => [problem, from, to])).toEqual([
      ["twice", 9, 9],
      ["lost", 11, 12],
      ["no-reason", 14, 15],
    ]);
    expect(faults[0]?.message).toContain("m9 ");
  });

  it("counts every message of a good window once", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("verbatim", "summary", "dropped"), { maxLength: 60 }), (fates) => {
        const of = (fate: string): readonly number[] =>
          fates.flatMap((one, index) => (one === fate ? [index + 1] : []));
        const single = (seq: number): { from: number; to: number } => ({ from: seq, to: seq });
        const coverage = coverageOf({
          length: fates.length,
          verbatim: of("verbatim"),
          summaries: of("summary").map((seq) => ({ ...single(seq), kept: [] })),
          dropped: of("dropped").map((seq) => ({ ...single(seq), reason: "no room" })),
        });
        expect(coverage.faults).toEqual([]);
        expect(coverage.verbatim + coverage.summarised + coverage.dropped).toBe(fates.length);
      }),
      { numRuns: 100 },
    );
  });
});
