/** Shell reads: the lines of files that a pipeline prints. */
import type { Command, Word } from "./shell-words.ts";
import type { Piece } from "./shown.ts";

/** Programs that print nothing. */
const silent =
  /^(?:true|:|export|set|mkdir|touch|unset|sleep|source|\.|alias|shopt|ulimit|wait|trap|chmod|rm|mv|cp|test|\[)$/;
/** Programs that run the one named behind them. */
const wrapper = /^(?:sudo|time|command|env|nohup|exec|builtin|noglob)$/;
/** Options of a search that take the next word. */
const valued =
  /^-[ABCemgtTfd]$|^--(?:glob|type|max-count|regexp|file|context|after-context|before-context|include|exclude|exclude-dir|type-not)$/;
/** Options of a search whose output is not lines of files. */
const unlike =
  /^-[a-zA-Z]*[lLcqoZ][a-zA-Z]*$|^--(?:files|count|json|heading|only-matching|quiet|replace|stats|files-with-matches|files-without-match|vimgrep)/;

/** The program of a command, without what only surrounds it, and its arguments. */
export function programOf({ words }: Command): { readonly name: string; readonly args: readonly Word[] } {
  let at = 0;
  while (at < words.length && (/^\w+=/.test(words[at]?.text ?? "") || wrapper.test(words[at]?.text ?? ""))) at++;
  const name = words[at]?.text ?? "";
  return { name: name.slice(name.lastIndexOf("/") + 1), args: words.slice(at + 1) };
}

/** The output of a pipeline in pieces; none where it prints nothing. */
export function pieceOf(pipeline: readonly Command[], place: (path: string) => string): readonly Piece[] {
  const [first, ...filters] = pipeline;
  if (!first || first.words.length === 0) return [];
  const { name, args } = programOf(first);
  const away = pipeline.some(({ redirects }) =>
    redirects.some(({ operator }) => /^(?:1?>{1,2}\|?|&>>?)$/.test(operator)),
  );
  const inPlace = /^(?:sed|perl)$/.test(name) && args.some(({ text }) => /^-\w*i|^--in-place/.test(text));
  if (silent.test(name) || away || inPlace) return [];
  if (name === "echo" || name === "printf") return filters.length > 0 ? [other] : saidOf(name, args);
  const pieces = readOf(name, args, first, place);
  return filters.reduce<readonly Piece[]>((shown, filter) => filtered(shown, programOf(filter)), pieces);
}

const other: Piece = { kind: "other" };

function saidOf(name: string, args: readonly Word[]): readonly Piece[] {
  if (!args.every(({ plain }) => plain)) return [other];
  const texts = args.map(({ text }) => text).filter((text) => text !== "-e" && text !== "-n");
  const text = name === "echo" ? texts.join(" ") : texts.length === 1 ? (texts[0] ?? "") : undefined;
  if (text === undefined || text.includes("%")) return [other];
  const said = name === "echo" && !args.some((word) => word.text === "-e") ? text : text.replaceAll("\\n", "\n");
  const trimmed = said.replace(/^\n+/, "").trimEnd();
  return [trimmed === "" ? other : { kind: "said", text: trimmed }];
}

function readOf(
  name: string,
  args: readonly Word[],
  { input, redirects }: Command,
  place: (path: string) => string,
): readonly Piece[] {
  const files = args.filter(({ text }) => !text.startsWith("-"));
  const stdin = redirects.find(({ operator }) => operator === "<")?.to;
  if (input !== undefined) return [other];
  const known = (words: readonly Word[], piece: (path: string) => Piece): readonly Piece[] =>
    words.length > 0 && words.every(({ plain }) => plain) ? words.map(({ text }) => piece(place(text))) : [other];
  switch (name) {
    case "cat":
    case "nl":
    case "bat":
    case "batcat": {
      const own = name === "cat" || name === "bat" ? files : files.filter(({ text }) => !/^[atn]$/.test(text));
      return known(own.length > 0 ? own : stdin ? [stdin] : [], (path) => ({
        kind: "lines",
        path,
        from: 1,
        whole: true,
      }));
    }
    case "head":
    case "tail":
      return endsOf(name, args, known);
    case "sed":
      return rangesOf(args, known);
    case "awk":
      return rowsOf(args, known);
    case "grep":
    case "egrep":
    case "rg":
    case "ag":
      return foundOf(name, args, known);
    case "git":
      return args.some(({ text }) => text === "grep") ? [{ kind: "many" }] : [other];
    default:
      return [other];
  }
}

type Known = (words: readonly Word[], piece: (path: string) => Piece) => readonly Piece[];

/** The number of lines that `head` or `tail` shows; `+12` begins at a line. */
function countOf(args: readonly Word[]): { readonly count: string; readonly files: readonly Word[] } {
  const at = args.findIndex(({ text }) => /^-(?:n|\d|-lines)|^\+\d/.test(text));
  const option = args[at]?.text ?? "";
  const apart = option === "-n" || option === "--lines";
  const count = apart ? (args[at + 1]?.text ?? "10") : option === "" ? "10" : option.replace(/^(?:-n|--lines=|-)/, "");
  const files = args.filter(
    (word, index) => !word.text.startsWith("-") && !word.text.startsWith("+") && !(apart && index === at + 1),
  );
  return { count, files };
}

function endsOf(name: string, args: readonly Word[], known: Known): readonly Piece[] {
  if (args.some(({ text }) => /^-(?:c|-bytes|f)/.test(text))) return [other];
  const { count, files } = countOf(args);
  if (files.length !== 1) return [other];
  if (count.startsWith("+"))
    return known(files, (path) => ({ kind: "lines", path, from: Number(count) || 1, whole: false }));
  const most = Math.abs(Number(count)) || 10;
  return known(files, (path) =>
    count.startsWith("-") && count !== "-"
      ? { kind: "lines", path, from: name === "head" ? 1 : 0, whole: false }
      : { kind: "lines", path, from: name === "head" ? 1 : 0, most, whole: false },
  );
}

function rangesOf(args: readonly Word[], known: Known): readonly Piece[] {
  if (!args.some(({ text }) => /^-\w*n/.test(text) || text === "--quiet")) return [other];
  const scripts = args.flatMap((word, at) => (args[at - 1]?.text === "-e" ? [word] : []));
  const bare = args.filter((word, at) => !word.text.startsWith("-") && args[at - 1]?.text !== "-e");
  const files = scripts.length > 0 ? bare : bare.slice(1);
  const parts = (scripts.length > 0 ? scripts : bare.slice(0, 1)).flatMap(({ text }) => text.split(/[;\n]/));
  const ranges = parts.flatMap((part) => {
    const [, from, to] = /^\s*(\d+)(?:\s*,\s*(\d+|\$|\+\d+))?\s*p\s*$/.exec(part) ?? [];
    if (from === undefined) return [];
    const end = to === undefined ? Number(from) : to.startsWith("+") ? Number(from) + Number(to) : Number(to);
    return [{ from: Number(from), ...(Number.isFinite(end) && { most: end - Number(from) + 1 }) }];
  });
  if (files.length !== 1) return [other];
  if (ranges.length !== parts.filter((part) => part.trim() !== "").length)
    return known(files, (path) => ({ kind: "found", path }));
  return ranges.flatMap((range) => known(files, (path) => ({ kind: "lines", path, ...range, whole: false })));
}

function rowsOf(args: readonly Word[], known: Known): readonly Piece[] {
  const [program, ...files] = args.filter(({ text }) => !text.startsWith("-"));
  if (!program || files.length !== 1) return [other];
  const from = /NR\s*(>=?|==)\s*(\d+)/.exec(program.text);
  if (/print(?!\s*(?:;|\}|$))/.test(program.text) && !program.text.includes("$0")) return [other];
  const first = from && !program.text.includes("$0") ? Number(from[2]) + (from[1] === ">" ? 1 : 0) : 0;
  return known(files, (path) =>
    first > 0 ? { kind: "lines", path, from: first, whole: false } : { kind: "found", path },
  );
}

function foundOf(name: string, args: readonly Word[], known: Known): readonly Piece[] {
  const options = args.filter(({ text }) => text.startsWith("-") && text !== "-");
  if (options.some(({ text }) => unlike.test(text))) return [other];
  const given = options.some(({ text }) => text === "-e" || text.startsWith("--regexp"));
  const bare = args.filter((word, at) => !word.text.startsWith("-") && !valued.test(args[at - 1]?.text ?? ""));
  const files = given ? bare : bare.slice(1);
  const deep = name === "rg" || name === "ag" || options.some(({ text }) => /^-\w*[rR]|^--recursive/.test(text));
  const numbered = options.some(({ text }) => /^-\w*n|^--line-number/.test(text)) || name === "ag";
  const [only] = files;
  const isFile = only !== undefined && /[^/]\.\w{1,10}$|(?:^|\/)[A-Z]\w+file$/.test(only.text) && only.plain;
  if (
    files.length === 1 &&
    isFile &&
    !options.some(({ text }) => /^-\w*H/.test(text)) &&
    !(deep && name.endsWith("grep"))
  )
    return known(files, (path) => ({ kind: "found", path }));
  return numbered ? [{ kind: "many" }] : [other];
}

/** The pieces that a filter leaves. */
function filtered(pieces: readonly Piece[], { name, args }: ReturnType<typeof programOf>): readonly Piece[] {
  const [piece] = pieces;
  if (pieces.length !== 1 || !piece) return [other];
  if (/^(?:cat|less|more|tee)$/.test(name) || (name === "nl" && piece.kind === "lines")) return pieces;
  if (piece.kind === "many" || piece.kind === "found")
    return /^(?:head|tail|grep|rg|sort|uniq)$/.test(name) && !args.some(({ text }) => unlike.test(text))
      ? pieces
      : [other];
  if (piece.kind !== "lines") return [other];
  const { path, from } = piece;
  if (name === "head") {
    const most = Math.abs(Number(countOf(args).count)) || 10;
    return [{ ...piece, most: Math.min(piece.most ?? Infinity, most), whole: false }];
  }
  if (name === "sed") {
    const range = rangesOf([...args, { text: path, plain: true }], (words, of) => words.map(({ text }) => of(text)));
    return range.flatMap((one): readonly Piece[] =>
      one.kind === "lines" ? [{ ...one, from: from === 0 ? 0 : from + one.from - 1 }] : [one],
    );
  }
  if (name === "tail") return [{ kind: "lines", path, from: 0, whole: false }];
  return /^(?:e?grep|rg)$/.test(name) && !args.some(({ text }) => unlike.test(text) || /^-\w*n/.test(text))
    ? [{ kind: "found", path }]
    : [other];
}
