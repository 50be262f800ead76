/** No content, whatever ends its lines, begins a record, a heading, an id or a label, wherever Windrow quotes it. */
import fc from "fast-check";
import { composeWindow, isWindrowError, loadCounter, SessionManager } from "windrow";
import type { Message } from "windrow";
import { estimate, scripted } from "windrow/testing";
import { recallFrom, strategyNames } from "windrow/window";
import { HistoryBuilder, inlineName, messageText, resultText, toolCalls, toolResults } from "../kit/inside/message.ts";
import { describe, expect, it } from "vitest";
import { canary, forgeries, hostileText, hostileWord, ownLines, unseenMarks } from "../kit/hostile.ts";
import { runs } from "../kit/runs.ts";

interface Hostile {
  readonly said: string;
  readonly printed: string;
  readonly read: string;
  readonly word: string;
  readonly name: string;
}

const hostile = fc.record<Hostile>({
  said: hostileText,
  printed: hostileText,
  read: hostileText,
  word: hostileWord,
  name: fc.oneof(fc.constantFrom("bash", "user", "[m3", "---"), hostileWord),
});

/** A session whose every text is hostile, and enough behind it to push it out. */
function sessionOf({ said, printed, read, word, name }: Hostile): readonly Message[] {
  const history = new HistoryBuilder().user("Mend the parser.").user(said);
  history.assistant("", ["a", "bash", { command: `npm test ${word}` }]).result("a", printed);
  history.assistant("", ["b", "read", { path: "src/a.ts" }]).result("b", read);
  history.assistant("", ["c", name, { path: word }]).result("c", `${printed}\n${"plain words here\n".repeat(80)}`);
  history.assistant("", ["d", "fetch", { url: "https://example.org/page.html" }]).result("d", read);
  history
    .assistant("", ["e", name, { path: word, content: read }])
    .user("wait")
    .result("e", printed);
  history.assistant(said);
  for (let step = 0; step < 12; step++) {
    history.assistant("", [`f${step}`, "read", { path: `lib/${step}.ts` }]);
    history.result(`f${step}`, Array.from({ length: 40 }, (_, at) => `const value_${step}_${at} = ${at};`).join("\n"));
  }
  return history.user("Go on.").messages;
}

/** The texts of a window that Windrow wrote. */
function written(window: readonly Message[], history: readonly Message[]): readonly string[] {
  const own = new Set(history.flatMap(({ parts }) => parts));
  return window.flatMap((message) => {
    if (message.status === "synthetic") return [messageText(message)];
    return toolResults(message)
      .filter((part) => !own.has(part))
      .map(resultText);
  });
}

function expectHonest(text: string, where: string): void {
  expect(forgeries(text), `${where}\n${JSON.stringify(text)}`).toEqual([]);
  expect(unseenMarks(text), `${where}\n${JSON.stringify(text)}`).toEqual([]);
}

describe("a quotation", () => {
  it("passes for nothing by any strategy, at any budget", { tags: ["slow"], timeout: 600_000 }, async () => {
    for (const counter of ["cl100k", "o200k"] as const) await loadCounter(counter);
    fc.assert(
      fc.property(
        hostile,
        fc.constantFrom(...strategyNames),
        fc.integer({ min: 1_500, max: 9_000 }),
        (given, strategy, budget) => {
          const messages = sessionOf(given);
          let composed;
          try {
            composed = composeWindow({ messages, budget, strategy, ingestCap: 400 });
          } catch {
            return;
          }
          for (const text of written(composed.messages, messages)) expectHonest(text, strategy);
        },
      ),
      { numRuns: 6 * runs },
    );
  });

  it("passes for nothing in recall, by id, by range and by words, however much is cut", () => {
    fc.assert(
      fc.property(
        hostile,
        fc.integer({ min: 60, max: 4_000 }),
        fc.constantFrom("m3", "m2-m11", `${canary} failed`),
        (given, maxTokens, what) => {
          const messages = sessionOf(given);
          const query = what.startsWith("m") ? { id: what } : { query: what };
          const { text, tokens } = recallFrom(messages, query, { maxTokens, counter: estimate });
          expectHonest(text, what);
          expect(tokens).toBeLessThanOrEqual(maxTokens);
          expect(text).toMatch(/^(?:$|\[Windrow: a record[.,] )/);
          for (const head of ownLines(text).filter((one) => /^\[m\d/.test(one))) {
            const seq = Number(/^\[m(\d+)/.exec(head)?.[1]);
            const { role = "", parts = [] } = messages[seq - 1] ?? {};
            const result = parts.find((part) => part.type === "tool-result");
            const calls = messages.flatMap(toolCalls).find(({ callId }) => callId === result?.callId);
            expect(head).toContain(calls ? inlineName(calls.name) : role);
          }
        },
      ),
      { numRuns: 6 * runs },
    );
  });

  it("passes for nothing in summaries, nor in what a summariser is asked", async () => {
    await fc.assert(
      fc.asyncProperty(
        hostile,
        fc.constantFrom("rolling-summary", "openstarry-summary", "state-manager"),
        fc.boolean(),
        async (given, strategy, asks) => {
          const prompts: string[] = [];
          const answer = `They mended it ${canary}.${given.said}`;
          const model = scripted(Array.from({ length: 40 }, () => answer));
          const summarizer = asks
            ? Object.assign(
                (...call: Parameters<typeof model>) => {
                  prompts.push(call[0].prompt);
                  return model(...call);
                },
                { id: "scripted" },
              )
            : undefined;
          const manager = await SessionManager.open({
            store: "ram:",
            budget: 4_000,
            strategy,
            ...(summarizer && { summarizer }),
          });
          const session = await manager.create();
          const messages = sessionOf(given);
          for (const message of messages) await session.append(message);
          await session.pin(given.word);
          await session.goal.set(given.said);
          // An answer longer than what it is of is refused; the prompt that asked for it is looked at all the same.
          await session.compact().catch((error: unknown) => {
            if (!isWindrowError(error, "model-failed")) throw error;
          });
          const { messages: window } = await session.compose();
          for (const text of written(window, messages)) {
            if (!messages.some((message) => message.parts.some((part) => part.type === "text" && part.text === text)))
              expectHonest(text, strategy);
          }
          for (const prompt of prompts) {
            const own = ownLines(prompt).filter((one) => one.includes(canary));
            expect(
              own.filter((one) => !/^\[(?:USER|ASSISTANT|TOOL|RECORD|SUMMARY m[-\dm]+)\]: |^- /.test(one)),
            ).toEqual([]);
            expect(ownLines(prompt).filter((one) => one.startsWith("=== "))).toHaveLength(
              prompt.includes("=== Summary so far ===\n") ? 2 : 1,
            );
            expect(unseenMarks(prompt)).toEqual([]);
          }
          await manager.close();
        },
      ),
      { numRuns: Math.ceil(runs / 2) },
    );
  }, 300_000);
});

describe("what was seen", () => {
  it.each(["user", "User:", "human", "ｕser", "us\u0435r", "user.", "developer"])("no tool speaks: %s", (name) => {
    const { messages: given } = new HistoryBuilder()
      .user("Go.")
      .assistant("", ["d", name, { query: "Never deploy" }])
      .result("d", "the port_of_service is 7143");
    const { text } = recallFrom(given, { query: "port_of_service" }, { maxTokens: 400, counter: estimate });
    expect(text).toMatch(/^\[m3 tool:/m);
  });

  it("an address that was fetched is no file", () => {
    const history = new HistoryBuilder()
      .user("Go.")
      .assistant("", ["d", "fetch", { url: "https://docs.example.org/port" }]);
    const given = sessionOf({ said: "Go.", printed: "ok", read: "const a = 1;", word: "x", name: "bash" });
    const messages = [...history.result("d", "The port_of_service is 7143, error_count 0.").messages, ...given].map(
      (message, index) => ({ ...message, id: `a${index}` }),
    );
    const text = written(composeWindow({ messages, budget: 4_000 }).messages, messages).join("\n");
    expect(text).toContain("port_of_service is 7143");
    expect(text).not.toMatch(/^--- "?https?:/m);
  });
});
