/** What a server does with a manager (seed 004 §3): sessions by id, ended, idle, read; and the path without one. */
import { describe, expect, it, vi } from "vitest";
import { countTokens, loadCounter } from "windrow";
import type { ManagerOptions, Message, SessionEvent, SessionManager } from "windrow";
import { codingSession, messageText } from "../kit/inside/message.ts";
import { asked, codeOf, listed, newFolder, openManager } from "../kit/sessions.ts";

async function open(options: ManagerOptions): Promise<SessionManager> {
  return openManager({ budget: 12_000, ...options });
}

async function textsOf(messages: AsyncIterable<Message>): Promise<readonly string[]> {
  return (await listed(messages)).map(messageText);
}

/** A clock and a timer that stand still until they are moved. */
function stillTime(): {
  now: () => Date;
  every: NonNullable<ManagerOptions["every"]>;
  pass(milliseconds: number): void;
} {
  let time = Date.UTC(2026, 0, 1);
  let tick = (): void => undefined;
  return {
    now: () => new Date(time),
    every(milliseconds, run) {
      // A session is closed at most a quarter of its timeout late.
      expect(milliseconds).toBe(15_000);
      tick = run;
      return () => (tick = () => undefined);
    },
    pass(milliseconds) {
      time += milliseconds;
      tick();
    },
  };
}

describe.each(["ram:", "files"])("a manager over %s", (kind) => {
  const store = async (): Promise<string> => {
    if (kind !== "files") return kind;
    const folder = await newFolder();
    return folder;
  };

  it("keeps two users' sessions apart, each by its id", async () => {
    const manager = await open({ store: await store() });
    const [one, two] = [await manager.create(), await manager.create()];
    await Promise.all(
      [1, 2, 3].map(async (n) => {
        await (await manager.session(one.id)).append(asked(`one ${n}`));
        await (await manager.session(two.id)).append(asked(`two ${n}`));
      }),
    );
    expect((await textsOf(manager.messages(one.id))).toSorted()).toEqual(["one 1", "one 2", "one 3"]);
    expect((await textsOf(manager.messages(two.id))).toSorted()).toEqual(["two 1", "two 2", "two 3"]);
    expect((await textsOf(manager.messages(two.id, { from: 2, to: 3 }))).length).toBe(2);
  });

  it("gives every caller of one id the same session, resumed once", async () => {
    const manager = await open({ store: await store() });
    const made = await manager.create();
    expect(await manager.session(made.id)).toBe(made);
    await made.append(asked("before"));
    await made.close();
    const [left, right] = await Promise.all([manager.session(made.id), manager.session(made.id)]);
    expect(left).toBe(right);
    expect(left).not.toBe(made);
    await left.append(asked("after"));
    const closing = left.close();
    const again = await manager.session(made.id);
    await closing;
    expect(again.stats().messages).toBe(2);
  });

  it("destroys: ended, readable, written no more", async () => {
    const manager = await open({ store: await store() });
    const [here, closed] = [await manager.create(), await manager.create()];
    await here.append(asked("open here"));
    await closed.append(asked("closed"));
    await closed.close();
    await manager.destroy(here.id, "failed", "the model left");
    await manager.destroy(closed.id);
    await manager.destroy(closed.id, "failed");
    expect((await manager.info(here.id)).state).toMatchObject({ status: "failed", error: "the model left" });
    expect((await manager.info(closed.id)).state.status).toBe("completed");
    expect(await textsOf(manager.messages(here.id))).toEqual(["open here"]);
    expect(await codeOf(here.append(asked("more")))).toBe("closed");
    expect(await codeOf(manager.session(here.id))).toBe("read-only");
  });

  it("closes what nothing touched, tells it, and goes on when asked", async () => {
    const events: SessionEvent[] = [];
    const time = stillTime();
    const { now, every } = time;
    const options = { idleTimeout: 60_000, now, every, on: (event: SessionEvent) => void events.push(event) };
    const manager = await open({ store: await store(), ...options });
    const [idle, busy, working] = [await manager.create(), await manager.create(), await manager.create()];
    const closed = (): readonly string[] => {
      return events.filter((event) => event.type === "session-closed").map((event) => event.sessionId);
    };
    const run = await working.startTool({ name: "build", args: {} });
    time.pass(40_000);
    await busy.append(asked("still here"));
    time.pass(30_000);
    await vi.waitFor(() => expect(closed()).toEqual([idle.id]), 10_000);
    expect(await codeOf(idle.append(asked("late")))).toBe("closed");
    const again = await manager.session(idle.id);
    await again.append(asked("late"));
    await run.finish("built");
    await busy.append(asked("and here"));
    time.pass(59_000);
    time.pass(1_000);
    await vi.waitFor(
      () => expect(closed().toSorted()).toEqual([idle.id, busy.id, working.id, idle.id].toSorted()),
      10_000,
    );
    expect(events).toContainEqual({ type: "session-closed", sessionId: idle.id, reason: "idle" });
  });
});

it("loads an exact counter by its name, and counts before a message is added as after", async () => {
  const session = await (await open({ store: "ram:", counter: "o200k" })).create();
  const messages = codingSession(3);
  const before = countTokens(messages, await loadCounter("o200k"));
  await session.append(messages);
  expect(session.stats().tokens).toBe(before);
  expect(session.metadata.config["counter"]).toBe("o200k");
  expect(countTokens([asked("hello")])).toBeGreaterThan(4);
});
