/** Pins, the goal and the snapshot: in every window, verbatim, whatever leaves, and after a restart. */
import { expect, it } from "vitest";
import type { SessionManager } from "windrow";
import type { Composed, Session } from "windrow";
import { codingSession, messageText } from "../kit/inside/message.ts";
import { openManager } from "../kit/sessions.ts";

async function open(options: Partial<Parameters<typeof SessionManager.open>[0]> = {}): Promise<SessionManager> {
  return openManager({ budget: 8_000, ...options });
}

function textOf({ messages }: Composed): string {
  return messages.map(messageText).join("\n");
}

async function run(session: Session, each: (window: Composed) => void, from = 0, to = 200): Promise<void> {
  for (const message of [...codingSession(200, 20)].slice(from, to)) {
    if (message.role === "assistant") each(await session.compose());
    await session.append(message);
    if (message.role === "assistant") await session.endStep();
  }
}

it.each(["adaptive", "sliding-window", { use: "summary-at-threshold", ratio: 0.5 }])(
  "keeps pins verbatim in every window over five epochs, whatever a summariser answers (%j)",
  async (strategy) => {
    const manager = await open({ strategy, compaction: "blocking", summarizer: async () => "ok" });
    const session = await manager.create();
    const pins = ["Never run deploy.", "  二度と本番に触らない\n\t(indented as it was)"];
    for (const pin of pins) await session.pin(pin);
    let windows = 0;
    await run(session, (window) => {
      windows++;
      for (const pin of pins) expect(textOf(window)).toContain(`\n ${pin.replaceAll("\n", "\n ")}`);
      expect(window.tokens).toBeLessThanOrEqual(8_000);
      expect(window.report.faults).toEqual([]);
    });
    expect(session.stats().epoch).toBeGreaterThanOrEqual(5);
    expect(windows).toBeGreaterThan(50);
  },
);

it("shows a pin at once and behind the same prefix, and moves it to its slot at the next epoch", async () => {
  const session = await (await open()).create();
  await run(session, () => undefined, 0, 10);
  const before = await session.compose();
  await session.pin("Use tabs.");
  const after = await session.compose();
  expect(after.messages.slice(0, before.messages.length)).toEqual(before.messages);
  expect(messageText(after.messages.at(-1)!)).toContain("Use tabs.");
  let slot = -1;
  await run(
    session,
    (window) => {
      if (window.report.opened)
        slot = window.messages.findIndex((message) => messageText(message).includes("Use tabs."));
    },
    10,
  );
  expect(slot).toBeGreaterThanOrEqual(0);
  expect(slot).toBeLessThanOrEqual(1);
});

it("takes a pin off without touching what stands before", async () => {
  const session = await (await open()).create();
  await run(session, () => undefined, 0, 4);
  const id = await session.pin("Only this week.");
  const shown = await session.compose();
  await session.pins.remove(id);
  const gone = await session.compose();
  expect(gone.messages.slice(0, shown.messages.length)).toEqual(shown.messages);
  expect(messageText(gone.messages.at(-1)!)).toContain("no longer holds");
  expect(session.pins.list()).toEqual([]);
});

it("composes the same window after a restart: pins, goal, snapshot, and what was inserted", async () => {
  const manager = await open();
  const session = await manager.create();
  await session.pin("Pinned before anything.");
  await run(session, () => undefined, 0, 120);
  expect(session.stats().epoch).toBeGreaterThan(0);
  await session.pin("Pinned later.");
  await session.goal.set("Now make it fast.");
  await session.snapshot.update({ currentPhase: "executing", completedActions: ["read"] });
  await session.snapshot.update({ keyObservations: ["slow parser"] });
  const window = await session.compose();
  await session.close();

  const resumed = await manager.resume(session.id);
  expect(resumed.snapshot.current).toEqual({
    goal: "",
    completedActions: ["read"],
    currentPhase: "executing",
    keyObservations: ["slow parser"],
  });
  expect(resumed.goal.revisions.map(({ text }) => text)).toEqual(["Now make it fast."]);
  const again = await resumed.compose();
  expect(again.report.windowHash).toBe(window.report.windowHash);
  expect(again.report.opened).toBeUndefined();
  for (const text of ["Pinned before anything.", "Pinned later.", "Now make it fast.", "slow parser"]) {
    expect(textOf(again)).toContain(text);
  }
});

it("opens an epoch when a resumed session has another system prompt, also before its first edit", async () => {
  const manager = await open();
  const session = await manager.create();
  await run(session, () => undefined, 0, 4);
  await session.compose({ system: "Be brief." });
  await session.close();
  const resumed = await manager.resume(session.id);
  expect((await resumed.compose({ system: "Be brief." })).report.opened).toBeUndefined();
  expect((await resumed.compose({ system: "Be long." })).report.opened?.reason).toBe("system-changed");
});
