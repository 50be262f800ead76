import { describe, expect, it } from "vitest";
import { renderSnapshot, snapshotOf, snapshotRecord, updateSnapshot } from "../kit/inside/session.ts";
import type { SnapshotUpdate } from "../kit/inside/session.ts";
import { openSession } from "../kit/sessions.ts";

describe("the snapshot of seed 000", () => {
  it("fills on the first update what it does not name, and keeps nothing of the caller's arrays", () => {
    const actions = ["open"];
    const snapshot = updateSnapshot(undefined, { completedActions: actions });
    actions.push("later");
    expect(snapshot).toEqual({ goal: "", completedActions: ["open"], currentPhase: "", keyObservations: [] });
  });

  it("an undefined field leaves the old value", () => {
    const snapshot = updateSnapshot(undefined, { goal: "x" });
    expect(updateSnapshot(snapshot, { goal: undefined } as unknown as SnapshotUpdate)).toEqual(snapshot);
  });

  it("refuses a misspelled field with the right name, and a wrong type", () => {
    expect(() => updateSnapshot(undefined, { gaol: "x" } as SnapshotUpdate)).toThrowError(/Did you mean "goal"/);
    expect(() => updateSnapshot(undefined, { completedActions: "x" } as unknown as SnapshotUpdate)).toThrowError(
      /`completedActions` is a list, each item of which is a text/,
    );
  });

  it("comes back from its record, and a damaged one gives what can be read of it", () => {
    const snapshot = updateSnapshot(undefined, { goal: "x", completedActions: ["a"], keyObservations: ["b", "c"] });
    const record = snapshotRecord(snapshot, "2024-01-15T10:30:20.123Z");
    expect(Object.keys(record.data)).toEqual(["goal", "completed_actions", "current_phase", "key_observations"]);
    expect(snapshotOf(JSON.parse(JSON.stringify(record.data)) as typeof record.data)).toEqual(snapshot);
    expect(snapshotOf({ goal: 3, completed_actions: ["a"] }).completedActions).toEqual(["a"]);
  });

  it("is shown as a record, without the fields that hold nothing", () => {
    const shown = renderSnapshot(updateSnapshot(undefined, { goal: "search", keyObservations: ["it works"] }));
    expect(shown).toContain("no instruction");
    expect(shown).toContain("Goal: search\nObservations:\n- it works");
    expect(shown).not.toContain("Phase");
  });
});

it("a session gives copies of its snapshot", async () => {
  const session = await openSession({ budget: 4_000 });
  const updated = await session.snapshot.update({ completedActions: ["open"] });
  (updated.completedActions as string[]).push("forged");
  (session.snapshot.current!.completedActions as string[]).push("forged");
  expect(session.snapshot.current!.completedActions).toEqual(["open"]);
});
