/** A resume leaves the messages that left the window unread until an epoch opens: the windows are the same. */
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { NewMessage, Session } from "windrow";
import { estimate } from "windrow/testing";
import { ramStore } from "../kit/inside/store.ts";
import { answered, asked, openManager, watchedStore } from "../kit/sessions.ts";

const messages: readonly NewMessage[] = Array.from({ length: 400 }, (_, at) => ({
  id: `m${at}`,
  timestamp: "2026-01-01T00:00:00.000Z",
  role: at % 2 === 0 ? "user" : "assistant",
  parts: [
    { type: "text", text: `The port of service ${at % 40} is ${7_000 + at}. ${"It was asked for. ".repeat(at % 9)}` },
  ],
}));

/** The windows of a session that is fed the messages of a range; `each` is called before every window. */
async function windowsOf(
  session: Session,
  from: number,
  to: number,
  each?: () => Promise<unknown>,
): Promise<unknown[]> {
  const windows: unknown[] = [];
  for (let at = from; at < to; at += 2) {
    await session.append(messages.slice(at, at + 2));
    await each?.();
    const { report, messages: shown } = await session.compose();
    windows.push({ epoch: report.epoch, hash: report.windowHash, shown });
  }
  return windows;
}

const options = { budget: 2_000, strategy: "adaptive", counter: estimate } as const;

it("gives the windows of a session that was never closed, wherever it is resumed", { tags: ["slow"] }, async () => {
  const whole = await openManager({ store: ramStore(), ...options });
  const expected = await windowsOf(await whole.create(), 0, 400);
  expect(expected.at(-1)).toMatchObject({ epoch: expect.any(Number) as number });
  for (const stop of [100, 202, 304]) {
    const { store, seen } = watchedStore();
    const manager = await SessionManager.open({ store, ...options });
    const session = await manager.create();
    const before = await windowsOf(session, 0, stop);
    await session.close();
    const resumed = await manager.resume(session.id);
    seen.reads = 0;
    const later = await windowsOf(resumed, stop, 400);
    expect([...before, ...later]).toEqual(expected);
    expect(seen.reads).toBeGreaterThan(0);
    await manager.close();
  }
});

it("tells that what left cannot be read, and opens the epoch once it can", async () => {
  const { store, seen } = watchedStore();
  const manager = await openManager({ store, ...options });
  const session = await manager.create();
  await windowsOf(session, 0, 200);
  const { epoch } = session.stats();
  await session.close();
  const resumed = await manager.resume(session.id);
  seen.fails = true;
  let failed: unknown;
  for (let at = 200; at < 400 && failed === undefined; at += 2) {
    await resumed.append(messages.slice(at, at + 2));
    failed = await resumed.compose().then(
      () => undefined,
      (error: unknown) => error,
    );
  }
  expect(failed).toMatchObject({ code: "store-unavailable" });
  seen.fails = false;
  const { report, tokens } = await resumed.compose();
  expect(report.epoch).toBe(epoch + 1);
  expect(tokens).toBeLessThanOrEqual(2_000);
});

it.each([false, true])("takes back an epoch that took the newest message (resumed: %s)", async (isResumed) => {
  const manager = await openManager({ store: ramStore(), ...options });
  let session = await manager.create();
  await session.append("Find the port of every service and list them in a table for me.");
  for (let at = 0; at < 12; at++) {
    const text = `Service ${at} has port ${7_000 + at}. ${"It was asked. ".repeat(6)}`;
    await session.append([answered(text), asked(`And service ${at + 1}?`)]);
  }
  const content = Array.from({ length: 150 }, (_, line) => `host_${line} answers on ${9_000 + line}`).join("\n");
  await session.append([
    { role: "assistant", parts: [{ type: "tool-call", callId: "late", name: "bash", args: { command: "scan" } }] },
    answered("It runs in the background; I go on meanwhile."),
    { role: "tool", parts: [{ type: "tool-result", callId: "late", content }] },
  ]);
  const { report } = await session.compose();
  expect(report.opened).toBeDefined();
  if (isResumed) {
    await session.close();
    session = await manager.resume(session.id);
  }
  expect((await session.compose()).report.counts).toEqual(report.counts);
  await session.undo();
  const { messages: shown } = await session.compose({ budget: 100_000 });
  expect(JSON.stringify(shown)).toContain("host_149 answers on 9149");
});
