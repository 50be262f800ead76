/** The index: it answers as a look into every message would, whatever was added, forgotten, torn or cut off. */
import fc from "fast-check";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SearchIndex } from "../kit/inside/search.ts";
import type { IndexedEntry } from "../kit/inside/search.ts";
import { termsOf } from "../kit/inside/window.ts";
import { bruteForce, scoreLine } from "./brute-force.ts";
import type { Said } from "./brute-force.ts";

let folder: string;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "windrow-index-")), "search-index");
});

afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

const words = "alpha beta gamma delta 認証 データ parser crashed composeWindow src/main.ts".split(" ");
const text = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((list) => list.join(" "));
const users = ["ann", "bob"];

type Operation =
  | { readonly kind: "add"; readonly session: number; readonly texts: readonly string[] }
  | { readonly kind: "forget"; readonly session: number }
  | { readonly kind: "open" | "tear" | "die" | "other" };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("add" as const),
      session: fc.nat(4),
      texts: fc.array(text, { maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), session: fc.nat(4) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("open" as const, "tear" as const, "die" as const, "other" as const) }),
  },
);

const userOf = (session: number): string => users[session % 2] ?? "";

/** The answer of an index, as the brute force gives it. */
function answer(index: SearchIndex, query: string, user: string): readonly string[] {
  const entries = [...index.entries()].filter(({ session }) => session.user === user);
  const found = index.rankNow(new Set(termsOf(query)), { entries, limit: 1_000 });
  return found.map(({ entry, seq, score }) => scoreLine(entry.id, seq, score)).toSorted();
}

/** Adds what an index lacks of a log, as catching up with a store does. */
function complete(index: SearchIndex, log: readonly Said[]): void {
  for (const { session, user, seq, text: said } of log) {
    if (seq <= index.covered(session)) continue;
    index.describe(session, { created: Number(session.slice(1)), ...(user !== undefined && { user }) });
    index.add(session, { seq, text: said });
  }
}

/** An index and the log that it is of. */
class Compared {
  log: Said[] = [];
  #index = new SearchIndex(folder);

  take(step: Operation): void {
    if (step.kind === "add") this.#write(step.session, step.texts);
    this.#index.open();
    complete(this.#index, this.log);
    if (step.kind === "forget") {
      this.#index.forget(new Set([`s${step.session}`]));
      this.log = this.log.filter(({ session }) => session !== `s${step.session}`);
    }
    if (step.kind === "open" || step.kind === "tear") this.#index.close();
    if (step.kind === "tear") {
      for (const name of readdirSync(folder))
        if (/postings|jsonl/.test(name)) appendFileSync(join(folder, name), "{to");
    }
    if (step.kind === "die") {
      // A process that dies leaves what it wrote; its lock goes with it.
      die(this.#index);
      this.#index = new SearchIndex(folder);
    }
  }

  /** What the index answers while another one has the lock, or has it not. */
  answers(query: string, isBusy: boolean): readonly (readonly string[])[] {
    const other = new SearchIndex(folder);
    if (isBusy) {
      this.#index.close();
      other.open();
      complete(other, this.log);
    }
    this.#index.open();
    complete(this.#index, this.log);
    const found = users.map((user) => answer(this.#index, query, user));
    other.close();
    return found;
  }

  close(): void {
    this.#index.close();
  }

  #write(session: number, texts: readonly string[]): void {
    const id = `s${session}`;
    const last = this.log.filter((said) => said.session === id).length;
    texts.forEach((said, at) => this.log.push({ session: id, user: userOf(session), seq: last + at + 1, text: said }));
  }
}

it("answers as a look into every message does", () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 25 }), text, (operations, query) => {
      rmSync(folder, { recursive: true, force: true });
      const compared = new Compared();
      for (const step of operations) {
        compared.take(step);
        const { log } = compared;
        const wanted = users.map((user) => bruteForce(log, query, (said) => said.user === user).toSorted());
        expect(compared.answers(query, step.kind === "other")).toEqual(wanted);
      }
      compared.close();
    }),
    { numRuns: 60 },
  );
});

/** Cuts an index off in the middle of its writing: postings are there, and no line that names their messages. */
function die(index: SearchIndex): void {
  const table = join(folder, "sessions.jsonl");
  const before = readFileSync(table, "utf8");
  index.close();
  const reserved = /^\s*\{"reserved":\d+\}\n/.exec(readFileSync(table, "utf8").slice(before.length))?.[0];
  writeFileSync(table, reserved === undefined ? before : `${before}${reserved}{"session":"s`);
}

it("forgets a session in every file, also where a process died in the middle of it", () => {
  const log: Said[] = ["s0", "s1"].flatMap((session) =>
    words.map((said, at) => ({ session, seq: at + 1, text: said })),
  );
  const index = new SearchIndex(folder);
  index.open();
  complete(index, log);
  index.flush();
  const files = readdirSync(folder).filter((name) => name.endsWith(".postings"));
  const before = files.map((name) => [name, readFileSync(join(folder, name))] as const);
  index.forget(new Set(["s1"]));
  // The files as they were before the postings went: the table alone was written.
  for (const [name, bytes] of before) writeFileSync(join(folder, name), bytes);
  index.close();
  const again = new SearchIndex(folder);
  again.open();
  again.forget(new Set(["s1"]));
  again.close();
  for (const [name, bytes] of before) expect(readFileSync(join(folder, name)).length).toBe(bytes.length / 2);
  for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name), "latin1")).not.toContain("s1");
});

it("stays small where the same session grows message by message, and begins anew where most of it was forgotten", () => {
  const index = new SearchIndex(folder);
  for (let seq = 1; seq <= 1_000; seq++) {
    index.open();
    index.describe("s0", { created: 1 });
    index.add("s0", { seq, text: "one" });
    index.close();
  }
  expect(readFileSync(join(folder, "sessions.jsonl"), "utf8").split("\n").length).toBeLessThan(2_500);
  index.open();
  index.describe("s1", { created: 2 });
  for (let seq = 1; seq <= 12_000; seq++) index.add("s1", { seq, text: "two" });
  index.flush();
  index.forget(new Set(["s1"]));
  expect([...index.entries()]).toEqual([]);
  index.close();
});

it("ranks in the scope that is asked: words of others have no influence", () => {
  const index = new SearchIndex();
  const log: Said[] = [
    ...words.map((said, at) => ({ session: "s0", user: "ann", seq: at + 1, text: `alpha ${said}` })),
    ...words.map((said, at) => ({ session: "s1", user: "bob", seq: at + 1, text: `beta beta ${said}` })),
  ];
  complete(
    index,
    log.filter(({ user }) => user === "ann"),
  );
  const alone = answer(index, "alpha beta", "ann");
  complete(index, log);
  expect(answer(index, "alpha beta", "ann")).toEqual(alone);
  const everyone: readonly IndexedEntry[] = [...index.entries()];
  const together = index.rankNow(new Set(termsOf("alpha beta")), { entries: everyone, limit: 1_000 });
  expect(together.map(({ entry, seq, score }) => scoreLine(entry.id, seq, score)).toSorted()).not.toEqual(alone);
});
