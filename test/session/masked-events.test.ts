/** Live events and log lines hold no secret: what hears them may write them anywhere. */
import { expect, it } from "vitest";
import { isWindrowError, SessionManager } from "windrow";
import type { SessionEvent } from "windrow";
import type { AdapterEvent } from "windrow/adapter";
import { logTo } from "windrow/ops";
import { createMask, openStore } from "windrow/store";
import { Teller } from "../kit/inside/adapter.ts";
import { asked, openSession } from "../kit/sessions.ts";

const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
const registered = "correct horse battery 9";
const secrets = [token, registered];

/** Everything of an event, errors with their messages, stacks, data and causes. */
function textOf(event: unknown): string {
  return JSON.stringify(event, (_key, value: unknown) =>
    value instanceof Error
      ? { ...Object.fromEntries(Object.entries(value)), message: value.message, stack: value.stack, cause: value.cause }
      : value,
  );
}

it("events of a session, and the lines that logTo writes of them, pass the store's mask", async () => {
  const events: SessionEvent[] = [];
  const lines: string[] = [];
  const log = logTo((line) => lines.push(line), { level: "DEBUG", mask: createMask({ values: { WIFI: registered } }) });
  const manager = await SessionManager.open({
    store: await openStore("ram:", { mask: createMask({ values: { WIFI: registered } }) }),
    budget: 3_000,
    on: (event) => {
      events.push(event);
      log(event);
    },
  });
  const session = await manager.create({ taskKey: { name: `${token} ${registered}`, password: "hunter2-Ab9!x" } });
  await session.append(asked(`Fix ${token}`));
  for (let call = 0; call < 12; call += 1) {
    const callId = `${token}-${call}`;
    const args = { command: `curl -H ${token} ${registered} ${call}` };
    await session.append({ role: "assistant", parts: [{ type: "tool-call", callId, name: "shell", args }] });
    const run = await session.startTool({ callId, name: registered, args }, { allowMasks: true });
    await run.finish(`${token} ${registered}\n${"words of output\n".repeat(60)}`);
    await session.compose();
    await session.endStep({ usage: { input: 1 } });
  }
  await session.finish("failed", `Upstream said: invalid key ${token} of ${registered}`);
  await manager.close();

  const kinds = new Set(events.map(({ type }) => type));
  expect([...kinds]).toEqual(
    expect.arrayContaining(["session-opened", "tool-started", "epoch-opened", "window-composed", "session-finished"]),
  );
  for (const secret of secrets) {
    expect(events.filter((event) => textOf(event).includes(secret))).toEqual([]);
    expect(lines.filter((line) => line.includes(secret))).toEqual([]);
  }
  expect(lines.some((line) => line.includes("invalid key [GITHUB_TOKEN] of [WIFI]"))).toBe(true);
});

it("an event without a secret is the very object that was told", async () => {
  const reports: unknown[] = [];
  const session = await openSession({
    budget: 3_000,
    on: (event) => event.type === "window-composed" && reports.push(event.report),
  });
  await session.append(asked("Fix it"));
  const { report } = await session.compose();
  expect(reports).toEqual([report]);
  expect(reports[0]).toBe(report);
});

it("logTo hides secrets of a known form whoever tells it", () => {
  const lines: string[] = [];
  logTo((line) => lines.push(line))({ type: "session-failed", error: `died with ${token}` } as { type: string });
  expect(lines).toEqual([expect.stringContaining("died with [GITHUB_TOKEN]")]);
});

it("an adapter's failure is told without the secrets of its message, cause and stack", () => {
  const told: AdapterEvent[] = [];
  const teller = new Teller("test", createMask({ values: { WIFI: registered } }));
  teller.add((event) => told.push(event));
  teller.failed(new TypeError(`no ${registered}`, { cause: new Error(`nor ${token}`) }));
  expect(told).toHaveLength(1);
  const [event] = told;
  expect(event?.type === "adapter-failed" && isWindrowError(event.error, "adapter-failed")).toBe(true);
  for (const secret of secrets) expect(textOf(event)).not.toContain(secret);
});
