import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMask } from "windrow/store";
import type { MaskOptions } from "windrow/store";
import type { NewRecord } from "windrow/store/author";
import { maskJson, maskRecord, maskText } from "../kit/inside/mask.ts";

// Put together at run time, so that no scanner takes the source for a leak.
const github = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
const finePat = [
  "github_pat",
  "11AAGI73I0HFY8wJru4mTw_ZlpxaViSYQuKETGMTXMkbWFrZCqjas5OpXSUP6g5zbrE2PRUI7CfRZ3m3z3",
].join("_");
const openai = ["sk", "sUeBP9asw6GiYHXqtg70T3BlbkFJJuLwJFco90bOpU0N"].join("-");
const project = ["sk", "proj-f5-UKZNwZTgzRb8ZucIrNqTs9oT6D1DMRv_0Zq3WY7G1J1O"].join("-");
const gitlab = ["glpat", "aBcDeFgHiJkLmNoPqRsT"].join("-");

const mask = createMask();
const withEmail = createMask({ email: true });
const masked = (text: string): string => maskText(mask, text).text;

describe("tokens become placeholders", () => {
  it.each([
    [github, "[GITHUB_TOKEN]"],
    [finePat, "[GITHUB_TOKEN]"],
    [openai, "[OPENAI_KEY]"],
    [project, "[OPENAI_KEY]"],
    [gitlab, "[GITLAB_TOKEN]"],
  ])("%s", { tags: ["slow"] }, (secret, placeholder) => {
    for (const [before, after] of [
      ["", ""],
      ["key=", "\n"],
      ['"', '",'],
      ["Bearer ", " "],
      ["日本", "語"],
      ["a/", "?b"],
    ] as const) {
      expect(masked(before + secret + after)).toBe(before + placeholder + after);
    }
  });

  it("behind an escape too: JSON in JSON, URLs, terminal colours", () => {
    for (const before of ["\\n", "\\t", "\\u0022", "%3D", "\u001b[32m", "\u001b[1;31m"]) {
      for (const secret of [github, openai, gitlab])
        expect(masked(`x ${before}${secret}`)).not.toContain(secret.slice(5));
    }
  });

  it("every one of several, with where it stood", () => {
    const text = `a ${github} b ${openai} c ${github}`;
    const { text: clean, masks } = maskText(mask, text);
    expect(clean).toBe("a [GITHUB_TOKEN] b [OPENAI_KEY] c [GITHUB_TOKEN]");
    expect(masks.map((one) => one.kind)).toEqual(["github-token", "openai-key", "github-token"]);
    expect(masks.map((one) => text.slice(one.start, one.start + one.length))).toEqual([github, openai, github]);
  });

  it("masking is idempotent and a placeholder is never masked", () => {
    const once = masked(`${github} ${openai} ${gitlab}`);
    expect(masked(once)).toBe(once);
  });
});

it("a key of a project is masked, however short it is", () => {
  expect(masked("OPENAI: sk-proj-abc123, next")).toBe("OPENAI: [OPENAI_KEY], next");
});

it.each([
  "keys begin with sk-proj- or sk-proj-...",
  "sk-proj-xxxxxxxx",
  "disk-proj-abc123",
  "task-1",
  "disk-usage",
  "sk-learn",
  "sk-learn-contrib-some-longer-package-name-2",
  "task-550e8400e29b41d4a716446655440000",
  "risk-management-of-international-organisations",
  "ghp_short",
  "glpat-abc",
  "gXX_wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx",
  "mask-image: url(x); desk-1234567890abcdef",
  "class='sk-folding-cube sk-cube-grid'",
])("what is no token stays %s", (text) => {
  expect(maskText(withEmail, text)).toEqual({ text, masks: [] });
});

describe("e-mail addresses", () => {
  it("are masked only when asked", () => {
    expect(masked("to a.b+c@mail.example.co.jp!")).toBe("to a.b+c@mail.example.co.jp!");
    expect(maskText(withEmail, "to a.b+c@mail.example.co.jp!").text).toBe("to [EMAIL]!");
    expect(maskText(withEmail, "<x@163.com>, y_z@a-b.io: mailto:q@r.st").text).toBe(
      "<[EMAIL]>, [EMAIL]: mailto:[EMAIL]",
    );
  });

  it.each([
    "git@github.com:org/repo.git",
    "express@4.18.2",
    "pkg@1.2.3-beta.rc",
    "@scope/name",
    "@types/node@20.19.43",
    "icon@2x.png",
    "https://user@host.example.com/path",
    "me@localhost",
    "@decorator",
    "a @ b.com",
    "foo@bar",
  ])("%s is none", (text) => {
    expect(maskText(withEmail, text).text).toBe(text);
  });
});

describe("records", () => {
  const record: NewRecord = {
    kind: "message",
    message: {
      id: "m1",
      role: "assistant",
      parts: [
        { type: "reasoning", text: github, signature: github, opaque: { raw: github } },
        {
          type: "tool-call",
          callId: "c",
          name: "run",
          args: { list: [{ [github]: github }] },
          argsText: github,
          opaque: github,
        },
        {
          type: "tool-result",
          callId: "c",
          content: [
            { type: "text", text: github, opaque: github },
            { type: "opaque", kind: "k", data: github },
          ],
        },
        { type: "file", mediaType: "text/plain", name: github, data: github },
        { type: "image", mediaType: "image/png", url: `data:image/png;base64,${github}` },
      ],
      extra: { deep: [[github]] },
    },
    tokenCount: 1,
    timestamp: "2024-01-15T10:30:01.123Z",
  };

  it("every string is masked but the bytes that must stay exact, and the input is not changed", () => {
    const before = structuredClone(record);
    const result = maskRecord(mask, record);
    expect(record).toEqual(before);
    const fingerprint = mask.fingerprint?.(github);
    // Masked by hand: every text but those of keys that must stay exact.
    const exact = new Set(["signature", "opaque", "data", "url"]);
    const byHand = (value: unknown, name = ""): unknown => {
      if (exact.has(name)) return value;
      if (value === github) return "[GITHUB_TOKEN]";
      if (Array.isArray(value)) return value.map((item) => byHand(item));
      if (value === null || typeof value !== "object") return value;
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [byHand(key), byHand(item, key)]));
    };
    const expected = byHand(record.kind === "message" ? record.message : {}) as object;
    const masks = [{ kind: "github-token", placeholder: "[GITHUB_TOKEN]", fingerprint }];
    expect(result).toEqual({ ...record, message: { ...expected, masks } });
  });

  it("a clean record is given back as it is", () => {
    const clean: NewRecord = { kind: "edit", type: "x", data: { a: ["b", { c: null }] }, timestamp: "t" };
    expect(maskRecord(mask, clean)).toBe(clean);
  });

  it("two secrets as keys of one object lose no value", () => {
    expect(maskJson(mask, { [github]: 1, [finePat]: 2 })).toEqual({ "[GITHUB_TOKEN]": 1, "[GITHUB_TOKEN]#2": 2 });
  });

  it("a rule set of one's own takes the place of the tokens", () => {
    const find = (_text: string, at: number): { start: number; length: number } => ({ start: at, length: 5 });
    const own = createMask({ rules: [{ kind: "word", placeholder: "[WORD]", keywords: ["xyzzy"], find }] });
    expect(maskText(own, `say xyzzy to ${github}`).text).toBe(`say [WORD] to ${github}`);
    expect(maskText(createMask({ rules: [] }), github).text).toBe(github);
  });
});

describe("any text", () => {
  it("what is not masked is the same, in the same order", () => {
    const pieces = fc.array(
      fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(github, openai, gitlab, "@", "sk-", "ghp_", "a@b.cd")),
    );
    fc.assert(
      fc.property(pieces, (list) => {
        const text = list.join(" ");
        const { text: result, masks } = maskText(withEmail, text);
        let [expected, from] = ["", 0];
        for (const { start, length, kind } of masks.toSorted((left, right) => left.start - right.start)) {
          expected += text.slice(from, start) + placeholders[kind];
          from = start + length;
        }
        expect(result).toBe(expected + text.slice(from));
        for (const secret of [github, openai, gitlab]) expect(result).not.toContain(secret);
      }),
    );
  });

  it.each(["sk-", "sk-a", "ghp_", "ghp_x", "glpat-.", "github_pat_", "@", "a@", "a@b.", "a.b@c-", "x", "task-"])(
    "two hundred thousand characters of %j come to an end",
    (piece) => {
      const text = piece.repeat(200_000 / piece.length);
      expect(maskText(withEmail, text).text).not.toBe("");
    },
    120_000,
  );
});

const placeholders: Readonly<Record<string, string>> = {
  ...{ "github-token": "[GITHUB_TOKEN]", "openai-key": "[OPENAI_KEY]" },
  ...{ "gitlab-token": "[GITLAB_TOKEN]", "email": "[EMAIL]" },
};

it.each([
  [{ value: { WIFI: "a-long-secret" } }, 'createMask has no option "value". Did you mean "values"?'],
  [{ values: ["a-long-secret"] }, "createMask: `values` is an object of secrets by name, not a list."],
  [{ values: { WIFI: undefined } }, 'The secret registered as "WIFI" is a text, not undefined.'],
  [{ rules: {} }, "createMask: `rules` is a list of rules, not an object."],
  [Promise.resolve({}), "createMask takes an object of options, not a promise: await it first."],
  [null, "createMask takes an object of options, not null."],
])("options that would leave secrets in clear are refused %o", (options, message) => {
  expect(() => createMask(options as unknown as MaskOptions)).toThrow(message);
});
