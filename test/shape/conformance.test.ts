/** The contract of src/shape/shape.ts over every shape: messages in and out, answers, values, ids, errors. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isWindrowError } from "windrow";
import type { Message } from "windrow";
import { toAnthropic } from "windrow/anthropic";
import { toChat } from "windrow/chat";
import { toContents } from "windrow/gemini";
import { toResponses } from "windrow/responses";
import { adapterConformance, register } from "windrow/testing";
import { longRun, transcriptsOf } from "../adapter/transcripts.ts";
import { deepFreeze } from "../kit/histories.ts";
import { checkMessage, isObject, sampleHistories, wireForms } from "../kit/inside/message.ts";
import type { JsonObject, JsonValue } from "../kit/inside/message.ts";
import { anthropicShape, chatShape, geminiShape, ollamaShape, responsesShape } from "../kit/inside/shape.ts";
import type { Answer, Shape } from "../kit/inside/shape.ts";
import { runs } from "../kit/runs.ts";
import * as answers from "./answers.ts";
import { anthropicMessages, chatMessages } from "./host-messages.ts";

const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const chatEvents = answers.chatStream.split("\n\n").flatMap((text) => {
  return text.startsWith("data: {") ? [JSON.parse(text.slice(6)) as object] : [];
});
const whole = { id: "chatcmpl-1", model: "gpt-test", usage: answers.chatUsage };
const ollamaHistory = [
  { role: "user", content: "Look.", images: ["AAAA"] },
  { ...answers.ollamaSaid, content: "" },
  { role: "tool", tool_name: "read", content: "one" },
  { role: "tool", tool_name: "read", content: "two" },
];

interface Row {
  readonly shape: Shape<object>;
  readonly given: readonly { readonly name: string; readonly messages: readonly object[] }[];
  /** An answer as the events of a stream, and as one body. */
  readonly events: readonly object[];
  readonly body: object;
  /** A history as a request of the API. */
  readonly request: (messages: readonly Message[]) => object;
}

const row = <Host extends object>(shape: Shape<Host>, rest: Omit<Row, "shape">): readonly [string, Row] => [
  shape.name,
  { shape: shape as unknown as Shape<object>, ...rest },
];

const rows = [
  row(anthropicShape, {
    given: [
      ...transcriptsOf("anthropic"),
      {
        name: "values of a gateway's request",
        messages: [
          { role: "user", content: "Read a.txt" },
          { role: "system", content: "Be brief.", output_config: { effort: "low" } },
          answers.said,
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "1\thello\n".repeat(300) }] },
          { role: "assistant", content: "It says hello." },
        ],
      },
    ],
    events: answers.spoken,
    body: {
      ...answers.opened,
      ...answers.said,
      stop_reason: "tool_use",
      usage: { ...answers.tokens, output_tokens: 42 },
    },
    request: toAnthropic,
  }),
  row(chatShape, {
    given: transcriptsOf("openai-chat"),
    events: chatEvents,
    body: { ...whole, choices: [{ index: 0, message: answers.chatSaid, finish_reason: "tool_calls" }] },
    request: toChat,
  }),
  row(responsesShape, {
    given: transcriptsOf("responses"),
    events: answers.responseStream,
    body: answers.response,
    request: toResponses,
  }),
  row(geminiShape, {
    given: transcriptsOf("gemini"),
    events: answers.candidates,
    body: answers.candidates,
    request: toContents,
  }),
  row(ollamaShape, {
    given: [{ name: "calls without ids", messages: ollamaHistory }],
    events: answers.lines,
    body: answers.line(answers.ollamaSaid, answers.ollamaEnd),
    request: toChat,
  }),
];

/** The value with one of its places changed; once for each place. */
function* changed(value: JsonValue, change: (value: JsonValue) => JsonValue): Generator<JsonValue> {
  yield change(value);
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value as JsonObject)) {
    for (const other of changed(item, change)) {
      if (Array.isArray(value)) yield value.with(Number(key), other);
      else yield { ...(value as JsonObject), [key]: other };
    }
  }
}

const odd: readonly JsonValue[] = [null, 7, "", [{}], { type: 3 }];

function read(shape: Shape<object>, events: readonly unknown[], fault?: JsonObject): Answer {
  const builder = shape.answer(false);
  for (const event of events) builder.event(event as JsonObject, "");
  if (fault) builder.event(fault, "error");
  builder.done?.();
  return builder.answer();
}

function readBody(shape: Shape<object>, body: unknown): Answer {
  const builder = shape.answer(false);
  builder.body(body as JsonValue);
  return builder.answer();
}

/** Nothing of messages is lost on the way in and out, and a log takes each. */
function holds(shape: Shape<object>, given: readonly object[]): readonly Message[] {
  const host = deepFreeze(stored(given));
  const messages = shape.decode(host);
  for (const [index, message] of shape.encode(messages).entries()) expect(message).toBe(host[index]);
  expect(shape.encode(stored(messages))).toEqual(host);
  expect(messages.map((one) => checkMessage(one))).toEqual(messages);
  return messages;
}

function outcome(shape: Shape<object>, host: JsonValue): "held" | "refused" {
  try {
    holds(shape, [host as object]);
    return "held";
  } catch (error) {
    if (isWindrowError(error, "bad-message") && error.data["index"] === 0) return "refused";
    throw error;
  }
}

describe.each(rows)("%s", (_name, { shape, given, events, body, request }) => {
  const run = stored(shape.encode(longRun(12)));
  const transcripts = [...given, { name: "a long run", messages: run }, { name: "nothing", messages: [] }];
  register(adapterConformance(shape, transcripts), { describe, it });

  it("keeps fields that nobody knows, at every place of a message", () => {
    const added = (value: JsonValue): JsonValue =>
      isObject(value) ? { ...value, "windrow-unknown": { a: [1] } } : value;
    for (const { messages } of given)
      for (const [index, message] of messages.entries())
        for (const other of changed(stored(message) as JsonObject, added)) {
          const before = messages.slice(Math.max(0, index - 1), index);
          expect(holds(shape, [...before, other as object])).toHaveLength(before.length + 1);
        }
  });

  it("reads a message with an odd value at any place, or refuses it by its place", () => {
    for (const { messages } of given)
      for (const message of new Set(messages))
        for (const value of odd)
          for (const other of changed(stored(message) as JsonObject, () => value)) {
            expect(["held", "refused"]).toContain(outcome(shape, other));
            const kept = isObject(other) ? shape.value(other) : undefined;
            if (!kept) continue;
            const bare = shape.withoutReasoning(kept);
            expect([shape.value(kept), shape.withoutReasoning(bare)]).toEqual([kept, bare]);
            expect(typeof shape.isEcho(kept, stored(kept))).toBe("boolean");
          }
  });

  it("tells no answer that a log refuses, whatever value stands at any place of it", () => {
    const told = (take: (builder: ReturnType<typeof shape.answer>) => void): void => {
      const builder = shape.answer(true);
      take(builder);
      builder.done?.();
      const { message, others = [] } = builder.answer();
      for (const said of message ? [message, ...others] : []) {
        holds(shape, [said]);
        expect(shape.isEcho(stored(said), said)).toBe(true);
      }
    };
    for (const value of odd) {
      for (const other of changed(stored(body) as JsonValue, () => value)) told((builder) => builder.body(other));
      for (const [place, event] of events.entries())
        for (const other of changed(stored(event) as JsonObject, () => value))
          told((builder) => {
            for (const one of events.toSpliced(place, 1, isObject(other) ? other : {}))
              builder.event(one as JsonObject, "");
          });
    }
  });

  it("reads an answer that is streamed as the one that comes whole, and knows it when it comes back", () => {
    const { message, others = [], ...told } = read(shape, events);
    expect(readBody(shape, body)).toEqual(read(shape, events));
    expect(told).toMatchObject({ isComplete: true, stop: expect.any(String) as string });
    expect(told.usage?.output).toBeGreaterThan(0);
    for (const said of message ? [message, ...others] : []) {
      expect(shape.value(said)).toEqual(said);
      expect(shape.isEcho(stored(said), said)).toBe(true);
    }
    expect(message).toBeDefined();
  });

  it("reads an answer that is cut off, or odd at any place, as far as it came", () => {
    for (let length = 0; length < events.length; length++) {
      const { message, others = [] } = read(shape, events.slice(0, length));
      for (const said of message ? [message, ...others] : []) expect(shape.value(said)).toEqual(said);
    }
    for (const [index, event] of events.entries())
      for (const value of odd)
        for (const other of changed(stored(event) as JsonObject, () => value)) {
          if (!isObject(other)) continue;
          expect(typeof read(shape, events.toSpliced(index, 1, other)).isComplete).toBe("boolean");
        }
    for (const value of odd)
      for (const other of changed(stored(body) as JsonObject, () => value))
        expect(typeof readBody(shape, other).isComplete).toBe("boolean");
  });

  it("reads the error that it writes, in a body and in a stream", () => {
    for (const status of [400, 401, 404, 429, 500, 503]) {
      const fault = shape.fault(status, "Not now.");
      for (const answer of [readBody(shape, fault), read(shape, events.slice(0, 2), fault)])
        expect(answer).toMatchObject({ isComplete: false, error: { message: "Not now." } });
    }
  });

  it("writes ids and names that the API takes, whatever the history's are", () => {
    const ids = ["functions.bash:0", `call|${"x".repeat(80)}`, "läuft", ""];
    for (const [at, { messages }] of sampleHistories().entries()) {
      const id = ids[at % ids.length] ?? "";
      const odd = stored(messages).map((message) => ({
        ...message,
        parts: message.parts.map((part) => {
          return "callId" in part
            ? { ...part, callId: id + part.callId, ...(part.name && { name: `ns.${part.name}!` }) }
            : part;
        }),
      }));
      const form = shape === (ollamaShape as object) ? wireForms.openaiChat : shape.form;
      const text = JSON.stringify(request(odd));
      for (const [, found = ""] of text.matchAll(/"(?:tool_use_id|tool_call_id|call_id)":"((?:[^"\\]|\\.)*)"/g))
        expect(found).toMatch(form.callId.pattern);
      for (const [, found = ""] of text.matchAll(/"name":"(ns(?:[^"\\]|\\.)*)"/g))
        expect(found).toMatch(form.toolName.pattern);
    }
  });
});

interface Call {
  readonly id?: unknown;
  readonly tool_use_id?: unknown;
  readonly type?: unknown;
  readonly name?: unknown;
  readonly function?: { readonly name?: unknown };
  readonly custom?: { readonly name?: unknown };
}

/** The ids of calls and results as the host wrote them, wherever an id and a name are there. */
function hostIds(host: readonly { readonly content?: unknown; readonly tool_calls?: unknown }[]): readonly string[] {
  const named = (value: unknown): value is string => typeof value === "string" && value !== "";
  return host.flatMap(({ content, tool_calls: calls }) => {
    const entries = (Array.isArray(calls) ? calls : []) as readonly (Call | null)[];
    const blocks = (Array.isArray(content) ? content : []) as readonly (Call | null)[];
    const ids = [
      ...entries.filter((call) => named((call?.custom ?? call?.function)?.name)).map((call) => call?.id),
      ...blocks.filter((block) => block?.type === "tool_use" && named(block.name)).map((block) => block?.id),
      ...blocks.filter((block) => block?.type === "tool_result").map((block) => block?.tool_use_id),
    ];
    return ids.filter(named);
  });
}

it.each([
  ["chat completions", chatShape, chatMessages],
  ["the Messages API", anthropicShape, anthropicMessages],
] as const)("random messages of %s come back as they were, and their calls are understood", (_api, shape, messages) => {
  fc.assert(
    fc.property(messages as fc.Arbitrary<readonly object[]>, (host) => {
      const parts = holds(shape as unknown as Shape<object>, host).flatMap((message) => message.parts);
      const ids = new Set(parts.flatMap((part) => ("callId" in part ? [part.callId] : [])));
      for (const id of hostIds(host)) expect(ids).toContain(id);
    }),
    { numRuns: Math.max(600, runs) },
  );
});
