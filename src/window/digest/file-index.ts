/** The index of files: those that calls had to do with, as far as a cap has room for their names. */
import { inlineText } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { recallId } from "../stub/stub.ts";
import type { Stub } from "../window.ts";

/** A file of the index. */
export interface IndexedFile {
  readonly path: string;
  /** How many calls had to do with it, and the message of the last. */
  readonly calls: number;
  readonly to: number;
  /** How much it is wanted; the names of the files with the most are shown first. */
  readonly want: number;
}

/** The text of an index, and the files that it names. */
export interface FileIndex {
  readonly text: string;
  readonly stubs: readonly Stub[];
}

/** The tool of a stub that stands for a file and for no call; its subject is the path. */
export const fileStub = "file";

/** Files that calls had to do with, by path, in the order they came up. */
export function filesOf(
  named: readonly { readonly path: string; readonly seq: number }[],
  before: number,
  want: (path: string) => number,
): readonly IndexedFile[] {
  const files = new Map<string, { path: string; calls: number; to: number; want: number }>();
  for (const { path, seq } of named) {
    if (seq >= before || path.endsWith("/")) continue;
    const known = files.get(path);
    if (known) {
      known.calls++;
      known.to = seq;
    } else files.set(path, { path, calls: 1, to: seq, want: want(path) });
  }
  return [...files.values()];
}

/**
 * One line: the folder that all files lie in, then the rest of their paths, the most wanted first, as far as the cap has
 * room. Files whose lines are shown stand elsewhere: the room is the same whether they are among these or not.
 */
export function renderFiles(files: readonly IndexedFile[], counter: TokenCounter, cap: number): FileIndex {
  const root = commonFolder(files.map(({ path }) => path));
  const title =
    root === "" ? "files that recall takes by path:" : `files under ${inlineText(root)} that recall takes by path:`;
  const named: { readonly file: IndexedFile; readonly name: string }[] = [];
  const text = (): string =>
    `${title} ${named.map(({ name }) => name).join(", ")}${named.length < files.length ? ", …" : ""}`;
  let room = cap - counter.count(`\n${title}, …`);
  for (const file of files.toSorted(byWant)) {
    if (room <= 0) break;
    const name = inlineText(file.path.slice(root.length));
    const tokens = counter.count(`, ${name}`);
    if (tokens > room) continue;
    room -= tokens;
    named.push({ file, name });
  }
  while (named.length > 0 && counter.count(`\n${text()}`) > cap) named.pop();
  if (named.length === 0) return { text: "", stubs: [] };
  return { text: text(), stubs: named.map(({ file }) => stubOf(file)) };
}

/** The index's own stub of a file, which recall takes by its path. */
function stubOf({ path, calls, to }: IndexedFile): Stub {
  return { tool: fileStub, subject: path, id: recallId(to), count: calls };
}

/** The folder that all paths lie in, with its slash; empty where there is none. */
function commonFolder(paths: readonly string[]): string {
  let common = folderOfPath(paths[0] ?? "");
  for (const path of paths) while (!path.startsWith(common)) common = folderOfPath(common.slice(0, -1));
  return common === "/" ? "" : common;
}

/** A path without its last part; empty where it has one part. */
function folderOfPath(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

function byWant(left: IndexedFile, right: IndexedFile): number {
  return right.want - left.want || right.to - left.to;
}
