/** The window of every call of a session is made again from disk as it was sent. */
import { afterEach, describe, expect, it } from "vitest";
import { openStore } from "../../src/access/open.ts";
import { codingSession } from "../../src/message/samples.ts";
import { SessionManager } from "../../src/session/manager/manager.ts";
import type { ManagerOptions } from "../../src/session/manager/options.ts";
import type { Store } from "../../src/store/store.ts";
import { storedSource } from "../../src/viewer/stored-source.ts";
import { newFolder } from "../cli/stage.ts";
import { assertWindows, call } from "./windows.ts";
import type { Composed } from "./windows.ts";

const stores: Store[] = [];

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

async function opened(options: Partial<ManagerOptions> = {}): Promise<{ store: Store; manager: SessionManager }> {
  const store = await openStore(await newFolder());
  stores.push(store);
  return { store, manager: await SessionManager.open({ budget: 4_000, ...options, store }) };
}

const strategies = [
  "adaptive",
  "layered",
  "sliding-window",
  "importance",
  "rolling-summary",
  "summary-at-threshold",
  "none",
];

describe.each(strategies)("%s", (strategy) => {
  it("rebuilds every window", async () => {
    const { store, manager } = await opened({ strategy, ...(strategy === "none" && { budget: 1_000_000 }) });
    const session = await manager.create();
    const seen: Composed[] = [];
    for (const message of codingSession(60, 20)) {
      if (message.role === "assistant") await call(session, seen, { system: "You mend code." });
      await session.append(message);
    }
    expect(await assertWindows(storedSource(store, {}), session.id, seen)).toBe(60);
  });
});
