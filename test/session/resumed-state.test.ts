/** A resume goes on from what an earlier process knew: in both stores, also of what came behind its newest epoch. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Session } from "windrow";
import { answered, asked, newFolder } from "../kit/sessions.ts";

/** Two sessions of the same history: one that was closed and resumed, and one that goes on. */
async function twice(
  kind: string,
  before: (session: Session) => Promise<void>,
  then: (resumed: Session, live: Session) => Promise<void>,
): Promise<void> {
  const folder = await newFolder();
  const store = kind === "file" ? folder : `sqlite:${join(folder, "sessions.db")}`;
  const manager = await SessionManager.open({ store, budget: 4_000, calibrate: true });
  const [left, live] = [await manager.create(), await manager.create()];
  for (const session of [left, live]) await before(session);
  await left.close();
  await then(await manager.resume(left.id), live);
  await manager.close();
}

async function say(session: Session, text: string): Promise<void> {
  await session.append(asked(text));
}

describe.each(["file", "sqlite"])("a resume over %s", (kind) => {
  it("gives no pin the id of one that was removed, or twice the id of one that was pinned again", async () => {
    await twice(
      kind,
      async (session) => {
        await say(session, "hello");
        await session.pin("never deploy");
        await session.pins.remove(await session.pin("use tabs"));
        await session.pin("never deploy");
        await session.compose();
      },
      async (resumed, live) => {
        const id = await live.pin("use spaces");
        expect(id).not.toBe("p2");
        expect(await resumed.pin("use spaces")).toBe(id);
      },
    );
  });

  it("counts tokens as the provider reported them, also behind the newest epoch", async () => {
    await twice(
      kind,
      async (session) => {
        await say(session, "hello ".repeat(400));
        for (let call = 0; call < 3; call++) {
          const { tokens } = await session.compose();
          await session.endStep({ usage: { input: Math.round(tokens * 1.6) } });
          await session.append(answered("words ".repeat(100)));
          await say(session, "and more ".repeat(100));
        }
      },
      async (resumed, live) => {
        const windows = [await resumed.compose(), await live.compose()];
        expect(live.stats().reported.tokens).toBeGreaterThan((windows[1]?.tokens ?? Infinity) * 1.3);
        expect(resumed.stats().reported).toEqual(live.stats().reported);
        expect(windows[0]?.report.budget).toBe(windows[1]?.report.budget);
      },
    );
  });
});
