/** Random odd histories: as happenings, and as the messages that Windrow keeps. odd-wires.ts has them as hosts write them. */
import fc from "fast-check";
import type { Message, Part } from "windrow";
import type { JsonValue, ResultContent } from "../kit/inside/message.ts";

const words = [
  "ok",
  "Fixed it.",
  "了解しました",
  "😀👩‍👩‍👧",
  "src/main.ts:12: error",
  '{"a":1}',
  "{",
  "\u0000",
  "line\nline",
];
const odd = ["", " ", "\n\t", "ends with a blank ", "half \ud83d", "\ude00 half", "\u200b"];

/** Mostly short; empty, blank, with halves of surrogate pairs; now and then long enough to be cut. */
export const text = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...words) },
  { weight: 3, arbitrary: fc.constantFrom(...odd) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...words), fc.integer({ min: 40, max: 900 }))
      .map(([word, n]) => `${word} `.repeat(n)),
  },
);

/** Ids of all providers, invalid ones, twins that differ in punctuation alone, and those that a history uses twice. */
const id = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom("call_", "toolu_01", "functions.bash:", "tool-", "fc_", "srvtoolu_", "chatcmpl-tool-"),
        fc.nat(999),
      )
      .map(([prefix, n]) => `${prefix}${n}`),
  },
  { weight: 1, arbitrary: fc.stringMatching(/^[a-zA-Z0-9]{9}$/) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[
        "a.b",
        "a:b",
        "a_b",
        "a/b",
        "a b",
        "call_1",
        "functions.bash:0",
        "0",
        "呼び出し",
        "😀",
        "id\ud83d",
        "call|fc_1",
        "",
      ],
      ...["x".repeat(40), "x".repeat(41), "x".repeat(64), "x".repeat(65), `${"x".repeat(64)}:1`, `${"x".repeat(64)}:2`],
    ),
  },
);

const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("bash", "read_file", "mcp__fs__read") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "mcp.fs/read",
      "9lives",
      "-dash",
      "名前",
      "with space",
      "functions.bash",
      "n".repeat(65),
      "n\ud83d",
    ),
  },
);

const deep = (levels: number): JsonValue => (levels === 0 ? 1 : { in: deep(levels - 1) });

/** Arguments as a model gave them: JSON of any kind, or text that is none. */
const args = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<JsonValue>({}, { path: "src/a.ts" }, { 名前: "値 😀", list: [1, null] }) },
  { weight: 1, arbitrary: fc.constantFrom<JsonValue>([1, 2], "text", 5, null, deep(80), { "k\ud83d": "v\ud83d" }) },
);
const broken = fc.constantFrom('{"path": "src/', "", "not json", '{"a":1}{"b":2}', '{"half": "\ud83d');

/** Who wrote an answer, and how it reasoned. */
const minds = [
  "claude-opus-4-6",
  "gpt-5.1",
  "gemini-3-pro-preview",
  "mistral-medium-latest",
  "deepseek-reasoner",
] as const;

const png = "iVBORw0KGgo=";
const image = fc.constantFrom<ResultContent>(
  { type: "image", mediaType: "image/png", data: png, width: 10, height: 10 },
  { type: "image", mediaType: "image/gif", data: "R0lGODlh" },
  { type: "image", mediaType: "image/bmp", data: "Qk0=" },
  { type: "image", mediaType: "image/png", url: "https://example.com/a.png" },
  { type: "image", mediaType: "image/*", url: "http://example.com/a.png" },
  { type: "image", mediaType: "image/png", url: "s3://bucket/a.png" },
  { type: "image", mediaType: "image/png" },
  { type: "image", mediaType: "image/png", data: "" },
);
const file = fc.constantFrom<ResultContent>(
  { type: "file", mediaType: "application/pdf", data: "JVBERi0=", name: "a.pdf" },
  { type: "file", mediaType: "application/pdf", data: "JVBERi0=" },
  { type: "file", mediaType: "application/pdf", url: "https://example.com/a.pdf", name: "a.pdf" },
  { type: "file", mediaType: "text/plain", data: "aGk=", name: "a.txt" },
  { type: "file", mediaType: "application/zip", data: "UEs=", name: "a.zip" },
  { type: "opaque", kind: "elsewhere/thing", data: { a: 1 } },
);
const media = fc.oneof(
  { weight: 5, arbitrary: fc.constant<readonly ResultContent[]>([]) },
  { weight: 1, arbitrary: fc.array(fc.oneof(image, file), { minLength: 1, maxLength: 2 }) },
);

const call = fc.record({
  id,
  name,
  args,
  broken: fc.option(broken, { freq: 8, nil: undefined }),
  fate: fc.oneof({ weight: 6, arbitrary: fc.constant("once") }, fc.constantFrom("never", "twice", "late", "early")),
  body: text,
  media,
  isError: fc.option(fc.boolean(), { nil: undefined }),
});

const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("user" as const), text, media }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("system" as const), text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("orphan" as const), id, text }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("answer" as const),
      model: fc.constantFrom(...minds),
      reasoning: fc.constantFrom("none", "none", "unsigned", "signed", "redacted"),
      text,
      media,
      calls: fc.array(call, { maxLength: 3 }),
      isCut: fc.nat(9).map((n) => n === 9),
      together: fc.boolean(),
      reversed: fc.boolean(),
      between: fc.option(text, { freq: 8, nil: undefined }),
      /** Whether the host kept the whole answer of the API, with its id and usage. */
      isWhole: fc.nat(9).map((n) => n === 9),
    }),
  },
);

export type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;
export type Answer = Extract<Happening, { kind: "answer" }>;
export type Call = Answer["calls"][number];

/** Mostly a few happenings; now and then enough to go above every budget but the largest. */
export const happenings = fc.oneof(
  { weight: 4, arbitrary: fc.array(happening, { minLength: 1, maxLength: 6, size: "max" }) },
  { weight: 1, arbitrary: fc.array(happening, { minLength: 10, maxLength: 40, size: "max" }) },
);

/** A signature in the form of the provider of a model: Claude's is base64 from E on, OpenAI's a Fernet token. */
export function signatureOf(model: string, at: number): string {
  const tail = `${String(at).padStart(3, "0")}Aq==`;
  if (model.startsWith("claude")) return `EqQBCgIYAhIM${tail}`;
  return model.startsWith("gpt") ? `gAAAAABo${tail}` : `CiQBjz1rX${tail}`;
}

export interface Result {
  readonly call: Call;
  readonly at: "before" | "behind" | "later";
}

/** The results of an answer in the order they came; those that are late come behind the next happening. */
export function resultsOf(answer: Answer): readonly Result[] {
  const results = answer.calls.flatMap((one): readonly Result[] => {
    if (one.fate === "never") return [];
    if (one.fate === "early") return [{ call: one, at: "before" }];
    if (one.fate === "late") return [{ call: one, at: "later" }];
    const behind = { call: one, at: "behind" } as const;
    return one.fate === "twice" ? [behind, { call: one, at: "later" }] : [behind];
  });
  return answer.reversed ? results.toReversed() : results;
}

/** Happenings in the order of a log, each with the results that come before, behind and later. */
export function told<Made>(
  given: readonly Happening[],
  write: {
    orphan(one: Extract<Happening, { kind: "orphan" }>): Made;
    said(role: "user" | "system", text: string, media: readonly ResultContent[]): Made;
    answer(one: Answer, at: number): readonly Made[];
    /** A message for one result, or for several that came together. */
    results(some: readonly Call[]): Made;
  },
): readonly Made[] {
  const spoken = (one: Happening, at: number): readonly Made[] => {
    if (one.kind === "orphan") return [write.orphan(one)];
    if (one.kind === "answer") return write.answer(one, at);
    return [write.said(one.kind, one.text, one.kind === "user" ? one.media : [])];
  };
  let late: readonly Call[] = [];
  return given.flatMap((one, at) => {
    const results = one.kind === "answer" ? resultsOf(one) : [];
    const some = (place: Result["at"]): readonly Call[] =>
      results.filter((result) => result.at === place).map((result) => result.call);
    const written = (calls: readonly Call[]): readonly Made[] => {
      if (one.kind === "answer" && one.together && calls.length > 0) return [write.results(calls)];
      return calls.map((call) => write.results([call]));
    };
    const between = one.kind === "answer" && one.between !== undefined ? [write.said("user", one.between, [])] : [];
    const owed = late;
    late = some("later");
    return [...written(some("before")), ...spoken(one, at), ...between, ...written(some("behind")), ...written(owed)];
  });
}

/** Happenings as Windrow's messages. */
export function messagesOf(given: readonly Happening[]): readonly Message[] {
  return told<Omit<Message, "id">>(given, {
    orphan: ({ id: callId, text: content }) => ({ role: "tool", parts: [{ type: "tool-result", callId, content }] }),
    said: (role, body, more) => ({ role, parts: [{ type: "text", text: body }, ...more] }),
    results: (some) => ({
      role: "tool",
      parts: some.map(({ id: callId, name: tool, body, media: more, isError }) => {
        const content = more.length === 0 ? body : [{ type: "text" as const, text: body }, ...more];
        return { type: "tool-result", callId, name: tool, content, ...(isError !== undefined && { isError }) };
      }),
    }),
    answer(one, at) {
      const cut = one.isCut && { status: "interrupted" as const };
      return [{ role: "assistant", parts: [...thought(one, at), ...answered(one)], model: one.model, ...cut }];
    },
  }).map((message, at) => ({ id: `m${at + 1}`, ...message }));
}

function thought({ reasoning, model, text: body }: Answer, at: number): readonly Part[] {
  if (reasoning === "none") return [];
  if (reasoning === "unsigned") return [{ type: "reasoning", text: body }];
  return [{ type: "reasoning", text: reasoning === "redacted" ? "" : body, signature: signatureOf(model, at) }];
}

function answered({ text: body, media: more, calls }: Answer): readonly Part[] {
  const parts = calls.map(({ id: callId, name: tool, args: given, broken: argsText }): Part => {
    return {
      type: "tool-call",
      callId,
      name: tool,
      ...(argsText === undefined ? { args: given } : { args: {}, argsText }),
    };
  });
  return [{ type: "text", text: body }, ...more, ...parts];
}
