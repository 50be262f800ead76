/** The agent of the second bench: it looks for what it needs in the order that docs/loop.md says, and acts. */
import type { Action } from "../../src/loop/jobs/job.ts";
import type { Passage, Placed, Sight } from "./sight.ts";

/** A part of an agent's script, which answers with a value. */
export type Script<Value> = Generator<Action, Value, Sight>;

/** A call of a tool. */
export type Call = NonNullable<Action["calls"]>[number];

/** A value that a passage states. */
export interface Statement {
  readonly key: string;
  readonly value: string;
  /** The value that it takes the place of, where it names one. */
  readonly old?: string;
  /** Whether statements of any other source hold over it, whenever it was read. */
  readonly yields?: boolean;
}

/** Reads the statements of a passage, in its order. */
export type Reading = (passage: Passage) => readonly Statement[];

/** A value that is needed. */
export interface Need {
  readonly key: string;
  /** The name that recall is asked for, and the words for what is sought of it. */
  readonly about: string;
  readonly sought: string;
  /** Calls that bring it again. */
  readonly again?: readonly Call[];
}

/** An agent that knows nothing acts on this. */
export const unknown = "unknown";

/** The most calls of recall in one step. */
const mostRecalls = 3;

const read = new WeakMap<Passage, readonly Statement[]>();

/** The agent in one turn. */
export class Hand {
  #sight: Sight;
  readonly #reading: Reading;
  /** The values that it has spoken of in this turn. */
  readonly #notes = new Map<string, string>();

  constructor(sight: Sight, reading: Reading) {
    this.#sight = sight;
    this.#reading = reading;
  }

  /** Calls tools in one step; answers with their results. */
  *calls(calls: readonly Call[], say = ""): Script<readonly string[]> {
    this.#sight = yield { say, calls };
    return this.#sight.newest;
  }

  /** Calls one tool. */
  *call(tool: string, args: Readonly<Record<string, string>>, say = ""): Script<string> {
    const [result = ""] = yield* this.calls([{ tool, args }], say);
    return result;
  }

  /** Values, `unknown` where nothing says them. */
  *find(needs: readonly Need[]): Script<readonly string[]> {
    for (const { key } of needs) {
      const value = this.#notes.get(key);
      if (value !== undefined) this.#sight.findings.push({ key, where: "notes", value });
    }
    let missing = this.#look(needs, "window");
    // Where a question brings nothing, the name alone is asked for.
    for (const ask of [questions, names]) {
      if (!this.#sight.hasRecall) break;
      const asked = [...ask(missing)];
      while (asked.length > 0) {
        yield* this.calls(asked.splice(0, mostRecalls).map((query) => ({ tool: "recall", args: { query } })));
      }
      missing = this.#look(missing, "recall");
    }
    const again = new Map(missing.flatMap((need) => (need.again ?? []).map((call) => [JSON.stringify(call), call])));
    if (again.size > 0) {
      yield* this.calls([...again.values()]);
      missing = this.#look(missing, "tools");
    }
    for (const { key } of missing) this.#sight.findings.push({ key, where: "nowhere", value: undefined });
    return needs.map(({ key }) => this.#notes.get(key) ?? unknown);
  }

  /** The needs that the window does not meet. */
  #look(needs: readonly Need[], where: "window" | "recall" | "tools"): readonly Need[] {
    return needs.filter(({ key }) => {
      if (this.#notes.has(key)) return false;
      const found = newestOf(key, this.#sight.passages, this.#reading);
      if (!found) return true;
      this.#notes.set(key, found.value);
      this.#sight.findings.push({ key, where, ...found });
      return false;
    });
  }
}

/** One question for each name, about all that is sought of it. */
function questions(needs: readonly Need[]): readonly string[] {
  return names(needs).map((name) =>
    [name, ...needs.filter(({ about }) => about === name).map(({ sought }) => sought)].join(" "),
  );
}

function names(needs: readonly Need[]): readonly string[] {
  return [...new Set(needs.map(({ about }) => about))];
}

/**
 * The newest statement about a key. One that names the value it replaces also stands against a later reading of that
 * value from an unchanged source.
 */
function newestOf(
  key: string,
  passages: readonly Placed[],
  reading: Reading,
): { readonly value: string; readonly order: number } | undefined {
  const stated = passages.flatMap(({ passage, order }) => {
    let statements = read.get(passage);
    if (!statements) read.set(passage, (statements = reading(passage)));
    return statements.filter((statement) => statement.key === key).map((statement) => ({ ...statement, order }));
  });
  let current = stated.findLast(({ yields }) => !yields) ?? stated.at(-1);
  const left = new Set(stated);
  while (current) {
    left.delete(current);
    const { value } = current;
    const next = [...left].findLast((statement) => statement.old === value && statement.value !== value);
    if (!next) break;
    current = next;
  }
  return current && { value: current.value, order: current.order };
}

/** The paragraphs of a passage between its gaps, each as one line. */
export function stretches({ text }: Passage): readonly string[] {
  return text.split(/…|\n\s*\n/).map((stretch) => stretch.replaceAll(/\s+/g, " ").trim());
}

/** All matches of a pattern in a passage's paragraphs as statements; `pattern` has the flag `g`. */
export function* matches(
  passage: Passage,
  pattern: RegExp,
  statement: (groups: readonly string[]) => Statement,
): Generator<Statement> {
  for (const stretch of stretches(passage)) {
    for (const [, ...groups] of stretch.matchAll(pattern)) yield statement(groups);
  }
}

/**
 * The names and values of a line: one of JSON or YAML, or a record that is told in a line, such as
 * `offers: hotel Kor, nightly 90`.
 */
export function fieldsOf(line: string): readonly (readonly [name: string, value: string])[] {
  const json = /^\s*"(\w+)": "?([^"]*?)"?,?$/.exec(line);
  if (json) return [[json[1] as string, json[2] as string]];
  return line
    .replace(/^\s*(?:- )?(?:[\w.]+: (?=\w+ \S))?/, "")
    .split(", ")
    .flatMap((piece) => {
      const [, name, value] = /^(\w+):? (.+)$/.exec(piece) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    });
}
