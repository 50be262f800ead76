/** The code that is ported. */
import { Fact } from "./plan.ts";
import { filler } from "./sayings.ts";
import type { Luck } from "./words.ts";

/** What is said of firmware without need. */
export const talk = [
  "The {word} probe still needs {n} retries when {name} has the oven on.",
  "Upstream closed issue {n} about the {word} timer without a word to {name}.",
  "{name} wrote a script for the {word} dump and lost it.",
  "Endianness of {word} is as it was, whatever {name} remembers.",
  "The {word} linker takes {n} seconds, of which most is spent on symbols of {name}.",
  "Nobody knows why {word} was called {code} in the first place.",
  "A board with a burnt {word} lies on the desk of {name}.",
  "Documentation for the {word} port moved {n} times since {name} left.",
];

/** Lines of code that nobody asks about. */
export function codeLines(luck: Luck): readonly string[] {
  const camel = (): string => luck.word() + luck.name();
  const kinds = [
    (): string => `// ${filler(luck, talk, 1)}`,
    (): string => `if (${luck.word()}.${luck.word()} > ${luck.between(120, 990)}) return ${camel()};`,
    (): string => `${camel()}(${luck.word()}, "${luck.word()}");`,
    (): string => `const ${camel()} = ${camel()}(${luck.word()});`,
  ];
  return Array.from({ length: luck.between(20, 190) }, () => luck.of(kinds)());
}

/** Lines of a module with their numbers. */
export function listing(lines: readonly (string | Fact)[], from: number, to: number): string {
  return lines
    .slice(from, to)
    .map((line, at) => `${String(from + at + 1).padStart(5)}→  ${typeof line === "string" ? line : line.now}`)
    .join("\n");
}

/** A fact that had some values before its last one. */
export function factOf(name: string, [first = "", ...more]: readonly string[]): Fact {
  const fact = new Fact(name, first);
  for (const value of more) fact.plan(value)();
  return fact;
}
