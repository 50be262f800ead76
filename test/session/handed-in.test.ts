/** Functions that a host hands in: many answers are taken, and the first wrong one is reported where a person looks. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ManagerOptions } from "../../src/session/manager/options.ts";
import type { SessionEvent } from "../../src/session/events.ts";
import { SessionManager } from "../../src/session/manager/manager.ts";

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  vi.spyOn(process, "emitWarning").mockImplementation((message: string | Error, options?: unknown) => {
    warnings.push(`${(options as { readonly code?: string }).code}: ${String(message)}`);
  });
});
afterEach(() => vi.restoreAllMocks());

const secret = "never-shown-0451";

/** A session whose strategy asks the summarizer, driven until it was asked; its last window as text. */
async function windowOf(options: Partial<ManagerOptions>): Promise<string> {
  const strategy = { use: "summary-at-threshold", ratio: 0.5 };
  const manager = await SessionManager.open({
    store: "ram:",
    budget: 2_000,
    strategy,
    compaction: "blocking",
    ...options,
  });
  const session = await manager.create();
  let text = "";
  for (let turn = 0; turn < 16; turn++) {
    await session.append(`Question ${turn}: ${"what is the state of the parser and its tests? ".repeat(8)}`);
    text = JSON.stringify((await session.compose()).messages);
    await session.append({
      role: "assistant",
      parts: [{ type: "text", text: `Answer ${turn}. ${"It works. ".repeat(30)}` }],
    });
    await session.endStep();
  }
  await manager.close();
  return text;
}

it.each([
  ["a text", () => `The parser works. ${secret}`],
  ["a text later", async () => await Promise.resolve(`The parser works. ${secret}`)],
  ["an object with a text alone", async () => await Promise.resolve({ text: `The parser works. ${secret}` })],
])("a summarizer may answer %s", async (_name, summarizer) => {
  expect(await windowOf({ summarizer })).toContain(secret);
  expect(warnings).toEqual([]);
});

it.each([
  ["undefined", "answered undefined", () => undefined],
  ["a number", "answered a number", () => 451],
  ["a list", "answered a list", () => [secret]],
  ["another object", "answered an object with content", async () => await Promise.resolve({ content: secret })],
])("a summarizer that answers %s is reported once, by shapes, and the session goes on", async (_name, what, answer) => {
  const summarizer = answer as unknown as NonNullable<ManagerOptions["summarizer"]>;
  expect(await windowOf({ summarizer })).toContain("Question 15");
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/^summary-failed: /);
  expect(warnings[0]).toContain(`${what}; it should answer a text or { text }`);
  expect(warnings[0]).not.toContain(secret);

  warnings.length = 0;
  const events: SessionEvent[] = [];
  await windowOf({ summarizer, on: (event) => events.push(event) });
  expect(events.filter(({ type }) => type === "summary-failed").length).toBeGreaterThan(0);
  expect(warnings).toEqual([]);
});

it("a listener that throws is reported once, and the session goes on", async () => {
  const on = () => {
    throw new TypeError(secret);
  };
  expect(await windowOf({ on })).toContain("Question 15");
  expect(warnings).toEqual([expect.stringMatching(/^listener-failed: .*TypeError/)]);
  expect(warnings[0]).not.toContain(secret);
});
