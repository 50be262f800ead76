/** Touches: the files that a command names, by their last part or by a pattern such as `src/*.ts`. */
import { nameOf, plainPath } from "./paths.ts";

const between = /[^\w./@*{},+-]+/;

/** Patterns of a command that are looked at, their characters, and their stars: a text that has more is none. */
const mostPatterns = 64;
const longestPattern = 200;
const mostStars = 4;

/** Tells whether a command names a path. Ask it for many paths: the command's patterns are read once. */
export function touchOf(command: string): (path: string) => boolean {
  const words = command.includes("*") ? command.split(between).filter((word) => isPattern(word)) : [];
  const patterns = words.slice(0, mostPatterns).flatMap((word) => matcherOf(word) ?? []);
  return (path) => command.includes(nameOf(path)) || patterns.some((one) => one.test(plainPath(path)));
}

function isPattern(word: string): boolean {
  const stars = word.length <= longestPattern ? (word.match(/\*+/g)?.length ?? 0) : 0;
  return stars > 0 && stars <= mostStars;
}

/** A pattern of a shell as one that ends where a path ends; undefined for a text that is none, such as a rule of `sed`. */
function matcherOf(text: string): RegExp | undefined {
  if (text.endsWith("/") || /(?<![*\w/])\.\*|^\/?\*+$/.test(text)) return undefined;
  const source = text
    .replace(/^(?:\.\/)+/, "")
    .replaceAll(/[.+-]/g, String.raw`\$&`)
    .replaceAll(/\{([^{}]*)\}/g, (_, choices: string) => `(?:${choices.replaceAll(",", "|")})`)
    .replaceAll(/[{}]/g, "")
    .replaceAll(/\*{2,}\/|\*+/g, (sign) => (sign === "*" ? "[^/]*" : sign.endsWith("/") ? "(?:.*/)?" : ".*"));
  // A pattern without an ending may be of folders.
  return new RegExp(`(?:^|/)${source}${/\.[^/]*$/.test(text) ? "" : "(?:/.*)?"}$`);
}
