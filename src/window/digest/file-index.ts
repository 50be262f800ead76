/** The index of files: every file that calls had to do with, by folder, as far as a cap has room for their names. */
import { inlineText, looksStructural } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import { recallId } from "../stub/stub.ts";
import type { Stub } from "../window.ts";

/** A file of the index. */
export interface IndexedFile {
  readonly path: string;
  /** How many calls had to do with it, and the messages of the first and the last. */
  readonly calls: number;
  readonly from: number;
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
  const files = new Map<string, IndexedFile>();
  for (const { path, seq } of named) {
    if (seq >= before || path.endsWith("/")) continue;
    const known = files.get(path);
    if (known) files.set(path, { ...known, calls: known.calls + 1, to: seq });
    else files.set(path, { path, calls: 1, from: seq, to: seq, want: want(path) });
  }
  return [...files.values()];
}

/** The files of a folder; a file of a folder below it stands with its way there. */
interface Folder {
  readonly path: string;
  readonly files: readonly IndexedFile[];
}

/**
 * One line a folder: its name, then the names of its files, the most wanted first. A folder whose names are not all
 * shown says how many calls it had and between which messages. Folders that have no room of their own stand as the one
 * above them.
 */
export function* renderFiles(files: readonly IndexedFile[], counter: TokenCounter, cap: number): Work<FileIndex> {
  if (files.length === 0) return { text: "", stubs: [] };
  const root = commonFolder(files.map(({ path }) => path));
  const title =
    root === "" ? "files, which recall takes by path:" : `files under ${inlineText(root)}, which recall takes by path:`;
  let folders = foldersOf(files, root);
  const cost = (text: string): number => counter.count(`\n${text}`);
  let room = cap - cost(title);
  const bareCosts = new Map<Folder, number>();
  const bareCost = (folder: Folder): number => {
    const tokens = bareCosts.get(folder) ?? cost(lineOf(folder, root, new Set()));
    bareCosts.set(folder, tokens);
    return tokens;
  };
  let bare = sum(folders.map(bareCost));
  while (folders.length > 1 && bare > room * foldersShare) {
    folders = withoutLeast(folders, root, bareCost);
    bare = sum(folders.map(bareCost));
    yield;
  }
  room -= bare;
  if (room < 0) return { text: "", stubs: [] };
  const folderOf = new Map(folders.flatMap((folder) => folder.files.map((file) => [file, folder] as const)));
  const shown = new Set<IndexedFile>();
  const text = (): string => [title, ...folders.map((folder) => lineOf(folder, root, shown))].join("\n");
  const wanted = files.toSorted((left, right) => right.want - left.want || right.to - left.to);
  // A folder whose names are all shown says no more than these, which leaves room for others.
  for (let tries = 0; tries < 3 && shown.size < files.length && room > 0; tries++) {
    for (const file of wanted) {
      const folder = folderOf.get(file);
      if (shown.has(file) || !folder) continue;
      const tokens = counter.count(` ${nameIn(folder, file)},`);
      if (tokens > room) continue;
      room -= tokens;
      shown.add(file);
    }
    yield;
    room = cap - cost(text());
  }
  const rarest = [...shown].toReversed();
  while (cost(text()) > cap && rarest.length > 0) {
    shown.delete(rarest.shift() as IndexedFile);
    yield;
  }
  return { text: text(), stubs: [...shown].map(stubOf) };
}

/** The index's own stub of a file, which recall takes by its path. */
function stubOf({ path, calls, to }: IndexedFile): Stub {
  return { tool: fileStub, subject: path, id: recallId(to), count: calls };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}

/** Parts of a folder's path that are shown, the last. */
const shownParts = 3;

/** Share of the index for the folders alone, so that the rest has room for names. */
const foldersShare = 0.4;

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

function foldersOf(files: readonly IndexedFile[], root: string): readonly Folder[] {
  const folders = new Map<string, IndexedFile[]>();
  for (const file of files) {
    const path = folderOfPath(file.path) || root;
    const members = folders.get(path);
    if (members) members.push(file);
    else folders.set(path, [file]);
  }
  return [...folders].map(([path, members]) => ({ path, files: members }));
}

/** The folder that is wanted least for its tokens becomes part of the one above it. */
function withoutLeast(folders: readonly Folder[], root: string, cost: (folder: Folder) => number): readonly Folder[] {
  let least: Folder | undefined;
  let leastWorth = Infinity;
  for (const folder of folders) {
    const worth = folder.path === root || folder.path === "" ? Infinity : wantOf(folder) / cost(folder);
    if (worth < leastWorth) [least, leastWorth] = [folder, worth];
  }
  if (!least) return folders;
  const parent = folderOfPath(least.path.slice(0, -1));
  const above = parent.length < root.length ? root : parent;
  const rest = folders.filter((folder) => folder !== least);
  const known = rest.find(({ path }) => path === above);
  const joined = { path: above, files: [...(known?.files ?? []), ...least.files] };
  return [...rest.filter((folder) => folder !== known), joined];
}

function wantOf({ files }: Folder): number {
  return files.reduce((all, { want }) => all + want, 0);
}

function nameIn({ path }: Folder, file: IndexedFile): string {
  return inlineText(file.path.startsWith(path) ? file.path.slice(path.length) : file.path);
}

/** The end of a long folder: recall finds a file by the end of its path. */
function shortened(folder: string): string {
  const parts = folder.split("/");
  return parts.length > shownParts + 1 ? `…/${parts.slice(-shownParts - 1).join("/")}` : folder;
}

/** A folder's name at the beginning of a line, where it must not pass for a heading or a label. */
function headOf(folder: string): string {
  const head = inlineText(shortened(folder));
  return looksStructural(inlineText(folder)) ? `./${head}` : head;
}

function lineOf(folder: Folder, root: string, shown: ReadonlySet<IndexedFile>): string {
  const { path, files } = folder;
  const named = files
    .filter((file) => shown.has(file))
    .toSorted((left, right) => right.want - left.want || right.to - left.to);
  const names = named.map((file) => nameIn(folder, file)).join(", ");
  const head = headOf(path.startsWith(root) && path !== root ? path.slice(root.length) : "./");
  if (named.length === files.length) return `${head} ${names}`;
  const calls = sum(files.map((file) => file.calls));
  const range = recallId(Math.min(...files.map(({ from }) => from)), Math.max(...files.map(({ to }) => to)));
  return `${head} ×${calls} ${range}${names === "" ? "" : `: ${names}, …`}`;
}
