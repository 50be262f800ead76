/** The agent of the second bench: it looks for what it needs in the order that docs/loop.md says, and acts. */
import type { Action } from "../loop/jobs/job.ts";
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
  /** The key of the rule that holds where nothing is stated about the key itself. */
  readonly rule?: string;
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
  /** What it has found in this turn. */
  readonly #notes = new Map<string, Stated>();

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

  /**
   * Values, `unknown` where nothing says them. What was found before in the turn counts as long as the window says
   * nothing newer, so that a script asks again for all that it is about to act on.
   */
  *find(needs: readonly Need[]): Script<readonly string[]> {
    const where = new Map<string, "notes" | "window" | "recall" | "tools">();
    const look = (place: "window" | "recall" | "tools"): readonly Need[] =>
      needs.filter(({ key, rule }) => {
        const noted = this.#notes.get(key);
        const newest = (of: string): Stated | undefined =>
          newestOf(of, this.#sight.passages, this.#reading, noted?.key === of ? noted : undefined);
        const found = newest(key) ?? (rule === undefined ? undefined : newest(rule));
        if (!found) return true;
        if (found !== noted) where.set(key, place);
        else if (!where.has(key)) where.set(key, "notes");
        this.#notes.set(key, found);
        return false;
      });
    let missing = look("window");
    // Where a question brings nothing, the name alone is asked for.
    for (const ask of [questions, names]) {
      if (!this.#sight.hasRecall) break;
      const asked = [...ask(missing)];
      if (asked.length === 0) break;
      while (asked.length > 0) {
        yield* this.calls(asked.splice(0, mostRecalls).map((query) => ({ tool: "recall", args: { query } })));
      }
      missing = look("recall");
    }
    const again = new Map(missing.flatMap((need) => (need.again ?? []).map((call) => [JSON.stringify(call), call])));
    if (again.size > 0) {
      yield* this.calls([...again.values()]);
      look("tools");
    }
    return needs.map(({ key }) => {
      const found = this.#notes.get(key);
      this.#sight.findings.push({
        key,
        where: where.get(key) ?? "nowhere",
        value: found?.value,
        ...(found && { order: found.order }),
      });
      return found?.value ?? unknown;
    });
  }

  /** The newest statement of the window that differs from a value: what stood there before, as far as one can see. */
  earlier(key: string, value: string): string {
    const stated = this.#sight.passages.flatMap(({ passage }) => this.#reading(passage));
    return stated.findLast((one) => one.key === key && one.value !== value)?.value ?? unknown;
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

/** A statement at its place in the conversation. */
interface Stated extends Statement {
  readonly order: number;
}

/**
 * The newest statement about a key. One that names the value it replaces also stands against a later reading of that
 * value from an unchanged source.
 */
function newestOf(
  key: string,
  passages: readonly Placed[],
  reading: Reading,
  noted: Stated | undefined,
): Stated | undefined {
  const seen = passages.flatMap(({ passage, order }) => {
    let statements = read.get(passage);
    if (!statements) read.set(passage, (statements = reading(passage)));
    return statements
      .filter((statement) => statement.key === key)
      .map((statement): Stated => ({ ...statement, order }));
  });
  const stated = noted ? [noted, ...seen].sort((one, other) => one.order - other.order) : seen;
  let current = stated.findLast(({ yields }) => !yields) ?? stated.at(-1);
  const left = new Set(stated);
  while (current) {
    left.delete(current);
    const { value } = current;
    const next = [...left].findLast((statement) => statement.old === value && statement.value !== value);
    if (!next) break;
    current = next;
  }
  return noted && current?.value === noted.value ? noted : current;
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
