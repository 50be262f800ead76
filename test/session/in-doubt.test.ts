/** Tool runs that were cut off are listed, shown to the model as interrupted, and never run again. */
import { expect, it } from "vitest";
import { validateWindow } from "windrow";
import { viewSession } from "windrow/ops";
import { openStore } from "windrow/store";
import { anthropic } from "../kit/inside/window.ts";
import { asked, openManager } from "../kit/sessions.ts";

it("lists what a session that was let go of left open, until it runs again or is answered", async () => {
  const store = await openStore("ram:");
  const manager = await openManager({ store, budget: 9_000, profile: "anthropic" });
  const session = await manager.create();
  await session.append(asked("go"));
  const [one, two] = (["prod", "test"] as const).map(
    (target) => ({ type: "tool-call", callId: target, name: "deploy", args: { target } }) as const,
  ) as [never, never];
  await session.append({ role: "assistant", parts: [one, two] });
  await session.startTool(one);
  await session.startTool(two);
  expect(await session.inDoubt(), "they run here").toEqual([]);
  expect((await viewSession(store, {}, "latest")).openCalls).toMatchObject([{ callId: "prod" }, { callId: "test" }]);
  await session.close();

  const resumed = await manager.resume(session.id);
  const open = async (): Promise<readonly unknown[]> => (await resumed.inDoubt()).map(({ callId }) => callId);
  expect((await resumed.inDoubt())[0]).toMatchObject({ toolName: "deploy", arguments: { target: "prod" } });
  expect(await open()).toEqual(["prod", "test"]);
  const { messages } = await resumed.compose();
  expect(validateWindow(messages, anthropic)).toEqual([]);
  expect(JSON.stringify(messages).split("[interrupted").length - 1).toBe(2);
  const again = await resumed.startTool(one);
  expect(await open(), "a run of this process is in no doubt").toEqual(["test"]);
  await again.finish("deployed after all");
  await resumed.append({ role: "tool", parts: [{ type: "tool-result", callId: "test", content: "it had worked" }] });
  expect(await open()).toEqual([]);
});
