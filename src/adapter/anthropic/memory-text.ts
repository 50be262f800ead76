/** Memory files as Anthropic's memory tool shows them to the model: listings, numbered lines, snippets. */
import type { ListedFile } from "../../memory/files/memory-files.ts";

/** Lines before and after a change in its snippet. */
const around = 2;

/** Lines with an occurrence that an answer names. */
const mostNamed = 20;

/** The lines of a file, as their numbers count them. */
export function linesOf(text: string): readonly string[] {
  return text.split("\n");
}

/** A folder with the files and folders of two levels below it, hidden ones left out. */
export function listing(asked: string, folder: string, files: readonly ListedFile[]): string {
  const sizes = new Map<string, number>();
  let total = 0;
  for (const { path, bytes } of files) {
    const names = path.slice(folder.length + 1).split("/");
    if (names.some((name) => name.startsWith(".") || name === "node_modules")) continue;
    total += bytes;
    for (const depth of [1, 2]) {
      if (names.length < depth) continue;
      const entry = `${names.slice(0, depth).join("/")}${names.length > depth ? "/" : ""}`;
      sizes.set(entry, (sizes.get(entry) ?? 0) + bytes);
    }
  }
  const base = asked.replace(/\/+$/, "");
  return [
    `Here're the files and directories up to 2 levels deep in ${asked}, excluding hidden items and node_modules:`,
    `${shownSize(total)}\t${asked}`,
    ...[...sizes].map(([entry, bytes]) => `${shownSize(bytes)}\t${base}/${entry}`),
  ].join("\n");
}

/**
 * The lines of a file with their numbers, as many as fit.
 *
 * @param range - the first and the last line, from 1; -1 as the last is the end
 * @param most - characters of all lines together
 * @returns undefined where the range is none of the file's
 */
export function numbered(
  asked: string,
  text: string,
  range: readonly number[] | undefined,
  most: number,
): string | undefined {
  const lines = linesOf(text);
  const [first = 1, last = -1] = range ?? [];
  const end = last === -1 ? lines.length : Math.min(last, lines.length);
  if (first < 1 || first > end) return undefined;
  const shown = withNumbers(lines, first, end, most);
  const to = first + shown.length - 1;
  const note =
    to < end ? [`[Lines ${first} to ${to} of ${lines.length}; \`view_range\` shows the ones behind them.]`] : [];
  return [`Here's the content of ${asked} with line numbers:`, ...shown, ...note].join("\n");
}

/** The changed lines of a text and those beside them. */
export function snippet(text: string, at: number, length: number, most: number): string {
  const lines = linesOf(text);
  const lineOf = (place: number): number => linesOf(text.slice(0, place)).length;
  const first = Math.max(1, lineOf(at) - around);
  const last = Math.min(lines.length, lineOf(at + length) + around);
  return withNumbers(lines, first, last, most).join("\n");
}

/** The places at which a text occurs, and the lines that they begin in, such as `3, 7`. */
export function occurrences(
  text: string,
  words: string,
): { readonly places: readonly number[]; readonly lines: string } {
  const places: number[] = [];
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + 1)) places.push(at);
  const numbers = new Set<number>();
  let [line, from] = [1, 0];
  for (const place of places) {
    for (let end = text.indexOf("\n", from); end !== -1 && end < place; end = text.indexOf("\n", from)) {
      line++;
      from = end + 1;
    }
    numbers.add(line);
  }
  const named = [...numbers].slice(0, mostNamed).join(", ");
  return { places, lines: numbers.size > mostNamed ? `${named} and ${numbers.size - mostNamed} more` : named };
}

/** Lines from `first` to `last` as long as they fit; the first one is cut where it alone is too long. */
function withNumbers(lines: readonly string[], first: number, last: number, most: number): readonly string[] {
  const shown: string[] = [];
  let left = most;
  for (let number = first; number <= last; number++) {
    const line = lines[number - 1] ?? "";
    if (line.length > left && shown.length > 0) break;
    const kept = line.length > left ? `${line.slice(0, left).toWellFormed()} [cut]` : line;
    shown.push(`${String(number).padStart(6)}\t${kept}`);
    left -= line.length + 1;
  }
  return shown;
}

function shownSize(bytes: number): string {
  const units = ["B", "K", "M", "G"];
  let size = bytes;
  while (size >= 1_024 && units.length > 1) {
    size /= 1_024;
    units.shift();
  }
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${units[0]}`;
}
