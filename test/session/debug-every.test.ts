/** The lines of statistics that a session logs. */
import { expect, it, vi } from "vitest";
import { SessionManager } from "windrow";
import { openStore } from "windrow/store";
import { faultyStore } from "windrow/testing";
import { asked, openSession } from "../kit/sessions.ts";

it("logs the size of every n-th window of each session, and never unless asked", async () => {
  const lines: string[] = [];
  const log = (line: string): unknown => lines.push(line);
  const manager = await SessionManager.open({ store: "ram:", budget: 4_000, debugEvery: 5, log });
  const [session, other] = [await manager.create(), await manager.create()];
  const sizes: string[] = [];
  for (let call = 1; call <= 11; call++) {
    await session.append(asked(`question ${call}`));
    const { messages, tokens } = await session.compose();
    if (call % 5 === 0) sizes.push(`Context stats: ${messages.length} messages, ~${tokens} tokens`);
    if (call > 4) continue;
    await other.append(asked("once"));
    await other.compose();
  }
  expect(sizes[0]).toMatch(/^Context stats: 5 messages, ~\d+ tokens$/);
  expect(lines).toEqual(sizes);
  await manager.close();
  const silent = await openSession({ budget: 4_000, log });
  await silent.append(asked("question"));
  for (let call = 1; call <= 6; call++) await silent.compose();
  expect(lines).toHaveLength(2);
});

it("leaves the warning of a failure that nobody listens for", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const faulty = faultyStore(await openStore("ram:"));
  const session = await openSession({ store: faulty.store, debugEvery: 5 });
  faulty.fail("append", { times: 1 });
  await expect(session.append(asked("lost"))).rejects.toMatchObject({ code: "not-durable" });
  expect(warn.mock.calls.map(([warning]) => String(warning))).toEqual([expect.stringContaining("append-failed")]);
  warn.mockRestore();
});
