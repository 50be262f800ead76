/** Kinds of sentences: each is said in one of several ways, and read in all of them. */
import { stretches } from "./hand.ts";
import type { Statement } from "./hand.ts";
import type { Passage } from "./sight.ts";
import type { Luck } from "./words.ts";

/** What stands in the holes of a sentence. */
export type Holes = Readonly<Record<string, string>>;

const shapes: Holes = {
  who: "(?:Ms|Mr|Dr) \\w+",
  day: "Monday|Tuesday|Wednesday|Thursday|Friday",
};

/** The days of the hole `day`. */
export const days = (shapes["day"] as string).split("|");

const anything = String.raw`[\w-]+(?:[.:/][\w-]+)*`;

/** A text with its holes, such as `{of}`, filled. */
export function fill(text: string, holes: Holes): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => holes[name] ?? name);
}

/**
 * A kind of statement. Each way has the holes of the key and `{value}`, and may have `{old}` and others; `[words]` at its
 * start or end need not be read.
 */
export class Saying {
  readonly #key: string;
  readonly #ways: readonly string[];
  readonly #patterns: readonly RegExp[];

  constructor(key: string, ways: readonly string[], own: Holes = {}) {
    this.#key = key;
    this.#ways = ways.map((way) => way.replaceAll(/[[\]]/g, ""));
    this.#patterns = ways.map((way) => patternOf(way.replaceAll(/\[.*?\]|\.$/g, ""), { ...shapes, ...own }));
  }

  /** The statement in one of its ways. */
  say(luck: Luck, holes: Holes): string {
    return fill(luck.of(this.#ways), { day: luck.of(days), ...holes });
  }

  /** The statements of this kind in a passage. */
  read(passage: Passage): readonly Statement[] {
    return stretches(passage).flatMap((stretch) =>
      this.#patterns.flatMap((pattern) =>
        [...stretch.matchAll(pattern)].map(({ groups = {} }) => {
          const { value = "", old } = groups;
          return { key: fill(this.#key, groups), value, ...(old !== undefined && { old }) };
        }),
      ),
    );
  }
}

function patternOf(way: string, holeShapes: Holes): RegExp {
  const seen = new Set<string>();
  const pieces = way.split(/(\{\w+\})/).map((piece) => {
    const name = /^\{(\w+)\}$/.exec(piece)?.[1];
    if (name === undefined) return piece.replaceAll(/[.*+?^$()|\\]/g, String.raw`\$&`);
    if (seen.has(name)) return String.raw`\k<${name}>`;
    seen.add(name);
    return `(?<${name}>${holeShapes[name] ?? anything})`;
  });
  return new RegExp(String.raw`(?<![\w-])${pieces.join("").trim()}(?![\w-])`, "g");
}

/** All that some kinds of sentences say in a passage. */
export function readAll(passage: Passage, sayings: readonly Saying[]): readonly Statement[] {
  return sayings.flatMap((saying) => saying.read(passage));
}

/** So many sentences of filler in the ways given, with `{name}`, `{word}`, `{n}` and `{code}` made up. */
export function filler(luck: Luck, ways: readonly string[], sentences: number): string {
  return Array.from({ length: sentences }, () =>
    luck.of(ways).replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      if (name === "n") return String(luck.between(2, 980));
      if (name === "code") return luck.code();
      return name === "name" ? luck.name() : luck.word();
    }),
  ).join(" ");
}

/** Paragraphs of filler, each with one of the sentences somewhere in it, and some with none. */
export function prose(luck: Luck, said: readonly string[], ways: readonly string[], sentences: number): string {
  const paragraphs = [...said, "", ""].map((line) =>
    luck
      .shuffled([line, ...Array.from({ length: sentences }, () => filler(luck, ways, 1))])
      .filter((one) => one !== ""),
  );
  return luck
    .shuffled(paragraphs)
    .map((one) => one.join(" "))
    .join("\n\n");
}

/** A text in lines of at most 72 characters, as mails are sent. */
export function wrapped(text: string): string {
  return text.replaceAll(/(?=.{73})(.{1,72}) /g, "$1\n");
}
