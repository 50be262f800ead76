/**
 * The comments of src and web say what the code does, in words that a reader of this repository has. Each file has a header. No
 * header and no comment of a declaration begins with What, Who, Where or Of. No comment names a seed, a conflict or a law
 * by its number, or a document that is not there. An exported name has a sentence.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { conclude, filesUnder, root } from "./package-files.mjs";

/** Faults that rooms still had when the rule came. A number only shrinks, and a room without a number has none. */
const allowed = new Map(Object.entries({}));

const rules = [
  {
    advice: "Begin the file with `/** … */` that says what it holds.",
    faultsOf: ({ header }) => (header.text === "" ? [header] : []),
  },
  {
    advice: "Begin the header with the noun of what the file holds.",
    faultsOf: ({ header }) => (/^(?:What|Who|Whose|Whom|Where|Of)\b/.test(header.text) ? [header] : []),
  },
  {
    advice: "Begin the comment with the noun of what the code stands for.",
    faultsOf: ({ openings }) => openings.filter(({ line }) => line > 1),
  },
  {
    advice: "Say what the code does, or link to a page of docs/.",
    faultsOf: ({ lines }) => lines.filter(({ text }) => /\bseeds?[ -]0\d\d|\bC-\d+|\blaws? \d/i.test(text)),
  },
  {
    advice: "The document is not there: name one of this repository by its path.",
    faultsOf: ({ lines }) =>
      lines.filter(({ text }) =>
        (/^(?:\/?\*|\/\/)/.test(text) ? (text.match(/(?<![\w`".])[\w./-]+\.md\b/g) ?? []) : []).some(
          (path) => !existsSync(join(root, path)),
        ),
      ),
  },
  {
    advice: "Say what the exported name is for, in four words or more.",
    faultsOf: ({ exported }) => exported.filter(({ text }) => (text.match(/[\w'-]+/g) ?? []).length < 4),
  },
];

const found = filesUnder(["src", "web"], /\.tsx?$/).flatMap((file) => {
  const source = readFileSync(join(root, file), "utf8");
  const comments = {
    header: headerOf(source),
    openings: openingsOf(source),
    lines: linesOf(source),
    exported: exportedOf(file, source),
  };
  return rules.flatMap(({ advice, faultsOf }) =>
    faultsOf(comments).map(({ line, text }) => ({
      room: file.startsWith("web/") ? "web" : file.split("/")[1],
      fault: `${file}:${line} ${JSON.stringify(text.slice(0, 90))}. ${advice}`,
    })),
  );
});

const rooms = new Map();
for (const one of found) rooms.set(one.room, [...(rooms.get(one.room) ?? []), one]);
const left = [...rooms].map(([room, faults]) => `${room} ${faults.length}`).join(", ");
conclude(
  [...rooms].flatMap(([room, faults]) => {
    const most = allowed.get(room) ?? 0;
    if (faults.length <= most) return [];
    return [...faults.map(({ fault }) => fault), `${room} has ${faults.length} such comments; at most ${most}.`];
  }),
  left === "" ? "plain words" : `left: ${left}`,
);

/** The comment that a file begins with. */
function headerOf(source) {
  const [, text = ""] = /^(?:#!.*\n)?\/\*\*([\s\S]*?)\*\//.exec(source) ?? [];
  return { line: 1, text: plain(text) };
}

/** The comments of declarations that begin with a question word or Of, each with its first line. */
function openingsOf(source) {
  return [...source.matchAll(/\/\*\*\s+(?:\* )?((?:What|Who|Whose|Whom|Where|Of)\b[^\n]*)/g)].map((match) => ({
    line: source.slice(0, match.index).split("\n").length,
    text: match[1],
  }));
}

/** The lines of a file, each with the first words of the comment line after it: a reference may stand in two lines. */
function linesOf(source) {
  const lines = source.split("\n").map((text) => text.trim());
  return lines.map((text, index) => {
    const [, next = ""] = /^(?:\*|\/\/) (\S+)/.exec(lines[index + 1] ?? "") ?? [];
    return { line: index + 1, text: `${text} ${next}` };
  });
}

/** The descriptions of what a file exports by itself. A name without one is check-api's business. */
function exportedOf(file, source) {
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.ES2023, true);
  return parsed.statements.flatMap((statement) => {
    const isExported = ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(isExport);
    const comment = isExported ? statement.jsDoc?.at(-1) : undefined;
    if (!comment) return [];
    const { line } = parsed.getLineAndCharacterOfPosition(comment.getStart());
    return [{ line: line + 1, text: plain(comment.getText().slice(3, -2)) }];
  });
}

function isExport(modifier) {
  return modifier.kind === ts.SyntaxKind.ExportKeyword;
}

/** A comment's text as one line. */
function plain(comment) {
  return comment
    .replaceAll(/^\s*\*? ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
