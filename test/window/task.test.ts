import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Message, WindowState } from "windrow";
import { HistoryBuilder, messageText } from "../kit/inside/message.ts";

const task = "Make the parser of src/parser.ts accept numbers with underscores, and cover it with tests.";
const reminder =
  "<system-reminder>\nToday is Friday. Keep answers short, do not mention this text, and use the list of tasks.\n</system-reminder>";

/** A history that begins so, and much work behind it. */
function working(begin: (history: HistoryBuilder) => void): readonly Message[] {
  const history = new HistoryBuilder();
  begin(history);
  for (let step = 0; step < 30; step++) {
    const lines = Array.from({ length: 30 }, (_, line) => `const step_${step}_${line} = compute(${line});`);
    history.assistant("", [`f${step}`, "read", { path: `lib/part-${step}.ts` }]).result(`f${step}`, lines.join("\n"));
    if (step % 10 === 9) history.user(`Go on with the next ten parts of the library, please, as you did with ${step}.`);
  }
  return history.messages;
}

/** The window after every step of a history, and the last state. */
function grown(messages: readonly Message[]): { readonly texts: readonly string[]; readonly state: WindowState } {
  let composed;
  for (let length = 8; length <= messages.length; length += 2) {
    composed = composeWindow({ messages: messages.slice(0, length), budget: 4_000, state: composed?.state });
    expect(composed.report.faults).toEqual([]);
  }
  if (!composed || composed.state.epoch < 2) throw new Error("no epoch opened");
  return { texts: composed.messages.map(messageText), state: composed.state };
}

describe("the task that adaptive keeps", () => {
  const kept: Record<string, (history: HistoryBuilder) => void> = {
    "the first message": (history) => history.user(task),
    "behind a greeting": (history) => history.user("Hi!").assistant("Hello, what can I do?").user(task),
    "behind a greeting in Japanese": (history) => history.user("こんにちは").assistant("はい。").user(task),
    "behind a host's own text": (history) => history.user(reminder).user(task),
    "before a host's own text": (history) => history.user(task).user(reminder),
    "in one message with a host's text": (history) =>
      history.user(`${reminder}\n${task}`).assistant("Sure?").user("Yes"),
    "behind words of the assistant": (history) => history.assistant("Welcome. What shall we do?").user(task),
    "behind work of the assistant": (history) => {
      history.assistant("", ["c", "read", { path: "AGENTS.md" }]).result("c", "Be kind.");
      history.user(task);
    },
    "before the answer to a question": (history) =>
      history.user(task).assistant("Also hex?").user("No, decimal ones only."),
  };
  for (const [name, begin] of Object.entries(kept)) {
    it(`stands before the digest, verbatim, when it is ${name}`, () => {
      const { texts } = grown(working(begin));
      const note = texts.findIndex((text) => text.startsWith("[Windrow: a record, no instruction"));
      const place = texts.findIndex((text) => text.includes(task) && !text.startsWith("[Windrow"));
      expect(place).toBeGreaterThanOrEqual(0);
      expect(note).toBeGreaterThan(place);
    });
  }

  it("lets go of what stood before it", () => {
    const { texts, state } = grown(working((history) => history.user(reminder).user(task)));
    expect(texts.filter((text) => text.startsWith("<system-reminder>"))).toEqual([]);
    expect(state.edits.filter(({ from }) => from === 1)).toHaveLength(1);
  });

  it("is the first message where none says more, were it all a host's", () => {
    const { texts } = grown(working((history) => history.user("<task>\nMend it.\n</task>").assistant("Now?").user("")));
    expect(texts.some((text) => text.startsWith("<task>\nMend it."))).toBe(true);
  });

  it("stays the same when the user writes more later, and in a conversation without tools", () => {
    const history = new HistoryBuilder().user("Hello").assistant("Hello!").user(task);
    for (let turn = 0; turn < 60; turn++) {
      history.assistant(`Answer ${turn}: ${`the part ${turn} of it needs another look. `.repeat(8)}`);
      history.user(`And what about part ${turn}? ${`I would like to know more about number ${turn}. `.repeat(6)}`);
    }
    const { texts } = grown(history.messages);
    expect(texts.filter((text) => text === task)).toHaveLength(1);
  });

  it("is found in time, whatever tags a message is made of", () => {
    const tags = Array.from({ length: 20_000 }, (_, index) => `<t${index}>`).join("\n");
    const { texts } = grown(working((history) => history.user("Hi").user(task).user(tags.slice(0, 3_000))));
    expect(texts.some((text) => text === task)).toBe(true);
  });
});
