/** The window of every call of a session is made again from disk as it was sent. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ManagerOptions, Message, Session, ToolDefinition } from "windrow";
import { codingSession } from "../kit/inside/message.ts";
import type { ResultContent } from "../kit/inside/message.ts";
import { newFolder } from "../cli/stage.ts";
import { assertWindows, call, opened, talk } from "./windows.ts";
import type { Composed } from "./windows.ts";
import { strategyNames } from "windrow/window";

function part(from: number, to: number): readonly Message[] {
  return codingSession(60, 20).slice(from, to);
}

/** How many windows of a session are made again as they were, of those that it had while it lived. */
async function madeAgain(
  options: Partial<ManagerOptions>,
  live: (session: Session, seen: Composed[]) => Promise<void>,
  where?: string,
): Promise<number> {
  const { manager, source } = await opened(options, where);
  const session = await manager.create();
  const seen: Composed[] = [];
  await live(session, seen);
  return assertWindows(source, session.id, seen);
}

it.each(strategyNames)("%s has every window as it was", { tags: ["slow"] }, async (strategy) => {
  const options = { strategy, ...(strategy === "none" && { budget: 1_000_000 }) };
  expect(await madeAgain(options, (session, seen) => talk(session, seen, part(0, 90)))).toBeGreaterThan(25);
});

const read: ToolDefinition = { name: "read", description: "Reads a file.", inputSchema: { type: "object" } };

describe("a session", () => {
  it("of a sqlite store and one in memory", async () => {
    for (const where of [`sqlite:${join(await newFolder(), "s.db")}`, "ram:"]) {
      expect(await madeAgain({}, (session, seen) => talk(session, seen, part(0, 90)), where)).toBeGreaterThan(20);
    }
  });

  it("with pins, a goal, other prompts and other tools", async () => {
    const count = await madeAgain({}, async (session, seen) => {
      await talk(session, seen, part(0, 20));
      const pin = await session.pin("Never push to main.");
      await talk(session, seen, part(20, 40));
      await session.goal.set("Rename, and then mend the tests.");
      await talk(session, seen, part(40, 60), { system: "You mend code.", tools: [read] });
      await session.pins.remove(pin);
      await session.snapshot.update({ currentPhase: "tests" });
      await talk(session, seen, part(60, 90), { system: "You mend code, briefly.", tools: [read] });
      await session.pin("Use tabs.");
      await talk(session, seen, part(90, 180), { tools: [] });
    });
    expect(count).toBeGreaterThan(40);
  });

  it("that is resumed, taken back and forked", async () => {
    const folder = await newFolder();
    const first = await opened({}, folder);
    const session = await first.manager.create();
    const seen: Composed[] = [];
    await talk(session, seen, part(0, 80));
    await session.close();
    await first.manager.close();
    const { manager, source } = await opened({}, folder);
    const again = await manager.resume(session.id);
    await talk(again, seen, part(80, 120));
    await again.undo();
    await talk(again, seen, part(120, 140));
    await again.undo();
    await again.undo();
    await talk(again, seen, part(140, 160));
    expect(await assertWindows(source, session.id, seen)).toBeGreaterThan(40);
    const fork = await manager.fork(session.id, { at: 100 });
    const forked: Composed[] = [];
    await talk(fork, forked, part(100, 140));
    expect(await assertWindows(source, fork.id, forked)).toBeGreaterThan(10);
  });

  it("with results that come late, images, and results cut as they came", async () => {
    const image = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=", width: 20, height: 20 } as const;
    const count = await madeAgain({ ingestCap: 300 }, async (session, seen) => {
      const called = (step: number, name: string) =>
        ({ type: "tool-call", callId: `${name}-${step}`, name, args: { path: `src/f${step}.ts` } }) as const;
      const answer = (step: number, name: string, content: string | readonly ResultContent[]): Promise<unknown> =>
        session.append({ role: "tool", parts: [{ type: "tool-result", callId: `${name}-${step}`, name, content }] });
      await session.append("Look at the picture and read.");
      for (let step = 0; step < 40; step++) {
        await call(session, seen, { system: "s" });
        await session.append({ role: "assistant", parts: [called(step, "read"), called(step, "shot")] });
        const line = `line ${step} of the file\n`;
        if (step % 3 > 0) await answer(step, "read", line.repeat(step % 2 === 0 ? 400 : 5));
        if (step % 5 === 0) await call(session, seen, { system: "s" });
        await answer(step, "shot", [{ type: "text", text: "a picture" }, image]);
        if (step % 3 === 0 && step > 3) await answer(step - 3, "read", "late");
      }
    });
    expect(count).toBe(48);
  });

  /** Messages whose answers have signed reasoning, each of a model. */
  const signed = (to: number, modelOf: (index: number) => { readonly model?: string }): readonly Message[] =>
    part(0, to).map((message, index): Message => {
      if (message.role !== "assistant") return message;
      const thought = { type: "reasoning", text: `I think of ${message.id}`, signature: "c2ln" } as const;
      return { ...message, ...modelOf(index), parts: [thought, ...message.parts] };
    });

  it("whose provider binds reasoning to its prefix", { tags: ["slow"] }, async () => {
    const messages = signed(60, () => ({}));
    for (const profile of ["anthropic", "openai-responses", "gemini", "deepseek", "kimi", "ollama", "pi"]) {
      const count = await madeAgain({ profile, budget: 2_000 }, (session, seen) => talk(session, seen, messages));
      expect(count, profile).toBeGreaterThan(15);
    }
  });

  it("with a model that has a name, whose signed parts are its own", async () => {
    const model = "claude-sonnet-4-5";
    const messages = signed(120, (index) => ({ model: index % 2 === 0 ? model : "claude-opus-4-1" }));
    const count = await madeAgain({ model, budget: 3_000 }, (session, seen) => talk(session, seen, messages));
    expect(count).toBeGreaterThan(30);
  });
});
