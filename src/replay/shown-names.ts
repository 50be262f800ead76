/** The names and ids that Windrow's own texts in a window show: those that a reader can ask recall for. */
import { messageText, ownText } from "../message/message.ts";
import type { Message } from "../message/message.ts";
import { isPath, parseRecallId } from "../window/stub/stub.ts";
import type { Edit, Stub } from "../window/window.ts";

/** An id of more messages than this names none of them: a reader cannot know what lies behind it. */
export const narrowRange = 8;

/** The names in a window that recall takes. */
export interface ShownNames {
  /** Ids of at most {@link narrowRange} messages. */
  readonly ids: readonly { readonly from: number; readonly to: number }[];
  /** The name under which the window shows a source; undefined where it does not. */
  nameOf(source: Stub): string | undefined;
}

/** Reads the labelled messages of a window, and the texts in the place of results. */
export function shownNames(edits: readonly Edit[], window: readonly Message[]): ShownNames {
  const lines = window
    .flatMap((message) => (message.status === "synthetic" ? messageText(message).split("\n") : []))
    .filter((line) => !/^[ |]/.test(line));
  const results = new Set(
    window.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-result" ? [ownText(part)] : []))),
  );
  const stubs = edits.filter(({ kind, text }) => kind === "stub" && results.has(text));
  const ids = [
    ...lines,
    ...stubs.flatMap(({ text = "" }) => text.split("\n").filter((line) => line.includes("recall"))),
  ]
    .flatMap((line) => line.match(/\bm\d+(?:-m\d+)?\b/g) ?? [])
    .flatMap((id) => parseRecallId(id) ?? []);
  const paths = pathsIn(lines);
  const subjects = new Set(
    edits
      .flatMap(({ stubs: named = [] }) => named)
      .filter(({ tool, subject }) => subject !== "" && lines.some((line) => line.startsWith(`${tool} ${subject} `)))
      .map(keyOf),
  );
  return {
    ids: [...new Map(ids.map((id) => [`${id.from} ${id.to}`, id])).values()].filter(
      ({ from, to }) => to - from < narrowRange,
    ),
    nameOf: (source) => {
      // A long path is shortened to its end.
      const subject = source.subject.replace(/^…[^/]*\//, "");
      if (isPath(subject)) return paths.get(lastPart(subject))?.find((path) => isSame(path, subject));
      return subjects.has(keyOf(source)) ? source.subject : undefined;
    },
  };
}

function keyOf({ tool, subject }: Stub): string {
  return `${tool}\n${subject}`;
}

function lastPart(path: string): string {
  return path.slice(path.replace(/\/$/, "").lastIndexOf("/") + 1);
}

/** Whether two spellings of a path name one file: one is the end of the other. */
function isSame(left: string, right: string): boolean {
  return left === right || left.endsWith(`/${right}`) || right.endsWith(`/${left}`);
}

/** The paths in lines, by their last part: those of an index of files with the folder that all lie in. */
function pathsIn(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const paths = new Map<string, string[]>();
  const add = (path: string): void => {
    const plain = path.replace(/^(?:…\/|\.\/)+/, "");
    const known = paths.get(lastPart(plain));
    if (known) known.push(plain);
    else paths.set(lastPart(plain), [plain]);
  };
  for (const line of lines) {
    const index = /^files(?: under (.*?))? that recall takes by path: (.*)$/.exec(line);
    if (index) for (const name of (index[2] ?? "").split(", ")) add(`${index[1] ?? ""}${name}`);
    else for (const word of line.split(/[\s,()[\]:]+/)) if (isPath(word)) add(word);
  }
  return paths;
}
