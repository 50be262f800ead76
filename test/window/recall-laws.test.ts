/** The laws of recall: what it never shows, how it names what it shows, and that every store answers alike. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Message, NewMessage } from "windrow";
import { estimate } from "windrow/testing";
import { recallFrom } from "windrow/window";
import { HistoryBuilder } from "../kit/inside/message.ts";

const common = ["the", "of", "is", "plan", "seats", "asked", "about", "customer", "gold", "note"];
const word = fc.constantFrom(...common, "pool", "limit", "Rougou", "Stero", "7148", "src/a.ts");
const sentence = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(" "));

/** One stretch of a session: something said, a record that was looked up, a file read, or a recall of something before. */
const stretch = fc.oneof(
  fc.record({ kind: fc.constant("said" as const), text: sentence }),
  fc.record({ kind: fc.constant("record" as const), id: fc.integer({ min: 0, max: 40 }), text: sentence }),
  fc.record({ kind: fc.constant("read" as const), lines: fc.array(sentence, { minLength: 1, maxLength: 20 }) }),
  fc.record({ kind: fc.constant("recall" as const), query: sentence }),
);
type Stretch = typeof stretch extends fc.Arbitrary<infer T> ? T : never;

/** A session of such stretches; what recall answered is marked, so that it is known wherever it stands. */
function sessionOf(stretches: readonly Stretch[]): {
  readonly messages: readonly Message[];
  readonly answers: Set<number>;
} {
  const builder = new HistoryBuilder().user("Keep the records of our customers.");
  const answers = new Set<number>();
  for (const [index, one] of stretches.entries()) {
    const call = `c${index}`;
    if (one.kind === "said") builder.user(one.text).assistant(`Noted: ${one.text}`);
    else if (one.kind === "read")
      builder.assistant("", [call, "read", { path: "src/a.ts" }]).result(call, one.lines.join("\n"));
    else if (one.kind === "record") {
      const record = { id: `C-${1_000 + one.id}`, plan: "gold", seats: index, notes: [one.text, one.text] };
      builder.assistant("", [call, "get_record", { id: record.id }]).result(call, JSON.stringify(record, null, 1));
    } else {
      const { text } = recallFrom(builder.messages, { query: one.query }, { counter: estimate, maxTokens: 600 });
      builder.assistant("", [call, "recall", { query: `QUOTED ${one.query}` }]).result(call, `${text}\nQUOTED-ANSWER`);
      answers.add(builder.messages.length);
    }
  }
  return { messages: builder.messages, answers };
}

const sessions = fc.array(stretch, { minLength: 1, maxLength: 25 });
const head = /^\[m(\d+) ([^\]]+)\]$/;

/** The lines that no text of the log can write: without a mark before them. */
function ownLines(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "" && !/^[ |]/.test(line));
}

describe("recall by words", () => {
  it("never returns anything of a recall's call or answer, whatever is asked", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(sessions, fc.oneof(sentence, fc.constantFrom("QUOTED", "QUOTED-ANSWER pool")), (given, query) => {
        const { messages, answers } = sessionOf(given);
        const { text, seqs } = recallFrom(messages, { query }, { counter: estimate });
        expect(text).not.toContain("QUOTED");
        expect(seqs.filter((seq) => answers.has(seq))).toEqual([]);
        const range = recallFrom(messages, { id: `m1-m${messages.length + 1}` }, { counter: estimate });
        expect(range.text).not.toContain("QUOTED");
        for (const seq of answers) {
          const whole = recallFrom(messages, { id: `m${seq}` }, { counter: estimate, maxTokens: 8_000 });
          expect(whole.text).toContain("QUOTED-ANSWER");
        }
      }),
    );
  });

  it("names tool and subject, or the speaker, above every passage, the newest first", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(sessions, sentence, (given, query) => {
        const { messages } = sessionOf(given);
        const { text, seqs } = recallFrom(messages, { query }, { counter: estimate });
        if (seqs.length === 0) return;
        const heads = ownLines(text)
          .slice(1)
          .filter((line) => !line.startsWith("…") && !line.startsWith("[…"));
        // A file that is asked for stands first, whatever is newer.
        const passages = heads.filter((line) => !line.includes(" as it stands"));
        const placed = passages.map((line) => Number(head.exec(line)?.[1]));
        expect(placed).toEqual(placed.toSorted((left, right) => right - left));
        expect(seqs).toEqual(expect.arrayContaining([...new Set(placed)]));
        for (const line of heads) {
          expect(line).toMatch(
            /^\[m\d+ (?:user|assistant(?: (?:read src\/a\.ts|get_record C-\d+))?|read src\/a\.ts|get_record C-\d+|src\/a\.ts as it stands)(?:;[^\]]*)?\]$/,
          );
        }
      }),
    );
  });

  it("finds a record by its own line among lines of common words", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 29 }), fc.integer({ min: 0, max: 40 }), (wanted, noise) => {
        const builder = new HistoryBuilder().user("Answer questions about the records.");
        for (let index = 0; index < 30; index++) {
          const notes = Array.from(
            { length: noise },
            (_, day) => `the customer of day ${day} asked about the seats of the plan`,
          );
          const record = { id: `C-${1_000 + index}`, plan: "gold", seats: 7 * index, owner: `person${index}`, notes };
          builder.assistant("", [`c${index}`, "get_record", { id: record.id }]);
          builder.result(`c${index}`, JSON.stringify(record, null, 1));
        }
        const query = `the seats of C-${1_000 + wanted}`;
        const { text, tokens, seqs } = recallFrom(builder.messages, { query }, { counter: estimate });
        expect(text).toContain(`"id": "C-${1_000 + wanted}"`);
        expect(text).toContain(`"seats": ${7 * wanted}`);
        expect(seqs).toEqual([2 * wanted + 3]);
        expect(tokens).toBeLessThanOrEqual(160);
      }),
      { numRuns: 40 },
    );
  });
});

describe("recall of what changed", () => {
  const path = "src/server.ts";
  const builder = new HistoryBuilder()
    .user("The pool of api is 100.")
    .assistant("", ["r", "read", { path }])
    .result("r", "export const port = 80;\nexport const retryLimit = 3;\nstart(port);")
    .assistant("", ["e", "edit", { path, oldText: "retryLimit = 3;", newText: "retryLimit = 17;" }])
    .result("e", "Done.")
    .user("Correction: the pool of api is 250 now.")
    .assistant("Understood.");

  it("shows both statements, the newest first", () => {
    const { text } = recallFrom(builder.messages, { query: "the pool of api is" }, { counter: estimate });
    expect(text.indexOf("is 250 now")).toBeGreaterThan(0);
    expect(text.indexOf("is 100")).toBeGreaterThan(text.indexOf("is 250 now"));
  });

  it("answers a path with the file as it stands", () => {
    for (const query of ["src/server.ts", "server.ts"]) {
      const { text, seqs } = recallFrom(builder.messages, { query }, { counter: estimate });
      expect(text).toContain(" export const retryLimit = 17;");
      expect(text).not.toContain("retryLimit = 3;");
      expect(text).toMatch(/^\[m5 src\/server\.ts as it stands; from m3 m5\]$/m);
      expect(seqs).toEqual([5]);
    }
  });

  it("follows files of one name apart, and shows the one that was looked at last", () => {
    const two = new HistoryBuilder()
      .assistant("", ["a", "read", { path: "src/pool.ts" }], ["b", "read", { path: "lib/pool.ts" }])
      .result("b", "export const size = 4;")
      .result("a", "export const size = 9;")
      .assistant("", ["e", "edit", { path: "lib/pool.ts", oldText: "size = 4", newText: "size = 5" }])
      .result("e", "Done.");
    for (const [query, size] of [
      ["pool.ts", 5],
      ["lib/pool.ts", 5],
      ["src/pool.ts", 9],
    ] as const) {
      const { text } = recallFrom(two.messages, { query }, { counter: estimate });
      expect(text).toContain(`pool.ts as it stands`);
      expect([...text.matchAll(/size = (\d)/g)].map(([, shown]) => shown)).toEqual([`${size}`]);
    }
  });

  it("shows the old text of an edit, however often the new one was seen since", () => {
    const path = "src/limits.ts";
    const line = (value: number): string => `export function takeSome(input: Batch, limit = ${value}): number {`;
    const body = Array.from({ length: 9 }, (_, at) => `  const part${at} = input.items[${at}] ?? limit;`);
    const often = new HistoryBuilder()
      .assistant("", ["r", "read", { path }])
      .result("r", [line(41), ...body].join("\n"))
      .assistant("", ["e", "edit", { path, old: line(41), new: line(9_000) }])
      .result("e", "Done.");
    for (let time = 0; time < 12; time++) {
      often
        .assistant("", [`s${time}`, "look", { place: `place ${time}` }])
        .result(`s${time}`, [line(9_000), ...body].join("\n"));
    }
    for (const query of ["takeSome limit", `edit ${path} takeSome limit = 9000`]) {
      const { text, tokens } = recallFrom(often.messages, { query }, { counter: estimate, maxTokens: 1_000 });
      expect(text).toMatch(/^\[m3 assistant edit src\/limits\.ts\]$/m);
      expect(text).toContain(` old: ${line(41)}`);
      expect(tokens).toBeLessThanOrEqual(1_000);
    }
  });

  it("says where it looked where it has none of the words", () => {
    const { text, seqs, more } = recallFrom(builder.messages, { query: "zebra" }, { counter: estimate });
    expect(text).toBe(
      "[Windrow: a record. Nothing has these words; try one rare word, a name, a path, or an id. Looked through m1-m7.]",
    );
    expect({ seqs, more }).toEqual({ seqs: [], more: false });
    expect(recallFrom(builder.messages, { id: "m2-m4", query: "zebra" }).text).toContain("Looked through m2-m4.");
  });

  it("is never empty: it says why there is no passage, and what to ask instead", () => {
    expect(recallFrom([], { query: "zebra" }).text).toMatch(/Nothing has these words; .* The log holds no message\./);
    expect(recallFrom(builder.messages, { query: "zebra" }, { maxTokens: 1 }).text).not.toBe("");

    const long = new HistoryBuilder().user(`The zebra is at ${"stripe ".repeat(400)}`).messages;
    expect(recallFrom(long, { query: "zebra" }, { maxTokens: 40 }).text).toContain("There is no room");

    const asked = new HistoryBuilder().user("What is it?").assistant("", ["r1", "recall", { query: "it" }]);
    asked.result("r1", "[Windrow: a record. Nothing has these words.]").user("And now?");
    expect(recallFrom(asked.messages, { id: "m2-m3" }).text).toContain("There is nothing to show; try words");
  });
});

describe("every store", () => {
  let folder = "";
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "windrow-recall-laws-"))));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("answers as the array does", { timeout: 120_000 }, async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(sessions, sentence, async (given, query) => {
        const { messages } = sessionOf(given);
        run++;
        for (const store of ["ram:", `file:${join(folder, `f${run}`)}`, `sqlite:${join(folder, `s${run}.db`)}`]) {
          const manager = await SessionManager.open({ store, budget: 16_000 });
          const session = await manager.create();
          await session.append(messages.map(({ role, parts }): NewMessage => ({ role, parts })));
          for (const asked of [{ query }, { query: "src/a.ts limit" }, { id: "m1-m4", query }]) {
            const expected = recallFrom(messages, asked, { counter: estimate, budget: 16_000 });
            expect(await session.recall(asked)).toEqual(expected);
          }
          await manager.close();
        }
      }),
      { numRuns: 8 },
    );
  });
});
