import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Message, NewMessage } from "windrow";
import { ramStore } from "../kit/inside/store.ts";
import { answered, listed } from "../kit/sessions.ts";

const secret = `ghp_${"Ab3dE6gH9jK1mN4pQ7sT0uV2wX5yZ8aBcDeF"}`;
const said: readonly NewMessage[] = [
  { role: "user", parts: [{ type: "text", text: `My token is ${secret}.` }] },
  answered("Understood."),
];

async function resumed(originals?: (seq: number, masked: Message) => NewMessage | undefined) {
  const store = ramStore();
  const manager = await SessionManager.open({ store, budget: 8_000 });
  const session = await manager.create();
  await session.append(said);
  const before = await session.compose();
  await session.close();
  const again = await manager.resume(session.id, originals && { originals });
  const after = await again.compose();
  const kept = await listed(again.messages());
  return { before, after, kept };
}

it("composes the window that was, where the host has the originals of masked messages", async () => {
  const asked: number[] = [];
  const { before, after, kept } = await resumed((seq, masked) => {
    asked.push(seq);
    expect(JSON.stringify(masked)).not.toContain(secret);
    return said[seq - 1];
  });
  expect(new Set(asked)).toEqual(new Set([1]));
  expect(after.report.windowHash).toBe(before.report.windowHash);
  expect(after.report.opened).toBeUndefined();
  expect(JSON.stringify(after.messages)).toContain(secret);
  expect(JSON.stringify(kept)).not.toContain(secret);
});

it("opens an epoch over masked messages whose originals are not at hand", async () => {
  const { after } = await resumed(() => undefined);
  expect(after.report.opened?.reason).toBe("history-changed");
  expect(JSON.stringify(after.messages)).not.toContain(secret);
});

it("refuses an original that is no message", async () => {
  await expect(resumed(() => ({ role: "nobody" }) as unknown as NewMessage)).rejects.toMatchObject({
    code: "bad-message",
  });
});
