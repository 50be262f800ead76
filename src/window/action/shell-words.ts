/** Shell words: a command line as the pipelines it consists of, and the strings that a script spells. */

/** A word as the shell hands it on. */
export interface Word {
  readonly text: string;
  /** Whether the text is known: nothing in it is replaced when the line runs. */
  readonly plain: boolean;
}

/** One command of a line. */
export interface Command {
  readonly words: readonly Word[];
  /** The files that its output goes to, or its input comes from. */
  readonly redirects: readonly { readonly operator: string; readonly to: Word }[];
  /** The text of its here-document. */
  readonly input?: string;
}

/** Commands that are joined by pipes. */
export interface Pipeline {
  readonly commands: readonly Command[];
  /** Whether it runs only if the one before it failed. */
  readonly isElse: boolean;
}

const compound = /^(?:for|while|until|if|then|else|elif|fi|do|done|case|esac|function|select|\{|\}|!|\[\[|coproc)$/;
const blank = /(?:[ \t\r]|\\\n|#[^\n]*)+/y;
const operator = /&&|\|\||\|&|;;|[;|&()\n]/y;
const redirect = /(\d*(?:<<<|<<-?|>>|>&|<&|>\||[<>])|&>>?)[ \t]*/y;
const row = /([^\n]*)\n?/y;
/** Parts of a word: quoted, escaped, replaced when the line runs, and others. */
const single = /'([^']*)'/y;
const double = /"((?:[^"\\]|\\[\s\S])*)"/y;
const escaped = /\\([\s\S]?)/y;
const backquoted = /`[^`]*(?:`|$)/y;
const bare = /\$(?!\()|[^\s;|&<>()'"\\`$]+/y;

interface Open {
  readonly words: Word[];
  readonly redirects: { operator: string; to: Word }[];
  input?: string;
}

/** The pipelines of a line in their order; undefined for one with loops, groups or substitutions of whole commands. */
export function pipelinesOf(line: string): readonly Pipeline[] | undefined {
  return new Line(line).pipelines();
}

class Line {
  readonly #line: string;
  #at = 0;
  /** Here-documents that begin at the next new line. */
  readonly #documents: {
    readonly command: Open;
    readonly tag: Word;
    readonly strips: boolean;
    readonly isQuoted: boolean;
  }[] = [];

  constructor(line: string) {
    this.#line = line;
  }

  pipelines(): readonly Pipeline[] | undefined {
    const pipelines: { readonly commands: Open[]; readonly isElse: boolean }[] = [];
    let open: Open = { words: [], redirects: [] };
    let joint = ";";
    const close = (sign: string): void => {
      const isEmpty = open.words.length === 0 && open.redirects.length === 0;
      if (isEmpty && /^[;\n&]$/.test(sign)) return;
      const last = pipelines.at(-1);
      if (!isEmpty && last && /^\|&?$/.test(joint)) last.commands.push(open);
      else if (!isEmpty) pipelines.push({ commands: [open], isElse: joint === "||" });
      open = { words: [], redirects: [] };
      joint = sign;
    };
    while (this.#at < this.#line.length) {
      if (this.#take(blank)) continue;
      const sign = this.#take(redirect)?.[1];
      const between = sign === undefined ? this.#take(operator)?.[0] : undefined;
      if (between !== undefined) {
        if (/[()]|;;/.test(between)) return undefined;
        if (between === "\n") this.#readDocuments();
        close(between);
        continue;
      }
      const isQuoted = /['"\\]/.test(this.#line[this.#at] ?? "");
      const word = this.#word();
      if (!word) return undefined;
      if (sign === undefined) {
        if (open.words.length === 0 && compound.test(word.text)) return undefined;
        open.words.push(word);
      } else if (/^\d*<<-?$/.test(sign)) {
        this.#documents.push({ command: open, tag: word, strips: sign.endsWith("-"), isQuoted });
      } else open.redirects.push({ operator: sign, to: word });
    }
    close(";");
    return pipelines;
  }

  #take(sign: RegExp): RegExpExecArray | undefined {
    sign.lastIndex = this.#at;
    const found = sign.exec(this.#line) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #readDocuments(): void {
    for (const { command, tag, strips, isQuoted } of this.#documents.splice(0)) {
      const body: string[] = [];
      while (this.#at < this.#line.length) {
        const line = this.#take(row)?.[1] ?? "";
        const text = strips ? line.replace(/^\t+/, "") : line;
        if (text === tag.text) break;
        body.push(text);
      }
      const text = body.join("\n");
      command.input = isQuoted ? text : text.replaceAll(/\\([$`\\])/g, "$1");
    }
  }

  /** The word that begins here; undefined where there is none, or one whose quote is never closed. */
  #word(): Word | undefined {
    const from = this.#at;
    let text = "";
    let plain = true;
    while (this.#at < this.#line.length && !/[\s;|&<>()]/.test(this.#line[this.#at] ?? "")) {
      const quoted = this.#take(double)?.[1];
      if (quoted !== undefined) {
        plain &&= !/(?<!\\)[$`]/.test(quoted);
        text += quoted.replaceAll(/\\([$`"\\])/g, "$1").replaceAll("\\\n", "");
        continue;
      }
      const literal = this.#take(single)?.[1] ?? this.#take(escaped)?.[1];
      const rest = literal ?? this.#take(backquoted)?.[0] ?? this.#take(bare)?.[0] ?? this.#substitution();
      if (rest === undefined) return undefined;
      plain &&= literal !== undefined || !/[$*?[\]{}`]/.test(rest);
      text += rest;
    }
    return this.#at === from ? undefined : { text, plain };
  }

  #substitution(): string | undefined {
    const from = this.#at;
    if (!this.#line.startsWith("$(", from)) return undefined;
    let depth = 0;
    for (this.#at++; this.#at < this.#line.length; this.#at++) {
      if (this.#line[this.#at] === "(") depth++;
      else if (this.#line[this.#at] === ")" && --depth === 0) {
        this.#at++;
        break;
      }
    }
    return this.#line.slice(from, this.#at);
  }
}

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
