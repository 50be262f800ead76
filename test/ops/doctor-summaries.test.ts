/** The doctor and summaries that fail in a row. */
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { doctor } from "windrow/ops";
import { openStore } from "windrow/store";
import { codingSession } from "../kit/inside/message.ts";
import { newFolder } from "../cli/stage.ts";

it("says which session's summaries fail, why, and what to do; nothing is damaged", async () => {
  const folder = await newFolder();
  const manager = await SessionManager.open({
    store: folder,
    budget: 6_000,
    strategy: { use: "summary-at-threshold", ratio: 0.4 },
    summarizer: () => Promise.reject(new Error("401 wrong key")),
    compaction: "blocking",
  });
  const session = await manager.create();
  for (const message of codingSession(30, 10)) {
    if (message.role === "assistant") await session.compose();
    await session.append(message);
    if (message.role === "assistant") await session.endStep();
  }
  expect(session.stats().breaker.open).toBe(true);
  await session.close();
  // Other edits between the failures and the look at them.
  for (let count = 0; count < 20; count++) await (await manager.resume(session.id)).close();
  await manager.close();
  const store = await openStore(folder);
  const { findings, open } = await doctor(store);
  await store.close();
  expect(open).toBe(0);
  expect(findings).toMatchObject([{ problem: "summaries-failing", severity: "notice", sessionId: session.id }]);
  expect(findings[0]?.message).toContain("401 wrong key");
  expect(findings[0]?.message).toContain("windrow compact");
});
