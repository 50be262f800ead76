/** A resume behind an undo or a summary: the first window since is known, and nothing is counted twice. */
import { describe, expect, it } from "vitest";
import type { NewMessage, Session } from "windrow";
import { estimate } from "windrow/testing";
import { ramStore } from "../kit/inside/store.ts";
import { openManager } from "../kit/sessions.ts";

const time = new Date("2026-01-01T00:00:00Z");
const timestamp = time.toISOString();
const system = "You mend builds.";
const other = "You mend builds, and tests.";

function step(at: number, signature?: string): readonly NewMessage[] {
  const call = { callId: `c${at}`, name: "read" };
  const content = `line ${at} of the file\n`.repeat(30);
  const thought = signature === undefined ? [] : [{ type: "reasoning", text: "I think.", signature } as const];
  return [
    {
      id: `a${at}`,
      timestamp,
      role: "assistant",
      parts: [...thought, { type: "tool-call", ...call, args: { path: `f${at}.ts` } }],
    },
    { id: `t${at}`, timestamp, role: "tool", parts: [{ type: "tool-result", ...call, content }] },
  ];
}

type Change = (session: Session) => Promise<unknown>;
const undo: Change = async (session) => {
  await session.compose({ system, budget: 2_000 });
  await session.undo();
};
const compact: Change = (session) => session.compact();

/** Runs a session of 14 steps that is changed then, with a resume where `resume` is called. */
async function changed(
  change: Change,
  isResumed: boolean,
  rest: (session: Session, resume: (open: Session) => Promise<Session>) => Promise<unknown>,
): Promise<unknown> {
  const options = { strategy: "adaptive", budget: 100_000, profile: "anthropic", counter: estimate } as const;
  const manager = await openManager({ store: ramStore(), ...options, now: () => time });
  const session = await manager.create();
  await session.append({ id: "task", timestamp, role: "user", parts: [{ type: "text", text: "Mend the parser." }] });
  for (let at = 0; at < 14; at++) {
    await session.append(step(at));
    await session.compose({ system });
  }
  await change(session);
  return rest(session, async (open) => {
    if (!isResumed) return open;
    await open.close();
    return manager.resume(open.id);
  });
}

it("an undo goes the same way whether or not the session was resumed, where results were shortened as they came", async () => {
  const run = async (isResumed: boolean): Promise<readonly unknown[]> => {
    const options = { strategy: "importance", budget: 800, ingestCap: 60, now: () => time };
    const manager = await openManager({ store: ramStore(), ...options });
    let session = await manager.create();
    await session.append({ id: "task", timestamp, role: "user", parts: [{ type: "text", text: "Mend the parser." }] });
    const windows: unknown[] = [];
    for (let at = 0; at < 28; at++) {
      if (at === 14) {
        await session.compose({ system });
        if (isResumed) {
          await session.close();
          session = await manager.resume(session.id);
        }
        await session.undo();
      }
      const { report, state } = await session.compose({ system });
      if (at >= 14) windows.push([report.windowHash, state.reverted]);
      await session.append(step(at));
    }
    await manager.close();
    return windows;
  };
  expect(await run(true)).toEqual(await run(false));
});

describe.each([
  ["an undo", undo],
  ["a summary", compact],
] as const)("behind %s", (_name, change) => {
  it("leaves out signed reasoning where the prompt it was written behind is another", async () => {
    const run = (isResumed: boolean): Promise<unknown> =>
      changed(change, isResumed, async (session, resume) => {
        await session.compose({ system });
        await session.append(step(14, "signed=="));
        const { report, messages } = await (await resume(session)).compose({ system: other });
        return { hash: report.windowHash, opened: report.opened?.reason, parts: messages.map(({ parts }) => parts) };
      });
    const live = await run(false);
    expect(live).toMatchObject({ opened: "system-changed" });
    expect(JSON.stringify(live)).not.toContain("signed==");
    expect(await run(true)).toEqual(live);
  });

  it("opens no epoch where the window goes on as it was", async () => {
    const run = (isResumed: boolean): Promise<unknown> =>
      changed(change, isResumed, async (session, resume) => {
        await session.compose({ system });
        await session.append(step(14, "signed=="));
        await session.pin("Never deploy.");
        await session.compose({ system });
        const { report } = await (await resume(session)).compose({ system });
        return { hash: report.windowHash, opened: report.opened?.reason, counts: report.counts };
      });
    const live = await run(false);
    expect(live).toMatchObject({ opened: undefined });
    expect(await run(true)).toEqual(live);
  });

  it("counts steps, turns and tokens once where the epoch's line is written again", async () => {
    const run = (isResumed: boolean): Promise<unknown> =>
      changed(change, isResumed, async (session, resume) => {
        await session.pin("Never deploy.", { until: { steps: 6 } });
        for (let at = 14; at < 18; at++) await session.append(step(at));
        await session.compose({ system: other });
        await session.append(step(18));
        const again = await resume(session);
        const { report } = await again.compose({ system: other });
        const { messages, tokens } = again.stats();
        return { hash: report.windowHash, messages, tokens, pins: again.pins.list() };
      });
    const live = await run(false);
    expect(live).toMatchObject({ pins: [{ text: "Never deploy." }] });
    expect(await run(true)).toEqual(live);
  });
});

it.each([
  ["an undo", undo],
  ["a summary", compact],
] as const)("a reader composes behind %s that its writer has not composed after", async (_what, change) => {
  const options = { strategy: "adaptive", budget: 100_000, profile: "anthropic", counter: estimate } as const;
  const manager = await openManager({ store: ramStore(), ...options });
  const session = await manager.create();
  await session.append({ id: "task", timestamp, role: "user", parts: [{ type: "text", text: "Mend the parser." }] });
  for (let at = 0; at < 14; at++) await session.append(step(at));
  await session.compose({ system });
  await change(session);
  const reader = await manager.resume(session.id, { readOnly: true });
  const read = (await reader.compose({ system })).messages;
  expect(read).toEqual((await session.compose({ system })).messages);
});
