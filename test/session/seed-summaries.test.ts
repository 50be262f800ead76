/** Seed 002 strategy B and seed 001 §10.2 in a running session. */
import { afterEach, expect, it } from "vitest";
import { messageText } from "../../src/message/message.ts";
import { scripted } from "../../src/model/scripted.ts";
import { SessionManager } from "../../src/session/manager/manager.ts";
import type { Session } from "../../src/session/session.ts";

const managers: SessionManager[] = [];

afterEach(async () => {
  for (const manager of managers.splice(0)) await manager.close();
});

async function turns(session: Session, from: number, to: number): Promise<void> {
  for (let turn = from; turn <= to; turn++) {
    await session.append({ role: "user", parts: [{ type: "text", text: `question ${turn}: ${"why ".repeat(20)}` }] });
    await session.compose();
    await session.append({ role: "assistant", parts: [{ type: "text", text: `answer ${turn}: ${"so ".repeat(20)}` }] });
    await session.endStep();
  }
}

it("folds the earliest 5 of more than 10 turns into the buffer, which the next summary is given", async () => {
  const model = scripted(["BUFFER ONE", "BUFFER TWO"]);
  const strategy = "openstarry-summary";
  const manager = await SessionManager.open({
    store: "ram:",
    budget: 50_000,
    strategy,
    summarizer: model,
    compaction: "blocking",
  });
  managers.push(manager);
  const session = await manager.create();
  await turns(session, 1, 10);
  expect(model.requests).toHaveLength(0);
  await turns(session, 11, 11);
  expect(model.requests).toHaveLength(1);
  for (const turn of [1, 2, 3, 4, 5]) expect(model.requests[0]?.prompt).toContain(`question ${turn}:`);
  expect(model.requests[0]?.prompt).not.toContain("question 6:");
  expect(session.stats().state.compressionCount).toBe(1);

  const texts = (await session.compose({ system: "Be kind." })).messages.map(messageText);
  expect(texts[1]).toContain("BUFFER ONE");
  expect(texts[2]).toContain("question 6:");

  await turns(session, 12, 16);
  expect(model.requests).toHaveLength(2);
  expect(model.requests[1]?.prompt).toContain("BUFFER ONE");
  expect(model.requests[1]?.prompt).toContain("question 10:");
  const after = (await session.compose()).messages.map(messageText).join("\n");
  expect(after).toContain("BUFFER TWO");
  expect(after).not.toContain("BUFFER ONE");
  model.done();
});

it("keeps what scores high verbatim", async () => {
  const model = scripted(["A summary of the rest."]);
  const strategy = { use: "rolling-summary", threshold: 5, oldest: 4, keepImportance: 0.75 };
  const manager = await SessionManager.open({
    store: "ram:",
    budget: 50_000,
    strategy,
    summarizer: model,
    compaction: "blocking",
  });
  managers.push(manager);
  const session = await manager.create();
  await turns(session, 1, 2);
  const decision = "error: the migration must never run twice";
  await session.append({ role: "user", parts: [{ type: "text", text: decision }] });
  await session.append({ role: "assistant", parts: [{ type: "text", text: "Understood." }] });
  await turns(session, 4, 6);
  const texts = (await session.compose()).messages.map(messageText);
  expect(texts.join("\n")).toContain("A summary of the rest.");
  expect(texts).toContain(decision);
  expect(texts.join("\n")).not.toContain("question 1:");
  model.done();
});
