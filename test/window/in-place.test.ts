/** System messages in the middle of a request: where a profile says so they keep their place, their role and their turn. */
import assert from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { composeWindow, validateWindow } from "windrow";
import type { Message } from "windrow";
import { anthropicAdapter, fromAnthropic } from "windrow/anthropic";
import type { AnthropicMessage } from "windrow/anthropic";
import { profileOf } from "windrow/window";
import { ramStore } from "../kit/inside/store.ts";
import { anthropic, inPlace, openaiResponses } from "../kit/inside/window.ts";
import { openManager } from "../kit/sessions.ts";

const profile = inPlace(anthropic);

const environment = {
  role: "system",
  content: "# Environment\nYou work in /project.",
  output_config: { effort: "medium" },
};

/** A job whose second message is the system's, as some agents send it, with a reminder behind some of its turns. */
function job(turns: number, reminder: (turn: number) => readonly AnthropicMessage[] = () => []): AnthropicMessage[] {
  return [
    { role: "user", content: [{ type: "text", text: "Find the slowest of the parts and mend it." }] },
    environment,
    ...Array.from({ length: turns }, (_, turn): readonly AnthropicMessage[] => [
      { role: "assistant", content: [{ type: "tool_use", id: `t${turn}`, name: "read", input: { part: turn } }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: `t${turn}`, content: `part ${turn}\n`.repeat(60) }],
      },
      ...reminder(turn),
    ]).flat(),
  ];
}

/** The system message behind the prompt and the task. */
function systemOf(window: readonly Message[]): AnthropicMessage | undefined {
  return anthropicAdapter.encode(window)[2];
}

const isSystem = ({ role }: { readonly role: string }): boolean => role === "system";

describe("a system message in the middle", () => {
  it("comes out as it is, below the budget, as the host's own object", () => {
    const host = job(2, (turn) => [{ role: "system", content: `Turn ${turn} is done.` }]);
    const window = composeWindow({ messages: fromAnthropic(host), system: "Be brief.", profile, budget: 100_000 });
    expect(window.report.faults).toEqual([]);
    expect(window.report.repairs).toEqual({});
    const [prompt, ...rest] = window.messages;
    expect(prompt?.id).toBe("windrow:system");
    const written = anthropicAdapter.encode(rest);
    expect(written).toHaveLength(host.length);
    written.forEach((message, index) => assert.equal(message, host[index]));
  });

  it("stays with the task after epochs", () => {
    const host = job(60);
    let state;
    for (let length = 4; length <= host.length; length += 2) {
      const messages = fromAnthropic(host.slice(0, length));
      const window = composeWindow({ messages, profile, budget: 3_000, ...(state && { state }) });
      state = window.state;
      expect(window.report.faults).toEqual([]);
      const [task, system] = anthropicAdapter.encode(window.messages);
      expect(task).toEqual(host[0]);
      expect(system).toEqual(environment);
    }
    expect(state?.epoch).toBeGreaterThan(1);
  });

  it("leaves with the turn that it follows, never alone and never without it", () => {
    const host = job(60, (turn) => (turn % 3 === 0 ? [{ role: "system", content: `Reminder ${turn}.` }] : []));
    const messages = fromAnthropic(host);
    for (const strategy of ["adaptive", "layered", "importance", "sliding-window", "rolling-summary"]) {
      const window = composeWindow({ messages, profile, strategy, budget: 3_000 });
      const shown = new Set(window.messages.map(({ id }) => id));
      const reminders = messages.filter((message, index) => index > 1 && isSystem(message));
      assert(
        reminders.some(({ id }) => !shown.has(id)),
        `${strategy} kept all`,
      );
      for (const reminder of reminders) {
        const before = messages[messages.indexOf(reminder) - 1] as Message;
        assert.equal(shown.has(reminder.id), shown.has(before.id), `${strategy} parts ${reminder.id} from its turn`);
      }
      expect(validateWindow(window.messages, profile)).toEqual([]);
    }
  });

  it("never leaves where it is more than text", () => {
    const added = { role: "system", content: [{ type: "tool_addition", tool: { name: "late" } }] };
    const host = job(60, (turn) => (turn === 5 ? [added] : []));
    const messages = fromAnthropic(host);
    const window = composeWindow({ messages, profile, budget: 3_000 });
    const written = anthropicAdapter.encode(window.messages);
    assert(written.includes(added));
    assert.equal(written[written.indexOf(added) - 1], host[host.indexOf(added) - 1]);
  });

  it("stands in its place in a session, and after it is opened again", async () => {
    const store = ramStore();
    const manager = await openManager({ store, profile: "anthropic/in-place", budget: 3_000 });
    const session = await manager.create();
    const host = job(40);
    await session.append(fromAnthropic(host));
    const { id } = session;
    expect(systemOf((await session.compose({ system: "Be brief." })).messages)).toEqual(environment);
    await session.close();
    const resumed = await manager.resume(id);
    expect(systemOf((await resumed.compose({ system: "Be brief." })).messages)).toEqual(environment);
  });
});

it("system messages at the beginning are messages like any other beside a prompt that is given", () => {
  const messages: readonly Message[] = [
    { id: "m1", role: "system", parts: [{ type: "text", text: "You are an agent." }] },
    { id: "m2", role: "system", parts: [{ type: "text", text: "These are your skills." }] },
    { id: "m3", role: "user", parts: [{ type: "text", text: "Go on." }] },
  ];
  const window = composeWindow({ messages, system: "Be brief.", profile: inPlace(openaiResponses), budget: 10_000 });
  expect(window.messages.map(({ id }) => id)).toEqual(["windrow:system", "m1", "m2", "m3"]);
});

it("inPlace is one profile, which profileOf knows by its name", () => {
  expect(inPlace(anthropic)).toBe(profile);
  expect(inPlace(profile)).toBe(profile);
  expect(profileOf("anthropic/in-place")).toBe(profile);
  expect(() => profileOf("antropic/in-place")).toThrowError(/no profile/);
});
