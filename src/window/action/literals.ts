/** Literals: the strings that JavaScript source and shell commands spell, as they are when they run. */

const opening = /String\.raw\s*`|["'`]|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/** A string of a source. */
export interface Literal {
  /** The string; undefined where it depends on what runs. */
  readonly text: string | undefined;
  /** The source between it and the string before. */
  readonly before: string;
}

/** The strings of JavaScript source in their order; strings joined by `+` are one. */
export function scriptLiterals(source: string): readonly Literal[] {
  const found: { text: string | undefined; before: string }[] = [];
  let from = 0;
  opening.lastIndex = 0;
  for (let match = opening.exec(source); match; match = opening.exec(source)) {
    if (match[0].startsWith("/")) continue;
    const quote = match[0].at(-1) ?? "";
    const raw = match[0].length > 1;
    const start = match.index + match[0].length;
    const end = endOf(source, start, quote);
    const body = source.slice(start, end);
    const depends = quote === "`" && /(?<!\\)\$\{/.test(body);
    const text = depends ? undefined : raw ? body : unescaped(body);
    const before = source.slice(from, match.index);
    const last = found.at(-1);
    if (last && /^\s*\+\s*$/.test(before)) {
      last.text = last.text === undefined || text === undefined ? undefined : last.text + text;
    } else found.push({ text, before });
    from = end + 1;
    opening.lastIndex = from;
  }
  return found;
}

function endOf(source: string, start: number, quote: string): number {
  for (let at = start; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === quote) return at;
  }
  return source.length;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", 0: "\0" };

/** A string of JavaScript or JSON without its escapes. */
function unescaped(body: string): string {
  return body.replaceAll(
    /\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r?\n)|([\s\S]))/g,
    (_, brace?: string, four?: string, two?: string, line?: string, one = ""): string => {
      const code = brace ?? four ?? two;
      if (code !== undefined) {
        const point = Number.parseInt(code, 16);
        return point <= 0x10ffff ? String.fromCodePoint(point) : "";
      }
      return line === undefined ? (escapes[one as string] ?? (one as string)) : "";
    },
  );
}
