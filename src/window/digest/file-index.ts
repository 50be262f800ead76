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
  const files = new Map<string, { path: string; calls: number; from: number; to: number; want: number }>();
  for (const { path, seq } of named) {
    if (seq >= before || path.endsWith("/")) continue;
    const known = files.get(path);
    if (known) {
      known.calls++;
      known.to = seq;
    } else files.set(path, { path, calls: 1, from: seq, to: seq, want: want(path) });
  }
  return [...files.values()];
}

/** Names of files as an index shows them, with what they take there: they come back in the index of each epoch. */
export class FileNames {
  readonly #counter: TokenCounter;
  readonly #known = new Map<string, PlacedName>();

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /** The name of a file that no folder was asked for yet. */
  of(path: string): PlacedName {
    let known = this.#known.get(path);
    if (!known) this.#known.set(path, (known = { own: folderOfPath(path), folder: undefined, text: "", tokens: 0 }));
    return known;
  }

  /** The name of a file in a folder. */
  in(folder: string, path: string, name: PlacedName): PlacedName {
    if (name.folder === folder) return name;
    name.folder = folder;
    name.text = inlineText(path.startsWith(folder) ? path.slice(folder.length) : path);
    name.tokens = this.#counter.count(` ${name.text},`);
    return name;
  }
}

/** A file's name in the folder that it was last asked for in. */
interface PlacedName {
  /** The folder of its path. */
  readonly own: string;
  folder: string | undefined;
  text: string;
  tokens: number;
}

/** A file in its folder. */
interface Entry {
  readonly file: IndexedFile;
  readonly name: PlacedName;
  folder: Folder | undefined;
  isShown: boolean;
}

/** The files of a folder; a file of a folder below it stands with its way there. */
interface Folder {
  readonly path: string;
  readonly head: string;
  readonly entries: Entry[];
  /** The calls of all its files, and their messages. */
  calls: number;
  from: number;
  to: number;
  want: number;
  /** Tokens of its line without names. */
  tokens: number;
}

/**
 * One line a folder: its name, then the names of its files, the most wanted first. A folder whose names are not all
 * shown says how many calls it had and between which messages. Folders that have no room of their own stand as the one
 * above them.
 */
export function* renderFiles(
  files: readonly IndexedFile[],
  counter: TokenCounter,
  cap: number,
  names: FileNames,
): Work<FileIndex> {
  if (files.length === 0) return { text: "", stubs: [] };
  const root = commonFolder(files.map(({ path }) => path));
  const title =
    root === "" ? "files, which recall takes by path:" : `files under ${inlineText(root)}, which recall takes by path:`;
  const cost = (text: string): number => counter.count(`\n${text}`);
  let room = cap - cost(title);
  const entries = files.map((file): Entry => ({ file, name: names.of(file.path), folder: undefined, isShown: false }));
  const folders = foldersOf(entries, root);
  for (const folder of folders) folder.tokens = cost(bareLine(folder));
  let bare = folders.reduce((all, { tokens }) => all + tokens, 0);
  while (folders.length > 1 && bare > room * foldersShare) {
    bare += joinLeast(folders, root, cost);
    yield;
  }
  room -= bare;
  if (room < 0) return { text: "", stubs: [] };
  const text = (): string => [title, ...folders.map((folder) => lineOf(folder, names))].join("\n");
  const wanted = entries.toSorted(byWant);
  const shown: Entry[] = [];
  // A folder whose names are all shown says no more than these, which leaves room for others.
  for (let tries = 0; tries < 3 && shown.length < files.length && room > 0; tries++) {
    for (const entry of wanted) {
      if (entry.isShown) continue;
      const { tokens } = nameIn(entry, names);
      if (tokens > room) continue;
      room -= tokens;
      entry.isShown = true;
      shown.push(entry);
      if (room <= 0) break;
    }
    yield;
    room = cap - cost(text());
  }
  while (cost(text()) > cap && shown.length > 0) {
    (shown.pop() as Entry).isShown = false;
    yield;
  }
  return { text: text(), stubs: shown.map(({ file }) => stubOf(file)) };
}

/** The index's own stub of a file, which recall takes by its path. */
function stubOf({ path, calls, to }: IndexedFile): Stub {
  return { tool: fileStub, subject: path, id: recallId(to), count: calls };
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

function foldersOf(entries: readonly Entry[], root: string): Folder[] {
  const folders = new Map<string, Folder>();
  for (const entry of entries) {
    const path = entry.name.own || root;
    let folder = folders.get(path);
    if (!folder) folders.set(path, (folder = emptyFolder(path, root)));
    add(folder, [entry]);
  }
  return [...folders.values()];
}

function emptyFolder(path: string, root: string): Folder {
  const head = headOf(path.startsWith(root) && path !== root ? path.slice(root.length) : "./");
  return { path, head, entries: [], calls: 0, from: Infinity, to: -Infinity, want: 0, tokens: 0 };
}

function add(folder: Folder, entries: readonly Entry[]): void {
  for (const entry of entries) {
    const { calls, from, to, want } = entry.file;
    entry.folder = folder;
    folder.entries.push(entry);
    folder.calls += calls;
    folder.from = Math.min(folder.from, from);
    folder.to = Math.max(folder.to, to);
    folder.want += want;
  }
}

/**
 * The folder that is wanted least for its tokens becomes part of the one above it, which stands last.
 *
 * @returns the tokens that the folders take more
 */
function joinLeast(folders: Folder[], root: string, cost: (text: string) => number): number {
  let least: Folder | undefined;
  let leastWorth = Infinity;
  for (const folder of folders) {
    const worth = folder.path === root || folder.path === "" ? Infinity : folder.want / folder.tokens;
    if (worth < leastWorth) [least, leastWorth] = [folder, worth];
  }
  if (!least) return 0;
  const parent = folderOfPath(least.path.slice(0, -1));
  const above = parent.length < root.length ? root : parent;
  folders.splice(folders.indexOf(least), 1);
  const at = folders.findIndex(({ path }) => path === above);
  const [joined] = at < 0 ? [emptyFolder(above, root)] : folders.splice(at, 1);
  if (!joined) return 0;
  const before = joined.tokens + least.tokens;
  add(joined, least.entries);
  joined.tokens = cost(bareLine(joined));
  folders.push(joined);
  return joined.tokens - before;
}

function byWant({ file: left }: Entry, { file: right }: Entry): number {
  return right.want - left.want || right.to - left.to;
}

function nameIn({ file: { path }, folder, name }: Entry, names: FileNames): PlacedName {
  return names.in(folder?.path ?? "", path, name);
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

function bareLine({ head, calls, from, to }: Folder): string {
  return `${head} ×${calls} ${recallId(from, to)}`;
}

function lineOf(folder: Folder, names: FileNames): string {
  const named = folder.entries.filter(({ isShown }) => isShown).sort(byWant);
  const listed = named.map((entry) => nameIn(entry, names).text).join(", ");
  if (named.length === folder.entries.length) return `${folder.head} ${listed}`;
  return `${bareLine(folder)}${listed === "" ? "" : `: ${listed}, …`}`;
}
