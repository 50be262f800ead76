/** The sessions that a gateway keeps: their titles and rows, and windows that are only looked at. */
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { openStore } from "windrow/store";
import { storedSource } from "windrow/viewer";
import type { TextPart } from "../kit/inside/message.ts";
import { openSession } from "../kit/sessions.ts";

const reminder = `<system-reminder>\nAs you answer the user's questions, use this:\n${"A rule. ".repeat(900)}\n</system-reminder>`;

async function titled(...texts: readonly string[]): Promise<readonly [title: string, head: string]> {
  const store = await openStore("ram:");
  const manager = await SessionManager.open({ store });
  const session = await manager.create({ taskKey: { gateway: 1, client: "claude-code", line: "main" } });
  await session.append({ role: "user", parts: texts.map((text): TextPart => ({ type: "text", text })) });
  const source = storedSource(store, {});
  const { sessions } = await source.sessions({});
  const [row] = await source.outline(session.id, 1, 1);
  await manager.close();
  return [sessions[0]?.title ?? "", row?.head ?? ""];
}

it("are named by what the user said, not by a client's tagged sections", async () => {
  expect(await titled(reminder, "Mend the parser.")).toEqual(["claude-code: Mend the parser.", "Mend the parser."]);
  expect(await titled(reminder, reminder, `${reminder}\nMend it.`)).toEqual(["claude-code: Mend it.", "Mend it."]);
  const compare = "Compare <b>this</b> and that.";
  expect(await titled(compare)).toEqual([`claude-code: ${compare}`, compare]);
});

it("are named by a tagged section where there is nothing else", async () => {
  const [title, head] = await titled("<task>Mend it.</task>");
  expect([title, head]).toEqual(["claude-code: <task>Mend it.</task>", "<task>Mend it.</task>"]);
});

it("have no budget where nothing is composed", async () => {
  const store = await openStore("ram:");
  const session = await openSession({ store, strategy: "none" });
  await session.append({ role: "user", parts: [{ type: "text", text: "Mend it." }] });
  await session.compose({ budget: 1_000_000_000 });
  await session.append({ role: "assistant", parts: [{ type: "text", text: "Done." }] });
  await session.endStep({ usage: { input: 20, output: 2 } });
  const source = storedSource(store, {});
  expect((await source.window(session.id, 1)).budget).toBeNull();
});
