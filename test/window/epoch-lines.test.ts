/** Epochs whose texts are copies come back as they were, and not at all where a source is another. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Edit } from "windrow";
import type { Stub } from "windrow/window";
import { atOnce } from "../kit/inside/ground.ts";
import type { NumberedMessage } from "../kit/inside/message.ts";
import {
  copiableText,
  copiedFrom,
  copiedText,
  epochFrom,
  epochOf,
  epochRecord,
  lineInCopies,
  mostLines,
  outlineOf,
  textsNamed,
} from "../kit/inside/window.ts";
import type { EpochData } from "../kit/inside/window.ts";

const words = fc.constantFrom(
  "alpha beta\n",
  "  12\tgamma delta epsilon\n",
  "\u{1F600} zeta eta\n",
  "… \n",
  "\ud83d",
  "theta",
);
const text = fc.oneof(
  fc.array(words, { maxLength: 60 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 200 }),
);

describe("a text in copies", () => {
  it("is made again of the sources it names", () => {
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 5 }),
        text,
        fc.array(fc.nat(4), { maxLength: 5 }),
        (sources, own, taken) => {
          const whole = taken.map((index) => sources[index] ?? "").join(own.slice(0, 30)) + own;
          const { used, ...copies } = atOnce(copiedFrom(whole, sources));
          const named = used.map((index) => sources[index] ?? "");
          expect(copiedText(copies, named)).toBe(whole);
        },
      ),
    );
  });

  it("splits no character", () => {
    const source = `${"some words of a text ".repeat(3)}\u{1F600}`;
    const whole = `${"some words of a text ".repeat(3)}\u{1F601} and \u{1F602}${source.slice(5)}`;
    const { added } = atOnce(copiedFrom(whole, [source]));
    for (const piece of added) expect(piece.isWellFormed()).toBe(true);
  });

  it("is refused where the copies name what is not there", () => {
    expect(copiedText({ copies: "0.5", added: [] }, ["fo", "", "ur"])).toBeUndefined();
    expect(copiedText({ copies: "-1.2", added: [] }, ["fo", "", "ur"])).toBeUndefined();
    expect(copiedText({ copies: "+", added: [] }, [])).toBeUndefined();
    expect(copiedText({ copies: "1,2", added: [] }, ["fo", "", "ur"])).toBeUndefined();
  });
});

const stub: fc.Arbitrary<Stub> = fc.record({
  tool: fc.oneof(fc.constantFrom("Bash", "Read"), fc.string({ maxLength: 5 })),
  subject: fc.oneof(fc.constantFrom("src/a b.ts", ""), fc.string({ maxLength: 9 }), fc.constant("two\nlines")),
  id: fc.constantFrom("m1", "m4-m40"),
  count: fc.nat(90),
});
const edit: fc.Arbitrary<Edit> = fc
  .record(
    {
      kind: fc.constantFrom("drop" as const, "stub" as const, "replace" as const),
      from: fc.nat(50),
      to: fc.nat(90),
      text,
      stubs: fc.array(stub, { maxLength: 4 }),
      pass: fc.constant("digest"),
      reason: fc.string({ maxLength: 9 }),
      tokensBefore: fc.nat(),
      tokensAfter: fc.nat(),
    },
    { requiredKeys: ["kind", "from", "to", "pass", "reason", "tokensBefore", "tokensAfter"] },
  )
  .map((given) => given as Edit);
const messages = fc.array(text, { minLength: 1, maxLength: 6 }).map((texts) =>
  texts.map((content, index): NumberedMessage => {
    const seq = 3 * index + 1;
    if (index % 2 === 0)
      return { seq, message: { id: `${seq}`, role: "user", parts: [{ type: "text", text: content }] } };
    const part = { type: "tool-result", callId: "c", name: "read", content } as const;
    return { seq, message: { id: `${seq}`, role: "tool", parts: [part] } };
  }),
);
const held = fc.record({ turns: fc.nat(9), pins: fc.array(fc.string({ maxLength: 9 })), goal: fc.string() });
const facts = {
  reason: "over-budget",
  strategy: "adaptive",
  profile: "openai-chat",
  counter: "estimate",
  budget: 16_000,
  tokensBefore: 2,
  tokensAfter: 1,
} as const;

function epochWith(edits: readonly Edit[], epoch: number, conversation: EpochData["conversation"]): EpochData {
  const hashes = { openedHash: "a", systemHash: "b", toolsHash: "c", prefixHash: "d" };
  const state = { version: 1, epoch, edits, opened: 20, length: 3, previous: epoch - 1, ...hashes } as const;
  return { state, historyTokens: 9, ...(conversation && { conversation }) };
}

/** The text of a digest of every message, behind what an edit says itself. */
function digestOf(log: readonly NumberedMessage[]): string {
  return `[m1]\n${log.map(({ message }) => copiableText(message)).join("…\n")}`.repeat(9);
}

describe("an epoch's line in copies", () => {
  const conditions = { mask: (given: string): string => given };
  const texts = (log: readonly NumberedMessage[]): ReadonlyMap<number, string> =>
    new Map(log.map(({ seq, message }) => [seq, copiableText(message)]));

  it("says what the complete line says, over a chain of lines", { tags: ["slow"] }, () => {
    let short = 0;
    const chains = fc.array(fc.tuple(fc.array(edit, { maxLength: 5 }), held), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(messages, chains, (log, chain) => {
        let base: Parameters<typeof lineInCopies>[2]["base"];
        let before: EpochData | undefined;
        for (const [index, [some, own]] of chain.entries()) {
          const digest = { ...some[0], kind: "replace", from: 1, to: 9, text: digestOf(log) } as Edit;
          const edits = [...some, { ...digest, pass: "digest", reason: "", tokensBefore: 1, tokensAfter: 1 }];
          const data = epochWith(edits, index + 1, own);
          const complete = epochRecord(data, facts, "2026-01-01T00:00:00.000Z");
          const expected = epochOf(JSON.parse(JSON.stringify(complete.data)));
          const line = atOnce(lineInCopies(complete, edits, { ...conditions, base, messages: log }));
          if (line) short++;
          const stored = JSON.parse(JSON.stringify((line?.record ?? complete).data));
          const resolved = line
            ? epochFrom(stored, { base: line.lines.length > 0 ? before : undefined, messages: texts(log) })
            : epochOf(stored);
          expect(resolved).toEqual(expected);
          expect(epochOf(stored) === undefined).toBe(line !== undefined);
          expect(outlineOf(stored)?.state.edits).toHaveLength(edits.length);
          expect(textsNamed(stored)).toEqual(line && { lines: line.lines, messages: line.messages });
          expect(line?.lines.length ?? 0).toBeLessThanOrEqual(mostLines);
          base = { seq: index + 1, lines: line?.lines ?? [], edits, held: own };
          before = expected;
        }
      }),
      { numRuns: 60 },
    );
    expect(short).toBeGreaterThan(100);
  });

  const log: readonly NumberedMessage[] = Array.from({ length: 8 }, (_, at) => {
    const lines = Array.from({ length: 20 }, (_line, number) => `line ${number} of what message ${at} says at length`);
    return { seq: at + 1, message: { id: `m${at}`, role: "user", parts: [{ type: "text", text: lines.join("\n") }] } };
  });
  const edits: readonly Edit[] = [
    {
      kind: "replace",
      from: 1,
      to: 8,
      text: digestOf(log),
      pass: "digest",
      reason: "",
      tokensBefore: 1,
      tokensAfter: 1,
    },
  ];
  const complete = epochRecord(epochWith(edits, 1, { turns: 1 }), facts, "2026-01-01T00:00:00.000Z");

  it("is no epoch where a message is gone or another", () => {
    const line = atOnce(lineInCopies(complete, edits, { ...conditions, base: undefined, messages: log }));
    if (!line) throw new Error("nothing was copied");
    const { data } = line.record;
    expect(JSON.stringify(data).length).toBeLessThan(0.3 * JSON.stringify(complete.data).length);
    const all = texts(log);
    expect(epochFrom(data, { base: undefined, messages: all })?.state.edits).toEqual(edits);
    const without = new Map([...all].filter(([seq]) => seq !== line.messages[0]));
    expect(epochFrom(data, { base: undefined, messages: without })).toBeUndefined();
    const other = new Map([...all].map(([seq, given]) => [seq, given.replaceAll("says", "told")]));
    expect(epochFrom(data, { base: undefined, messages: other })).toBeUndefined();
  });

  it("is complete where a mask changes the texts, or a piece of them", () => {
    const masks = [
      (given: string): string => given.replaceAll("line 7 of", "[MASKED]"),
      (given: string): string => (given.length < 12 ? `${given}!` : given),
    ];
    for (const mask of masks)
      expect(atOnce(lineInCopies(complete, edits, { mask, base: undefined, messages: log }))).toBeUndefined();
  });
});
