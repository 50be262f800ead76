/** The places of a body's members against JSON.parse, over bodies in any spelling and over bodies that are broken. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bodyRanges } from "../../kit/inside/gateway.ts";
import type { JsonValue } from "../../kit/inside/message.ts";
import { runs } from "../../kit/runs.ts";

const space = fc.string({ unit: fc.constantFrom(" ", "\n", "\r", "\t"), maxLength: 3 });

/** A string's characters as a writer of JSON may spell them. */
const spelled = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\\"',
        "\\\\",
        "\\/",
        "\\n",
        "\\u0041",
        "\\ud83d\\ude00",
        "\\ud800",
        "{",
        "[",
        "]",
        "}",
        ",",
        ":",
      ),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }).map((text) => JSON.stringify(text).slice(1, -1)),
    ),
    { maxLength: 8 },
  )
  .map((pieces) => `"${pieces.join("")}"`);

const plain = fc.oneof(
  spelled,
  fc.constantFrom("true", "false", "null", "0", "-0", "1.0", "1e5", "-2.50E+10", "12345678901234567890"),
);

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    plain,
    listOf(tie("value")),
    objectOf(spelled, tie("value")),
  ),
}));

function listOf(item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(fc.tuple(space, item, space), { maxLength: 4 }), space)
    .map(([items, empty]) => `[${items.length === 0 ? empty : items.map((item) => item.join("")).join(",")}]`);
}

function objectOf(key: fc.Arbitrary<string>, item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(fc.tuple(space, key, space, space, item, space), { maxLength: 4 }), space)
    .map(([members, empty]) => {
      const texts = members.map(([a, name, b, c, given, d]) => `${a}${name}${b}:${c}${given}${d}`);
      return `{${texts.length === 0 ? empty : texts.join(",")}}`;
    });
}

const names = fc.constantFrom('"messages"', '"mess\\u0061ges"', '"model"', '"tools"', '"\\u0000"', '"__proto__"', '""');
const bodies = fc.tuple(space, objectOf(names, fc.oneof(value, listOf(value))), space).map((parts) => parts.join(""));

/** The body as its places say it is; undefined where there are none, or a value at a place is no JSON. */
function byPlaces(body: Buffer): ReadonlyMap<string, JsonValue> | undefined {
  const ranges = bodyRanges(body, "messages");
  if (!ranges) return undefined;
  const at = ({ start, end }: { start: number; end: number }): JsonValue =>
    JSON.parse(body.toString("utf8", start, end)) as JsonValue;
  try {
    const members = new Map([...ranges.members].map(([name, range]) => [name, at(range)]));
    const given = members.get("messages");
    const { list, elements } = ranges;
    const brackets = list && [body[list.start - 1], body[list.end]];
    const isList = Array.isArray(given);
    expect([list !== undefined, elements.map(at), brackets]).toEqual([
      isList,
      isList ? given : [],
      isList ? [0x5b, 0x5d] : undefined,
    ]);
    return members;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The body as JSON.parse reads it; undefined where it is no object, or has a name twice. */
function byParse(text: string): ReadonlyMap<string, JsonValue> | undefined {
  try {
    const parsed = JSON.parse(text) as JsonValue;
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return undefined;
    return repeats(text) ? undefined : new Map(Object.entries(parsed));
  } catch {
    return undefined;
  }
}

/** Whether an object that is JSON has a name twice: JSON.parse keeps the last one and does not tell. */
function repeats(text: string): boolean {
  const found = new Set<string>();
  let twice = false;
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[[\]{}]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (depth === 1 && token.endsWith(":")) {
      const name = JSON.parse(token.slice(0, -1)) as string;
      twice ||= found.has(name);
      found.add(name);
    }
  }
  return twice;
}

const ordered = (members: ReadonlyMap<string, JsonValue> | undefined): unknown =>
  members && [...members].toSorted(([left], [right]) => (left < right ? -1 : 1));

describe("bodyRanges", () => {
  it("finds what JSON.parse finds", () => {
    fc.assert(
      fc.property(bodies, (text) => {
        expect(ordered(byPlaces(Buffer.from(text)))).toEqual(ordered(byParse(text)));
      }),
      { numRuns: Math.max(300, runs) },
    );
  });

  it("takes a broken body for none exactly where JSON.parse does", () => {
    const change = fc.tuple(
      fc.nat(),
      fc.nat(2),
      fc.constantFrom(...'{ } [ ] " , : \\ 1 e - + . t n \0 \uFEFF'.split(" "), " ", "\n"),
    );
    fc.assert(
      fc.property(bodies, fc.array(change, { minLength: 1, maxLength: 3 }), (text, changes) => {
        let broken = text;
        for (const [place, removed, inserted] of changes) {
          const at = place % (broken.length + 1);
          broken = broken.slice(0, at) + inserted + broken.slice(at + removed);
        }
        const wellFormed = broken.toWellFormed();
        expect(ordered(byPlaces(Buffer.from(wellFormed)))).toEqual(ordered(byParse(wellFormed)));
      }),
      { numRuns: Math.max(300, runs) },
    );
  });

  it.each([
    ["a name twice", '{"messages":[],"messages":[]}'],
    ["a name twice in two spellings", '{"messages":[],"mess\\u0061ges":[]}'],
    ["a byte order mark", '\uFEFF{"messages":[]}'],
    ["a list", "[]"],
    ["nothing", ""],
    ["white space alone", "  "],
    ["two values", '{"messages":[]}{}'],
    ["a comma at the end", '{"messages":[],}'],
    ["a string without an end", '{"messages":["'],
    ["a string that ends with an escape", '{"messages":["\\'],
    ["objects deeper than is followed", `{"messages":[${"[".repeat(501)}${"]".repeat(501)}]}`],
  ])("finds nothing in %s", (_, text) => {
    expect(bodyRanges(Buffer.from(text), "messages")).toBeUndefined();
  });

  it("finds nothing in bytes that are no UTF-8", () => {
    const body = Buffer.concat([Buffer.from('{"messages":["'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"]}')]);
    expect(bodyRanges(body, "messages")).toBeUndefined();
  });

  it("follows objects to the depth that all JSON is followed to", () => {
    const deep = `{"messages":[${"[".repeat(500)}${"]".repeat(500)}]}`;
    expect(bodyRanges(Buffer.from(deep), "messages")?.elements).toEqual([{ start: 13, end: deep.length - 2 }]);
  });

  it("finds the ends of long strings, whatever is escaped in them", () => {
    const pieces = fc.constantFrom('\\"', "\\\\", "\\n", "plain words of a line, ", "{", "]", "x".repeat(60));
    const long = fc.array(pieces, { minLength: 20, maxLength: 400 }).map((all) => `"${all.join("")}"`);
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            long,
            long.map((text) => `{"a":${text}}`),
          ),
          { maxLength: 4 },
        ),
        (all) => {
          const text = `{"messages":[${all.join(",")}],"last":${all[0] ?? "null"}}`;
          expect(ordered(byPlaces(Buffer.from(text)))).toEqual(ordered(byParse(text)));
          for (const cut of [text.length - 2, Math.floor(text.length / 2), text.length - 12])
            expect(bodyRanges(Buffer.from(text.slice(0, cut)), "messages")).toBeUndefined();
        },
      ),
      { numRuns: 100 },
    );
  });

  it("finds the same behind elements that are known", () => {
    const [first, second] = ['{"role":"user","content":"a"}', '{"role":"assistant","content":"b"}'];
    const short = Buffer.from(`{"model":"m","messages": [ ${first} , ${second} ] }`);
    const known = bodyRanges(short, "messages")!;
    const begun = { open: known.list!.start - 1, elements: known.elements };
    for (const rest of [" ]}", `,${first}],"a":[1]}`, ` , ${first} , ${second} ] , "messages2":[]}`]) {
      const body = Buffer.concat([short.subarray(0, known.elements[1]!.end), Buffer.from(rest)]);
      expect(bodyRanges(body, "messages", begun)).toEqual(bodyRanges(body, "messages"));
    }
    for (const rest of ["", "]", ",]}", ` ${first}]}`, ",,]}"]) {
      const body = Buffer.concat([short.subarray(0, known.elements[1]!.end), Buffer.from(rest)]);
      expect(bodyRanges(body, "messages", begun)).toBeUndefined();
    }
  });
});
