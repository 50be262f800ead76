/** Code that reads foreign text throws nothing but a WindrowError, wherever the text is cut. */
import { expect, it } from "vitest";
import { composeWindow, isWindrowError, SessionManager } from "windrow";
import type { Message, SessionEvent } from "windrow";
import { fromAnthropic } from "windrow/anthropic";
import { fromChat } from "windrow/chat";
import { wireApis } from "windrow/gateway";
import { fromContents } from "windrow/gemini";
import { fromResponses } from "windrow/responses";
import { createMask } from "windrow/store";
import type { MaskRule } from "windrow/store";
import { estimate } from "windrow/testing";
import { profileOf, recallFrom, strategyOf } from "windrow/window";
import { knownSecrets, maskText, onRuleFailure, secretRules } from "../kit/inside/mask.ts";
import { messageText, quoteText, splitSentences, unquoteText } from "../kit/inside/message.ts";
import { ramStore } from "../kit/inside/store.ts";
import { decoders } from "../kit/inside/transcript.ts";
import {
  commandActions,
  extractSummary,
  fileTextOf,
  framedFiles,
  outputOf,
  parseLoose,
  patchActions,
  readUiTree,
  saysFailed,
  screenOf,
  scriptActions,
  shellActions,
  speaksOfFailure,
} from "../kit/inside/window.ts";
import { fixtures } from "../transcript/fixtures.ts";
import { answerForms, commandLines, maskedForms, requestForms, resultForms, toolForms } from "./samples.ts";

/** A cut alone, behind text, in quotes, before a line's end, half a surrogate pair and NUL. */
const places: readonly ((cut: string) => string)[] = [
  (cut) => cut,
  (cut) => `see this: ${cut}`,
  (cut) => `'${cut}'`,
  (cut) => `"${cut}"`,
  (cut) => `${cut}\n`,
  (cut) => `${cut}\ud800`,
  (cut) => `${cut}\u0000`,
];

/** Every cut of a sample, in one place. */
const cutsOf = (sample: string, place: (cut: string) => string): readonly string[] =>
  Array.from({ length: sample.length + 1 }, (_, length) => place(sample.slice(0, length)));

/** What a piece of work threw, but for an error of the table. */
function thrown(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (isWindrowError(error)) return undefined;
    return error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error);
  }
}

interface Finding {
  readonly reader: string;
  readonly text: string;
  readonly error: string;
}

/** Reads every cut of every sample in every place with every reader. */
function readAll(samples: readonly string[], readers: Readonly<Record<string, (text: string) => unknown>>): Finding[] {
  const found: Finding[] = [];
  for (const text of samples.flatMap((sample) => places.flatMap((place) => cutsOf(sample, place)))) {
    for (const [reader, read] of Object.entries(readers)) {
      const error = thrown(() => read(text));
      if (error !== undefined) found.push({ reader, text, error });
    }
  }
  return found;
}

it("every rule of the mask", { tags: ["slow"] }, () => {
  const failed: string[] = [];
  const stop = onRuleFailure(secretRules, (rule) => failed.push(rule));
  const found = readAll(maskedForms, {
    maskText: (text) => {
      maskText(knownSecrets, text);
      if (failed.length > 0) throw new Error(failed.splice(0).join());
    },
  });
  stop();
  expect(found.slice(0, 5)).toEqual([]);
});

it("readers of patches, commands, scripts, outputs, quotes and screens", { tags: ["slow"] }, () => {
  const found = readAll([...toolForms, ...resultForms, ...commandLines], {
    patchActions,
    shellActions: (text) => shellActions(text, outputOf(text)),
    scriptActions: (text) => scriptActions(text, outputOf(text)),
    commandActions: (text) => commandActions(text, "", outputOf(text)),
    framedFiles,
    fileTextOf,
    failures: (text) => [speaksOfFailure(outputOf(text), true), saysFailed(outputOf(text), text)],
    quotes: (text) => unquoteText(quoteText(text)) + unquoteText(text),
    splitSentences,
    readUiTree,
    screenOf: (content) => screenOf({ type: "tool-result", callId: "c", content }),
    parseLoose,
  });
  expect(found.slice(0, 5)).toEqual([]);
});

it("a rule that fails is left out for that text alone, and its name is reported", async () => {
  const hostile = ["throws", "answers"].map((kind): MaskRule => {
    const find = (text: string) => {
      if (kind === "throws") throw new Error(text);
      return { start: text.length, length: 5 };
    };
    return { kind, placeholder: "[X]", keywords: ["key"], find };
  });
  const store = ramStore({ mask: createMask({ rules: [...hostile, ...secretRules] }) });
  const heard = new Set<string>();
  const on = (event: SessionEvent) => event.type === "mask-rule-failed" && heard.add(event.rule);
  const manager = await SessionManager.open({ store, on });
  const session = await manager.create();
  const secret = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
  await session.append({ role: "user", parts: [{ type: "text", text: `key ${secret} key` }] });
  expect([...heard]).toEqual(["throws", "answers"]);
  const stored: string[] = [];
  for await (const message of manager.messages(session.id)) stored.push(messageText(message));
  expect(stored).toEqual(["key [GITHUB_TOKEN] key"]);
  await manager.close();
});

/** A history in which each cut is a user's words, a command, a patch, a written file and their results. */
function historyOf(cuts: readonly string[]): readonly Message[] {
  const tools = [
    (cut: string) => ({ name: "bash", args: { command: cut } }),
    (cut: string) => ({ name: "apply_patch", args: { input: cut } }),
    (cut: string) => ({ name: "write_file", args: { path: cut, content: cut } }),
    (cut: string) => ({ name: "read_file", args: { path: `src/${cut}`, offset: cut } }),
    (cut: string) => ({ name: "edit", args: { file_path: "src/a.ts", old_string: cut, new_string: `${cut};` } }),
  ];
  const messages: Message[] = [];
  cuts.forEach((cut, index) => {
    const { name, args } = tools[index % tools.length]!(cut);
    const callId = `c${index}`;
    if (index % 4 === 0) messages.push({ id: `u${index}`, role: "user", parts: [{ type: "text", text: cut }] });
    messages.push(
      { id: `a${index}`, role: "assistant", parts: [{ type: "tool-call", callId, name, args }] },
      { id: `r${index}`, role: "tool", parts: [{ type: "tool-result", callId, name, content: cut }] },
    );
  });
  return [{ id: "first", role: "user", parts: [{ type: "text", text: "Begin." }] }, ...messages];
}

it("windows, recall and summaries of histories that hold the cuts", { tags: ["slow"] }, () => {
  const samples = [...toolForms, ...resultForms, ...commandLines];
  const strategies = ["adaptive", "layered", "entity-state", "importance", "miki"].map((name) => strategyOf(name));
  const found: Finding[] = [];
  samples.forEach((sample, index) => {
    const messages = historyOf(cutsOf(sample, places[index % places.length]!));
    const works: Readonly<Record<string, () => unknown>> = {
      ...Object.fromEntries(
        strategies.map((strategy) => [
          strategy.name,
          () => composeWindow({ messages, budget: 4_000, strategy, profile: profileOf("anthropic") }),
        ]),
      ),
      recall: () => [recallFrom(messages, { query: sample }), recallFrom(messages, { query: sample.slice(3, 30) })],
      summary: () =>
        extractSummary(
          messages.map((message, at) => ({ seq: at + 1, message })),
          300,
          estimate,
        ),
    };
    for (const [reader, work] of Object.entries(works)) {
      try {
        work();
      } catch (error) {
        found.push({ reader, text: sample, error: String((error as Error).stack) });
      }
    }
  });
  expect(found.slice(0, 5)).toEqual([]);
});

it("readers of requests and answers of every API", { tags: ["slow"] }, () => {
  const requests = wireApis.flatMap((api) =>
    requestForms.filter(([path]) => api.matches("POST", path)).map(([path, body]) => ({ api, path, body })),
  );
  expect(requests).toHaveLength(wireApis.length);
  const found = requests.flatMap(({ api, path, body }) => {
    const read = (text: string) => api.read({ method: "POST", path, headers: {}, body: Buffer.from(text) });
    const request = read(body);
    expect(request?.messages.length).toBeGreaterThan(0);
    return [
      ...readAll([body], { [`${api.name} request`]: read }),
      ...readAll(answerForms, {
        [`${api.name} answer`]: (text) => {
          const reader = api.reader(request!);
          reader.push(Buffer.from(text));
          return [reader.end(), api.isOverflow(400, text), api.isPrefixFault(400, text), api.isUnopened?.(400, text)];
        },
      }),
      ...[...valuesOf(JSON.parse(body))].flatMap((value) => {
        const error = thrown(() => {
          for (const message of read(JSON.stringify(value) ?? "")?.messages ?? []) {
            api.isEcho(message.value, message.value);
            api.withoutReasoning(message.value);
            api.adapter.decode([message.value]);
          }
        });
        return error === undefined ? [] : [{ reader: api.name, text: JSON.stringify(value), error }];
      }),
    ];
  });
  expect(found.slice(0, 5)).toEqual([]);
});

/** A value with one member at a time missing, or of another type. */
function* valuesOf(value: unknown): Generator<unknown> {
  for (const other of [undefined, null, 7, "", "\ud800", [], {}, [null], true]) yield other;
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value)) {
    for (const other of valuesOf((value as Record<string, unknown>)[key])) {
      const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
      if (other === undefined && !Array.isArray(value)) delete copy[key];
      else copy[key] = other;
      yield copy;
    }
  }
}

it(
  "decoders of transcripts and of hosts' messages, with each member missing or of another type",
  { tags: ["slow"] },
  () => {
    const found: Finding[] = [];
    const check = (reader: string, value: unknown, work: () => unknown): void => {
      const error = thrown(work);
      if (error !== undefined) found.push({ reader, text: JSON.stringify(value), error });
    };
    for (const { format, lines } of fixtures) {
      const values = lines.map((line) => JSON.parse(line) as unknown);
      const decoder = decoders.find((one) => one.format === format)!;
      values.forEach((value, index) => {
        for (const other of valuesOf(value)) {
          const entries = values.with(index, other).map((entry, at) => ({ line: at + 1, value: entry }));
          check(format, other, () => [
            decoder.recognise({ name: "f", entries }),
            decoder.decode({ name: "f", entries }),
          ]);
        }
      });
    }
    const hosts = { fromAnthropic, fromChat, fromResponses, fromContents } as unknown as Record<
      string,
      (messages: unknown) => unknown
    >;
    const members = ["messages", "messages", "input", "contents"];
    Object.entries(hosts).forEach(([name, decode], index) => {
      const body = JSON.parse(requestForms[index]![1]) as Record<string, unknown>;
      for (const messages of valuesOf(body[members[index]!])) check(name, messages, () => decode(messages));
    });
    expect(found.slice(0, 5)).toEqual([]);
  },
);
