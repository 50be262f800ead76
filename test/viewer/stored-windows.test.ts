/** The window of every call of a session is made again from disk as it was sent. */
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { ManagerOptions, Message, Session, Store, ToolDefinition } from "windrow";
import { openStore } from "windrow/store";
import { storedSource } from "windrow/viewer";
import { codingSession } from "../kit/inside/message.ts";
import type { GivenMessage } from "../kit/inside/message.ts";
import type { SessionComposeOptions } from "../kit/inside/session.ts";
import { newFolder } from "../cli/stage.ts";
import { assertWindows, call } from "./windows.ts";
import type { Composed } from "./windows.ts";

const managers: SessionManager[] = [];

afterEach(async () => {
  for (const manager of managers.splice(0)) await manager.close();
});

async function opened(
  options: Partial<ManagerOptions> = {},
  where?: string,
): Promise<{ store: Store; manager: SessionManager }> {
  const store = await openStore(where ?? (await newFolder()));
  const manager = await SessionManager.open({ budget: 4_000, ...options, store });
  managers.push(manager);
  return { store, manager };
}

/** Talks: a call before each answer. */
async function talk(
  session: Session,
  seen: Composed[],
  messages: readonly Message[],
  options: SessionComposeOptions = { system: "You mend code." },
): Promise<void> {
  for (const message of messages) {
    if (message.role === "assistant") await call(session, seen, options);
    await session.append(message);
  }
}

function part(from: number, to: number): readonly Message[] {
  return codingSession(60, 20).slice(from, to);
}

const strategies = [
  "adaptive",
  "layered",
  "sliding-window",
  "importance",
  "rolling-summary",
  "summary-at-threshold",
  "entity-state",
  "none",
  "coding-agent",
  "miki",
  "openstarry-sliding",
  "openstarry-summary",
  "openstarry-entity",
  "pi",
  "state-manager",
];

describe.each(strategies)("%s", { tags: ["slow"] }, (strategy) => {
  it("has every window as it was", async () => {
    const { store, manager } = await opened({ strategy, ...(strategy === "none" && { budget: 1_000_000 }) });
    const session = await manager.create();
    const seen: Composed[] = [];
    await talk(session, seen, part(0, 90));
    expect(await assertWindows(storedSource(store, {}), session.id, seen)).toBeGreaterThan(25);
  });
});

const read: ToolDefinition = { name: "read", description: "Reads a file.", inputSchema: { type: "object" } };

describe("a session", () => {
  it("of a sqlite store and one in memory", async () => {
    for (const where of [`sqlite:${join(await newFolder(), "s.db")}`, "ram:"]) {
      const { store, manager } = await opened({}, where);
      const session = await manager.create();
      const seen: Composed[] = [];
      await talk(session, seen, part(0, 90));
      expect(await assertWindows(storedSource(store, {}), session.id, seen)).toBeGreaterThan(20);
    }
  });

  it("with pins, a goal, other prompts and other tools", async () => {
    const { store, manager } = await opened();
    const session = await manager.create();
    const seen: Composed[] = [];
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
    expect(await assertWindows(storedSource(store, {}), session.id, seen)).toBeGreaterThan(40);
  });

  it("that is resumed, taken back and forked", async () => {
    const folder = await newFolder();
    const first = await opened({}, folder);
    const session = await first.manager.create();
    const seen: Composed[] = [];
    await talk(session, seen, part(0, 80));
    await session.close();
    await first.manager.close();
    const { store, manager } = await opened({}, folder);
    const again = await manager.resume(session.id);
    await talk(again, seen, part(80, 120));
    await again.undo();
    await talk(again, seen, part(120, 140));
    await again.undo();
    await again.undo();
    await talk(again, seen, part(140, 160));
    const source = storedSource(store, {});
    expect(await assertWindows(source, session.id, seen)).toBeGreaterThan(40);
    const fork = await manager.fork(session.id, { at: 100 });
    const forked: Composed[] = [];
    await talk(fork, forked, part(100, 140));
    expect(await assertWindows(source, fork.id, forked)).toBeGreaterThan(10);
  });

  it("with results that come late, images, and results cut as they came", async () => {
    const { store, manager } = await opened({ ingestCap: 300, strategy: "adaptive" });
    const session = await manager.create();
    const seen: Composed[] = [];
    const say = (message: GivenMessage): Promise<Message> => session.append(message);
    await say({ role: "user", parts: [{ type: "text", text: "Look at the picture and read." }] });
    for (let step = 0; step < 40; step++) {
      await call(session, seen, { system: "s" });
      await say({
        role: "assistant",
        parts: [
          { type: "text", text: `Step ${step}` },
          { type: "tool-call", callId: `a-${step}`, name: "read", args: { path: `src/f${step}.ts` } },
          { type: "tool-call", callId: `b-${step}`, name: "shot", args: {} },
        ],
      });
      if (step % 3 > 0) {
        const content = `line ${step} of the file\n`.repeat(step % 2 === 0 ? 400 : 5);
        await say({ role: "tool", parts: [{ type: "tool-result", callId: `a-${step}`, name: "read", content }] });
      }
      if (step % 5 === 0) await call(session, seen, { system: "s" });
      await say({
        role: "tool",
        parts: [
          {
            type: "tool-result",
            callId: `b-${step}`,
            name: "shot",
            content: [
              { type: "text", text: "a picture" },
              { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=", width: 20, height: 20 },
            ],
          },
        ],
      });
      if (step % 3 === 0 && step > 3) {
        const callId = `a-${step - 3}`;
        await say({ role: "tool", parts: [{ type: "tool-result", callId, name: "read", content: "late" }] });
      }
    }
    expect(await assertWindows(storedSource(store, {}), session.id, seen)).toBe(48);
  });

  it("whose provider binds reasoning to its prefix", { tags: ["slow"] }, async () => {
    for (const profile of ["anthropic", "openai-responses", "gemini", "deepseek", "kimi", "ollama", "pi"]) {
      const { store, manager } = await opened({ profile, budget: 2_000 });
      const session = await manager.create();
      const seen: Composed[] = [];
      const messages = part(0, 60).map((message): Message => {
        if (message.role !== "assistant") return message;
        const thought = { type: "reasoning", text: `I think of ${message.id}`, signature: "c2ln" } as const;
        return { ...message, parts: [thought, ...message.parts] };
      });
      await talk(session, seen, messages);
      expect(await assertWindows(storedSource(store, {}), session.id, seen), profile).toBeGreaterThan(15);
    }
  });

  it("with a model that has a name, whose signed parts are its own", async () => {
    const { store, manager } = await opened({ model: "claude-sonnet-4-5", budget: 3_000 });
    const session = await manager.create();
    const seen: Composed[] = [];
    const messages = part(0, 120).map((message, index): Message => {
      if (message.role !== "assistant") return message;
      const thought = { type: "reasoning", text: `I think of ${message.id}`, signature: "c2ln" } as const;
      const model = index % 2 === 0 ? "claude-sonnet-4-5" : "claude-opus-4-1";
      return { ...message, model, parts: [thought, ...message.parts] };
    });
    await talk(session, seen, messages);
    expect(await assertWindows(storedSource(store, {}), session.id, seen)).toBeGreaterThan(30);
  });
});
