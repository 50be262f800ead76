/** A session whose store has the seal's key: what a resume restores beside the messages is unmasked, too. */
import { afterEach, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { NewMessage, Session } from "windrow";
import { createMask } from "windrow/store";
import { ramStore } from "../kit/inside/store.ts";
import { secretSamples } from "./samples.ts";

const secret = secretSamples["github-token"]!.secret;
const mask = createMask({ seal: "0123456789abcdef0123456789abcdef-made-at-random" });
const time = new Date("2026-01-01T00:00:00Z");
const timestamp = time.toISOString();
const managers: SessionManager[] = [];

afterEach(async () => {
  for (const manager of managers.splice(0)) await manager.close();
});

function step(at: number): readonly NewMessage[] {
  const call = { callId: `c${at}`, name: "read" };
  const path = `${secret}/f${at}.ts`;
  return [
    { id: `a${at}`, timestamp, role: "assistant", parts: [{ type: "tool-call", ...call, args: { path } }] },
    {
      id: `t${at}`,
      timestamp,
      role: "tool",
      parts: [{ type: "tool-result", ...call, content: `line ${at} of the file\n`.repeat(20) }],
    },
  ];
}

/** Grows a session by an epoch; the number of the next step. */
async function grow(session: Session, from: number): Promise<number> {
  const { epoch } = session.stats();
  let at = from;
  for (; session.stats().epoch === epoch; at++) {
    await session.append(step(at));
    await session.compose();
  }
  return at;
}

type Change = (session: Session) => Promise<unknown>;
const goalSet: Change = (session) => session.goal.set("Mend the lexer, too.");
const snapshot: Change = (session) => session.snapshot.update({ goal: `push with ${secret}` });
const pinned: Change = (session) => session.pin(`Push with ${secret} alone.`);
const undo: Change = (session) => session.undo();
const nothing: Change = async () => undefined;

describe.each([
  ["sliding-window", "sliding-window"],
  ["sliding-window without its first message", { use: "sliding-window", keepFirstUser: false }],
  ["adaptive", "adaptive"],
] as const)("%s", (_name, strategy) => {
  it.each([
    ["the goal", nothing, goalSet],
    ["the snapshot", snapshot, nothing],
    ["a pin", pinned, nothing],
    ["an epoch that is undone", pinned, undo],
  ] as const)("shows %s as it was given", async (_what, before, after) => {
    const run = async (isResumed: boolean): Promise<unknown> => {
      const store = ramStore({ mask });
      const manager = await SessionManager.open({ store, strategy, budget: 3_000, now: () => time });
      managers.push(manager);
      let session = await manager.create();
      const text = `Push the branch with ${secret}, then mend the parser.`;
      await session.append({ id: "task", timestamp, role: "user", parts: [{ type: "text", text }] });
      await before(session);
      const at = await grow(session, 0);
      if (isResumed) {
        await session.close();
        session = await manager.resume(session.id);
      }
      const { goal } = session;
      const first = await session.compose();
      await after(session);
      const second = await session.compose();
      await grow(session, at);
      const third = await session.compose();
      const texts = JSON.stringify(
        [...first.messages, ...second.messages, ...third.messages].map(({ parts }) => parts),
      );
      const hashes = [first, second, third].map(({ report }) => report.windowHash);
      return { goal: goal.original, opened: first.report.opened?.reason, hashes, texts };
    };
    expect(await run(true)).toEqual(await run(false));
  });
});
