/** What turns have in common: something to read, something to act on, and news that change facts. */
import type { Call, Hand, Need } from "./hand.ts";
import { plannedOf } from "./plan.ts";
import type { Agenda, Fact } from "./plan.ts";
import { filler } from "./sayings.ts";
import type { Holes, Saying } from "./sayings.ts";
import type { Luck } from "./words.ts";

/** An argument that the agent has to find; a need may rest on what was found before. */
export interface Sought {
  readonly fact: Fact;
  readonly need: Need | ((found: Holes) => Need);
}

const endings = ["That is done.", "Done, as you asked.", "It went through.", "All set."];

/** Plans a turn in which the agent finds values and calls a tool with them. */
export type Acting = (
  tool: string,
  given: Holes,
  text: string,
  sought: Readonly<Record<string, Sought>>,
  before?: () => void,
) => void;

/** Plans turns that find values and act on them. */
export function acting(agenda: Agenda, luck: Luck): Acting {
  return (tool, given, text, sought, before) => {
    const end = luck.of(endings);
    const parts = Object.entries(sought);
    const args = Object.fromEntries(parts.map(([name, { fact }]) => [name, fact]));
    agenda.add({
      text,
      calls: 2,
      ...(before && { before }),
      checks: [{ tool, args }],
      *script(hand) {
        const first = parts.flatMap(([name, { need }]) => (typeof need === "function" ? [] : [[name, need] as const]));
        let found = named(first, yield* hand.find(first.map(([, need]) => need)));
        if (first.length < parts.length) {
          const all = parts.map(([name, { need }]) => [name, typeof need === "function" ? need(found) : need] as const);
          found = named(all, yield* hand.find(all.map(([, need]) => need)));
        }
        yield* hand.call(tool, { ...given, ...found });
        return end;
      },
    });
  };
}

function named(parts: readonly (readonly [name: string, need: Need])[], values: readonly string[]): Holes {
  return Object.fromEntries(parts.map(([name], at) => [name, values[at] ?? ""]));
}

/** Plans a turn that reads something; the agent answers with what it makes of the result. */
export function reads(
  agenda: Agenda,
  text: string,
  tool: string,
  args: Holes,
  {
    before,
    answer = (): string => "I have read it.",
  }: { before?: () => void; answer?: (result: string) => string } = {},
): void {
  agenda.add({
    text,
    calls: 2,
    ...(before && { before }),
    *script(hand: Hand) {
      return answer(yield* hand.call(tool, args));
    },
  });
}

/** A need that a further call of one tool can meet. */
export function need(key: string, about: string, sought: string, again?: Call): Need {
  return { key, about, sought, ...(again && { again: [again] }) };
}

/** A fact that is sought, by its key. */
export function want(fact: Fact, key: string, about: string, words: string, again?: Call): Sought {
  return { fact, need: need(key, about, words, again) };
}

/** Rounds of a job: after each of the one kind two of the other kind, which come in turn. */
export function woven(some: readonly (() => void)[], others: readonly (() => void)[]): readonly (() => void)[] {
  const other = (at: number): (() => void) => others[at % others.length] as () => void;
  return some.flatMap((one, at) => [one, other(2 * at), other(2 * at + 1)]);
}

/** The name beside the highest number of a result; `pattern` finds the name and the number. */
export function topOf(result: string, pattern: RegExp, sign = 1): string {
  const read = [...result.matchAll(pattern)].map(
    ([, name = "", number = ""]) => [name, sign * Number(number)] as const,
  );
  return read.toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? "none";
}

/** Answers of tools that were given something: what is said, and remarks that nobody needs. */
export function receipts(luck: Luck, ways: readonly string[]): (said: string) => string {
  const remarks = Array.from({ length: 24 }, () => filler(luck, ways, luck.between(3, 14)));
  let count = 0;
  return (said) => `${said}\n\n${remarks[count++ % remarks.length]}`;
}

/** Sentences of one source, and the changes that hold once it is out. */
export class News {
  readonly said: string[] = [];
  readonly #begins: (() => void)[] = [];
  readonly #changed = new Set<Fact>();
  readonly #luck: Luck;

  constructor(luck: Luck) {
    this.#luck = luck;
  }

  /** Says that a fact has a value that it never had. A message whose sentences have no order says one thing of a fact. */
  change(saying: Saying, fact: Fact, make: () => string | number, holes: Holes): void {
    if (this.#changed.has(fact)) return;
    const change = this.renew(fact, make);
    this.said.push(saying.say(this.#luck, { ...holes, ...change }));
  }

  /** Plans a value that a fact never had. */
  renew(fact: Fact, make: () => string | number): { readonly old: string; readonly value: string } {
    const old = plannedOf(fact);
    let value = String(make());
    while (fact.planned.includes(value)) value = String(make());
    this.#changed.add(fact);
    this.#begins.push(fact.plan(value));
    return { old, value };
  }

  /** Makes the changes. */
  readonly before = (): void => {
    for (const begin of this.#begins) begin();
  };
}
