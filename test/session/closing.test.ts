/** Closing lets go of every session, whatever became of one of them. */
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { SessionManager } from "windrow";
import type { Session, SessionEvent, Store, Strategy } from "windrow";
import { openStore } from "windrow/store";
import { faultyStore } from "windrow/testing";
import { adaptive } from "windrow/window";
import { everybody } from "../kit/inside/store.ts";
import { answered, newFolder, openManager } from "../kit/sessions.ts";
import { opened } from "../kit/stores.ts";

async function place(scheme = ""): Promise<string> {
  const folder = await newFolder();
  return scheme + join(folder, "store");
}

async function three(manager: SessionManager): Promise<[Session, Session, Session]> {
  const sessions = [await manager.create(), await manager.create(), await manager.create()] as const;
  for (const session of sessions) await session.append("one");
  return [...sessions];
}

async function takenOver(store: Store, { id }: Session): Promise<void> {
  await store.holding.unlock(everybody, id, { force: true, reason: "it hangs" });
}

async function isHeld(store: Store, { id }: Session): Promise<boolean> {
  return (await store.holding.holder(everybody, id))?.state === "held";
}

it.each(["", "sqlite:"])("a session that was taken over keeps none of the others: store %s", async (scheme) => {
  const target = await place(scheme);
  const events: SessionEvent[] = [];
  const manager = await SessionManager.open({ store: target, on: (event) => events.push(event) });
  const [known, unknown, other] = await three(manager);
  const store = await opened(target);
  await takenOver(store, known);
  await takenOver(store, unknown);
  await expect(known.append("two")).rejects.toMatchObject({ code: "fenced" });
  const next = await openManager({ store: target });
  const taken = await next.resume(unknown.id);
  await manager.close();
  await manager.close();
  expect(await isHeld(store, other)).toBe(false);
  await taken.append("two");
  const closed = events.flatMap((event) => (event.type === "session-closed" ? [event.sessionId] : []));
  expect(closed).toEqual([other.id]);
});

it("a session that was taken over closes without an error, and is gone on with where it is free", async () => {
  const target = await place();
  const manager = await openManager({ store: target });
  const [session] = await three(manager);
  const store = await opened(target);
  await takenOver(store, session);
  await session.close();
  expect(await (await manager.session(session.id)).append("two")).toMatchObject({ role: "user" });
});

it("a store that refuses one session's state is told of, once all are let go", async () => {
  const target = await place();
  const faulty = faultyStore(await openStore(target));
  const manager = await SessionManager.open({ store: faulty.store });
  const sessions = await three(manager);
  faulty.fail("setState", { times: 1, code: "store-unavailable" });
  await expect(manager.close()).rejects.toMatchObject({ code: "store-unavailable" });
  expect(faulty.calls.get("close")).toBe(1);
  const store = await opened(target);
  for (const session of sessions) expect(await isHeld(store, session)).toBe(false);
});

it("a session is let go whose failed summary cannot be written down", async () => {
  const target = await place();
  const faulty = faultyStore(await openStore(target));
  let open = (): void => undefined;
  let before: number | undefined;
  const failing: Strategy = {
    ...adaptive(),
    afterStep: async () => {
      before = faulty.calls.get("append");
      open = faulty.hold("append");
      faulty.fail("append", { code: "store-unavailable" });
      throw new Error("no answer");
    },
  };
  const manager = await SessionManager.open({ store: faulty.store, strategy: failing, budget: 8_000 });
  const [session] = await three(manager);
  await session.compose();
  await session.append(answered("two"));
  await session.endStep({ usage: { input: 5, output: 1 } });
  await vi.waitFor(() => expect(faulty.calls.get("append")).toBe(Number(before) + 1), 10_000);
  const closing = manager.close();
  open();
  await closing;
  const store = await opened(target);
  expect(await isHeld(store, session)).toBe(false);
});
