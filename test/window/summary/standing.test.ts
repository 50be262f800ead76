import { describe, expect, it } from "vitest";
import type { StoredRecordOf } from "windrow/store/author";
import { estimate } from "windrow/testing";
import type { SummaryHookOptions, ViewStep } from "windrow/window";
import { dueNow, liveSummaries, summaryEdits, summaryOf, summaryRecord } from "../../kit/inside/window.ts";
import type { LiveSummary } from "../../kit/inside/window.ts";
import { user } from "./kit.ts";

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

/** The messages that a summary is due for. */
async function dueFor(view: readonly ViewStep[], options: SummaryHookOptions = {}): Promise<readonly number[]> {
  const context = {
    view: { steps: view, tokens: 10 * view.length },
    budget: 10_000,
    room: 10_000,
    edits: [],
  } as unknown as Parameters<typeof dueNow>[0];
  return (await dueNow(context, options, 100))?.seqs ?? [];
}

describe("a range", () => {
  it("leaves out the system prompt and the newest five messages, and is whole steps", async () => {
    const view = steps(
      ["system", 1],
      ["user", 2],
      ["assistant", 3, 4, 5],
      ["assistant", 6, 7, 8],
      ["assistant", 9, 10],
    );
    expect(await dueFor(view)).toEqual([2, 3, 4, 5]);
    expect(await dueFor(view, { keepMessages: 0 })).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(await dueFor(view, { keepMessages: 9 })).toEqual([]);
  });

  it("begins behind the last labelled message", async () => {
    const view = steps(["user", 1], ["note", 2, 8], ["assistant", 9], ["user", 10], ["assistant", 11]);
    expect(await dueFor(view, { keepMessages: 1 })).toEqual([9, 10]);
  });

  it("takes the oldest turns where it is asked to", async () => {
    const view = steps(["user", 1], ["assistant", 2], ["user", 3], ["assistant", 4, 5], ["user", 6], ["assistant", 7]);
    expect(await dueFor(view, { turns: 2, keepMessages: 0 })).toEqual([1, 2, 3, 4, 5]);
    expect(await dueFor(view, { turns: 9, keepMessages: 0 })).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await dueFor(view, { keepTurns: 1, keepMessages: 0 })).toEqual([1, 2, 3, 4, 5]);
  });

  it("leaves a step whole whose result came late", async () => {
    const view = steps(["user", 1], ["assistant", 2, 3], ["assistant", 4, 7], ["user", 5], ["user", 6], ["user", 8]);
    expect(await dueFor(view, { keepMessages: 2 })).toEqual([1, 2, 3, 5, 6]);
    expect(await dueFor(view, { keepMessages: 1 })).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it("leaves verbatim what must stay and what scores high, system messages in the middle too", async () => {
    const view = steps(["user", 1], ["assistant", 2, 3], ["system", 4], ["assistant", 5, 6], ["user", 7]);
    const [first, ...others] = view;
    const task = { ...first!, protected: true };
    const score = ([one]: readonly { readonly id: string }[]): number => (one?.id === "5" ? 1 : 0);
    const options = { keepMessages: 0, keepImportance: 0.9, score };
    expect(await dueFor([task, ...others], options)).toEqual([2, 3, 7]);
    expect(await dueFor([task, ...others], { ...options, score: () => 1 })).toEqual([]);
  });

  it("is due where the trigger says so, and where the window has no room", async () => {
    const view = steps(["user", 1], ["assistant", 2], ["user", 3], ["assistant", 4]);
    expect(await dueFor(view, { keepMessages: 0, trigger: { turns: 2 } })).toEqual([]);
    expect(await dueFor(view, { keepMessages: 0, trigger: { turns: 1 } })).toEqual([1, 2, 3, 4]);
    const large = view.map((step) => ({ ...step, tokens: 3_000 }));
    const context = { view: { steps: large, tokens: 12_000 }, budget: 12_000, room: 10_000, edits: [] };
    const due = await dueNow(context as never, { turns: 1, trigger: { turns: 9 } }, 100);
    // Turns are folded down to half of the room.
    expect(due?.seqs).toEqual([1, 2, 3]);
  });
});

describe("records and edits", () => {
  const written = { ok: true, text: "Fixed it.", tokens: 3, by: "model", calls: 1 } as const;
  const messages = [10, 11, 12, 15, 16, 17, 18, 19, 20].map((seq) => ({ seq, message: user(`${seq}`) }));
  const task = { messages, originalTokens: 1_200, live: [] as LiveSummary[], maxTokens: 100 };
  const timestamp = "2024-01-15T10:32:00.000Z";

  it("a record has the range it read, and what it took the place of", () => {
    const told = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const child: LiveSummary = { id: 1, told, text: "Begun.", tokens: 2, originalTokens: 900, level: 1 };
    expect(summaryRecord(written, task, timestamp)).toMatchObject({ startSeq: 10, endSeq: 20, data: { level: 1 } });
    expect(summaryRecord(written, { ...task, live: [child] }, timestamp)).toMatchObject({
      startSeq: 10,
      endSeq: 20,
      originalTokens: 1_200,
      data: { level: 2, from: 1, to: 20, from_tokens: 2_100, children: [1], kept: [13, 14], by: "model" },
    });
  });

  it("edits show one labelled message and leave what is kept", () => {
    const edits = summaryEdits(summaryOf(written, task), estimate);
    expect(edits.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ["replace", 10, 12],
      ["drop", 15, 20],
    ]);
    expect(edits[0]?.text).toMatch(/^\[Windrow: a summary of messages m10-m20 .*no instruction.*\]\n Fixed it\.$/);
    const [prefixed] = summaryEdits(summaryOf(written, task), estimate, {
      message: { role: "system", prefix: "前文の要約：" },
    });
    expect(prefixed).toMatchObject({ role: "system" });
    expect(prefixed?.text).toMatch(/^前文の要約：Fixed it\.\n\[Windrow: .*no instruction/);
  });

  it("what stands in a window is found again by its records, also after a newer one was undone", () => {
    const one = summaryRecord(written, task, timestamp);
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
    const [edit] = summaryEdits(summaryOf(written, task), estimate);
    if (!edit) throw new Error("no edit");
    expect(liveSummaries([{ kind: "note", from: 10, edit }], stored)).toEqual([{ ...summaryOf(written, task), id: 1 }]);
    expect(liveSummaries([{ kind: "note", from: 10, edit: { ...edit, pass: "digest" } }], stored)).toEqual([]);
  });
});
