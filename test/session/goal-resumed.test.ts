/** The goal behind a resume: the task is the user's first message, whatever the user said later. */
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { NewMessage, Session } from "windrow";
import { ramStore } from "../kit/inside/store.ts";
import { answered } from "../kit/sessions.ts";

const task = "Mend the parser.";
const remark = "By the way, the logs are ugly.";

/** A call that reads a file, and its text. */
function step(at: number): readonly NewMessage[] {
  const call = { callId: `c${at}`, name: "read" };
  const content = `line ${at} of the file\n`.repeat(20);
  return [
    { role: "assistant", parts: [{ type: "tool-call", ...call, args: { path: `f${at}.ts` } }] },
    { role: "tool", parts: [{ type: "tool-result", ...call, content }] },
  ];
}

/** Grows a session until an epoch has opened. */
async function grow(session: Session): Promise<void> {
  for (let at = 0; session.stats().epoch === 0; at++) {
    await session.append(step(at));
    await session.compose();
  }
}

describe.each(["adaptive", "sliding-window", "importance"])("the goal of %s", (strategy) => {
  it("is the first message of the user's after a resume, too", async () => {
    const store = ramStore();
    const options = { store, strategy, budget: 3_000 };
    const manager = await SessionManager.open(options);
    const session = await manager.create();
    // The task stands behind more messages than are looked at where the record does not name it.
    await session.append(Array.from({ length: 65 }, () => answered("Hello.")));
    await session.append(task);
    await grow(session);
    await session.append(remark);
    const { goal } = session;
    expect(goal.original).toMatchObject({ text: task, seq: 66 });
    await session.close();
    const resumed = await manager.resume(session.id);
    expect(resumed.goal.original).toEqual(goal.original);
  });
});
