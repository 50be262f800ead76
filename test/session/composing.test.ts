import { describe, expect, it } from "vitest";
import { composeWindow, SessionManager, validateWindow } from "windrow";
import type { Message, NewMessage, Session, TokenCounter } from "windrow";
import { estimate } from "windrow/testing";
import { openaiChat } from "../kit/inside/window.ts";
import { asked, listed } from "../kit/sessions.ts";

const budget = 16_000;

/** A run of an agent over many files, alike on every call with one name. */
function run(length: number, name: string): NewMessage[] {
  const messages: NewMessage[] = [asked(`Mend the tests of ${name}, please.`)];
  for (let step = 0; messages.length < length; step++) {
    const callId = `${name}-${step}`;
    const path = `src/${name}/part${step % 37}/file${step % 211}.ts`;
    const content = Array.from({ length: 9 }, (_, line) => `${name} ${step} const value${line} = ${step * line};`);
    messages.push(
      { role: "assistant", parts: [{ type: "tool-call", callId, name: "read", args: { path } }] },
      { role: "tool", parts: [{ type: "tool-result", callId, name: "read", content: content.join("\n") }] },
    );
  }
  return messages;
}

async function opened(
  name: string,
  length = 4_001,
): Promise<{ readonly manager: SessionManager; readonly session: Session }> {
  const manager = await SessionManager.open({ store: "ram:", budget });
  const session = await manager.create({});
  await session.append(run(length, name));
  return { manager, session };
}

describe("a compose that takes long", () => {
  it("gives the window that composeWindow gives, and timers run meanwhile", { tags: ["slow"] }, async () => {
    const { manager, session } = await opened("alpha");
    let ticks = 0;
    const ticker = setInterval(() => ticks++, 1);
    const composed = await session.compose();
    clearInterval(ticker);
    const messages = await listed(session.messages());
    expect(composed.report.windowHash).toBe(
      composeWindow({ messages, budget, profile: "openai-chat" }).report.windowHash,
    );
    expect(ticks).toBeGreaterThan(2);
    await manager.close();
  });

  it("lets appends, pins and an undo land behind it, in order", { tags: ["slow"] }, async () => {
    const { manager, session } = await opened("alpha");
    const alone = (await opened("alpha")).session;
    const composing = session.compose();
    const appended: Promise<unknown>[] = [];
    for (let turn = 0; turn < 5; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      appended.push(session.append(asked(`and now ${turn}`)));
    }
    const pinned = session.pin("Never touch production.");
    const first = await composing;
    expect(first.report.windowHash).toBe((await alone.compose()).report.windowHash);
    await Promise.all([...appended, pinned]);
    const second = await session.compose();
    const texts = second.messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
    );
    expect(texts.filter((text) => text.startsWith("and now"))).toEqual(
      [0, 1, 2, 3, 4].map((turn) => `and now ${turn}`),
    );
    expect(texts.some((text) => text.includes("Never touch production."))).toBe(true);
    expect(validateWindow(second.messages, openaiChat)).toEqual([]);
    expect(second.report.faults).toEqual([]);
    const [undone, third] = await Promise.all([session.undo(), session.compose()]);
    expect(undone.undone).toBe(second.report.epoch);
    expect(third.tokens).toBeLessThanOrEqual(budget);
    await manager.close();
  });

  it("stops when it is aborted, and the next one gives what this one would have", { tags: ["slow"] }, async () => {
    const { manager, session } = await opened("alpha");
    const alone = (await opened("alpha")).session;
    const controller = new AbortController();
    const composing = session.compose({}, controller.signal);
    setImmediate(() => controller.abort());
    await expect(composing).rejects.toMatchObject({ code: "aborted" });
    const next = await session.compose();
    expect(next.report.windowHash).toBe((await alone.compose()).report.windowHash);
    expect(next.report.epoch).toBe(1);
    await manager.close();
  });

  it("is ended by a close that comes meanwhile", async () => {
    const { manager, session } = await opened("alpha");
    const composing = session.compose();
    await Promise.all([session.close(), composing]);
    const resumed = await manager.resume(session.id);
    expect(resumed.stats().epoch).toBe(1);
    expect((await resumed.compose()).report.opened).toBeUndefined();
    await manager.close();
  });

  it("takes nothing from another session's that runs between its steps", { tags: ["slow"] }, async () => {
    const pairs = await Promise.all([opened("alpha"), opened("beta")]);
    const both = await Promise.all(pairs.map(({ session }) => session.compose()));
    for (const [index, name] of ["alpha", "beta"].entries()) {
      const { manager, session } = await opened(name);
      expect(both[index]?.report.windowHash).toBe((await session.compose()).report.windowHash);
      await manager.close();
    }
  });

  it("looks at no line that lies too far back to be worth anything", { tags: ["slow"] }, () => {
    const text = Array.from({ length: 100 }, (_, line) => `${line} ${"of a long report ".repeat(8)}`).join("\n");
    const [short, long] = [201, 801].map((length) => {
      let lines = 0;
      const counter: TokenCounter = {
        name: "lines",
        count: (counted) => ((lines += Number(counted.length < 300)), estimate.count(counted)),
      };
      const messages = run(length, "alpha").map((message, index): Message => {
        const parts = message.parts.map((part) =>
          part.type === "tool-result" ? { ...part, content: text.replaceAll("of a", `of ${index}`) } : part,
        );
        return { ...message, id: `m${index}`, parts };
      });
      composeWindow({ messages, budget: 100_000, counter });
      return lines;
    });
    expect(long! - short!).toBeLessThan(20_000);
  });
});
