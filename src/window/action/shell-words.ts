/** Shell words: a command line as the commands it consists of. */

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
  /** The operator between it and the command before. */
  readonly joint: Joint;
}

/** The operator before a command; `;` also for a new line. */
export type Joint = "" | ";" | "&&" | "||" | "|";

const compound = /^(?:for|while|until|if|then|else|elif|fi|do|done|case|esac|function|select|\{|\}|!|\[\[|coproc)$/;
const operator = /^(?:&&|\|\||\|&|;;|[;|&()\n])/;
const redirect = /^(?:\d*(?:<<<|<<-?|>>|>&|<&|>\||[<>])|&>>?)/;

interface Open {
  readonly words: Word[];
  readonly redirects: { operator: string; to: Word }[];
  input?: string;
  readonly joint: Joint;
}

/** The commands of a line in their order; undefined for one with loops, groups or substitutions of whole commands. */
export function commandsOf(line: string): readonly Command[] | undefined {
  const commands: Open[] = [];
  let open: Open = { words: [], redirects: [], joint: "" };
  const documents: { readonly command: Open; readonly tag: string; readonly strips: boolean }[] = [];
  const close = (joint: Joint): void => {
    const empty = open.words.length === 0 && open.redirects.length === 0;
    if (!empty) commands.push(open);
    open = { words: [], redirects: [], joint: empty && joint === ";" ? open.joint : joint };
  };
  let at = 0;
  while (at < line.length) {
    const rest = line.slice(at);
    const blank = /^(?:[ \t\r]|\\\n)+/.exec(rest)?.[0];
    if (blank !== undefined) {
      at += blank.length;
      continue;
    }
    if (rest.startsWith("#")) {
      const end = line.indexOf("\n", at);
      at = end < 0 ? line.length : end;
      continue;
    }
    const sign = redirect.exec(rest)?.[0];
    if (sign !== undefined) {
      at += sign.length;
      at += /^[ \t]*/.exec(line.slice(at))?.[0].length ?? 0;
      if (line[at] === "(") return undefined;
      const target = wordAt(line, at);
      if (!target) return undefined;
      at = target.end;
      const kind = sign.replace(/^\d+/, "");
      if (kind === "<<" || kind === "<<-")
        documents.push({ command: open, tag: target.word.text, strips: kind === "<<-" });
      else open.redirects.push({ operator: sign, to: target.word });
      continue;
    }
    const between = operator.exec(rest)?.[0];
    if (between !== undefined) {
      if (/[()]|;;/.test(between)) return undefined;
      at += between.length;
      if (between === "\n") at = documentsAt(line, at, documents);
      close(between === "&&" || between === "||" ? between : between.startsWith("|") ? "|" : ";");
      continue;
    }
    const found = wordAt(line, at);
    if (!found) return undefined;
    if (open.words.length === 0 && compound.test(found.word.text)) return undefined;
    open.words.push(found.word);
    at = found.end;
  }
  close(";");
  return commands;
}

/** Reads the here-documents that begin at a new line; the place behind them. */
function documentsAt(
  line: string,
  from: number,
  documents: { readonly command: Open; readonly tag: string; readonly strips: boolean }[],
): number {
  let at = from;
  for (const { command, tag, strips } of documents.splice(0)) {
    const body: string[] = [];
    for (;;) {
      const end = line.indexOf("\n", at);
      const text = line.slice(at, end < 0 ? line.length : end);
      const stripped = strips ? text.replace(/^\t+/, "") : text;
      at = end < 0 ? line.length : end + 1;
      if (stripped === tag || at >= line.length) {
        if (stripped !== tag) body.push(stripped);
        break;
      }
      body.push(stripped);
    }
    command.input = body.join("\n");
  }
  return at;
}

/** The word that begins at a place; undefined where a quote is never closed. */
function wordAt(line: string, from: number): { readonly word: Word; readonly end: number } | undefined {
  let text = "";
  let plain = true;
  let at = from;
  for (; at < line.length; at++) {
    const sign = line[at] ?? "";
    if (/[\s;|&<>()]/.test(sign)) break;
    if (sign === "'") {
      const end = line.indexOf("'", at + 1);
      if (end < 0) return undefined;
      text += line.slice(at + 1, end);
      at = end;
    } else if (sign === '"') {
      const quoted = /^"((?:[^"\\]|\\[\s\S])*)"/.exec(line.slice(at));
      if (!quoted) return undefined;
      const body = quoted[1] ?? "";
      if (/(?<!\\)[$`]/.test(body)) plain = false;
      text += body.replaceAll(/\\([$`"\\])/g, "$1").replaceAll("\\\n", "");
      at += quoted[0].length - 1;
    } else if (sign === "\\") {
      text += line[++at] ?? "";
    } else if (sign === "`" || (sign === "$" && line[at + 1] === "(")) {
      const end = substitutionEnd(line, at);
      text += line.slice(at, end + 1);
      plain = false;
      at = end;
    } else {
      if (/[$*?[\]{}~]/.test(sign) && !(sign === "~" && at > from)) plain = plain && sign === "~";
      text += sign;
    }
  }
  return at === from ? undefined : { word: { text, plain }, end: at };
}

function substitutionEnd(line: string, from: number): number {
  if (line[from] === "`") {
    const end = line.indexOf("`", from + 1);
    return end < 0 ? line.length : end;
  }
  let depth = 0;
  for (let at = from + 1; at < line.length; at++) {
    if (line[at] === "(") depth++;
    else if (line[at] === ")" && --depth === 0) return at;
  }
  return line.length;
}
