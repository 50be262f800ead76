/**
 * Files that an agent keeps for later sessions. They are entries of a memory's log, in no folder of a disk: each version
 * stays, passes the store's mask, names the session that wrote it, and can be taken back.
 */
import { WindrowError } from "../../errors.ts";
import { asString, defined } from "../../message/json.ts";
import type { JsonObject } from "../../message/message.ts";
import type { Scope, Store } from "../../store/store.ts";
import { FoldedLog } from "../log/memory-log.ts";
import type { Fold, MemoryLogOptions } from "../log/memory-log.ts";
import { isWithin, memoryPath, memoryRoot } from "./path.ts";

/** The way a version came to be: `create` is written anew, all others go on from the version before. */
export type FileChange = "create" | "replace" | "insert" | "rename" | "undo" | "delete";

/** One version of a memory file. */
export interface FileVersion {
  readonly path: string;
  /** From 1, by file. */
  readonly version: number;
  readonly change: FileChange;
  /** The text; null where the file was deleted. */
  readonly text: string | null;
  /** The session that wrote it, where it was named. */
  readonly sessionId?: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
}

/** A file as a list shows it. */
export interface ListedFile {
  readonly path: string;
  /** Bytes of its text in UTF-8. */
  readonly bytes: number;
  readonly version: number;
  /** The time of its newest version; ISO 8601, UTC. */
  readonly timestamp: string;
}

/** The options of {@link MemoryFiles}. */
export interface MemoryFilesOptions extends MemoryLogOptions {
  /** The session that writes, for the record of who wrote what. Default: none. */
  readonly sessionId?: string;
  /** Most bytes of a file. Default 262,144. */
  readonly maxBytes?: number;
  /** Most files. Default 1,000. */
  readonly maxFiles?: number;
}

/** The name of the log, and the type of its entries. */
export const filesName = "files";
const fileType = "file";

const defaultMaxBytes = 262_144;
const defaultMaxFiles = 1_000;

/** A version, with the number of the one that an undo went back to. */
type KeptVersion = FileVersion & { readonly to?: number };

/** The versions of each path, oldest first. */
type Files = Map<string, KeptVersion[]>;

const fold: Fold<Files> = {
  empty: () => new Map(),
  apply(files, { type, data, timestamp }) {
    const { path, change, text, session, to } = data;
    if (type !== fileType || typeof path !== "string") return;
    const versions = files.get(path) ?? [];
    files.set(path, versions);
    const more = defined({ sessionId: asString(session), to: typeof to === "number" ? to : undefined });
    const known = { path, change: change as FileChange, text: asString(text) ?? null };
    versions.push({ ...known, version: versions.length + 1, ...more, timestamp });
  },
};

/** The memory files of one owner. Several processes may write; each change sees the ones before it. */
export class MemoryFiles {
  readonly #files: FoldedLog<Files>;
  readonly #options: MemoryFilesOptions;

  /** @param owner - the tenant and the user whose files they are; without a user, those of sessions without one */
  constructor(store: Store, owner: Scope, options: MemoryFilesOptions = {}) {
    this.#files = new FoldedLog(store, owner, filesName, fold, options);
    this.#options = options;
  }

  /** The id of the session that holds them, for what has no other source. */
  get sessionId(): string {
    return this.#files.ids[0];
  }

  /** The files at or below a path, by path. */
  async list(folder = memoryRoot): Promise<readonly ListedFile[]> {
    const newest = await this.newest(folder);
    return newest.map(({ path, version, timestamp, text }) => ({
      path,
      bytes: Buffer.byteLength(text ?? ""),
      version,
      timestamp,
    }));
  }

  /** The newest versions of the files at or below a path, by path, each with its text. */
  async newest(folder = memoryRoot): Promise<readonly FileVersion[]> {
    const within = memoryPath(folder);
    const newest = [...(await this.#files.state()).values()].flatMap((versions) => versions.at(-1) ?? []);
    const live = newest.filter(({ path, text }) => text !== null && isWithin(path, within));
    return live.toSorted((left, right) => (left.path < right.path ? -1 : 1));
  }

  /**
   * The text of a file.
   *
   * @throws WindrowError `not-found`
   */
  async read(path: string): Promise<string> {
    return textOf(await this.#files.state(), memoryPath(path));
  }

  /** Every version of a file, oldest first; none for one that never was. */
  async versions(path: string): Promise<readonly FileVersion[]> {
    return [...((await this.#files.state()).get(memoryPath(path)) ?? [])];
  }

  /**
   * Makes a file, or with `overwrite` writes it anew.
   *
   * @throws WindrowError `bad-option` where it exists, is a folder, is too large, or there are too many
   */
  async create(path: string, text: string, { overwrite = false } = {}): Promise<void> {
    const at = filePath(path);
    await this.#change((files) => {
      const isThere = isLive(files.get(at));
      if (isThere && !overwrite) throw taken(at, at);
      checkFree(files, at);
      const { maxFiles = defaultMaxFiles } = this.#options;
      if (!isThere && livePaths(files).length >= maxFiles) {
        const message = `The memory holds ${maxFiles} files already; delete one first.`;
        throw new WindrowError("bad-option", message, { maxFiles });
      }
      return [{ path: at, change: "create", text }];
    });
  }

  /**
   * Changes the text of a file.
   *
   * @param edit - gives the new text; what it throws changes nothing
   * @throws WindrowError `not-found`, `bad-option`
   */
  async edit(path: string, change: "replace" | "insert", edit: (text: string) => string): Promise<string> {
    const at = memoryPath(path);
    const [changed] = await this.#change((files) => [{ path: at, change, text: edit(textOf(files, at)) }]);
    return changed?.text ?? "";
  }

  /**
   * Deletes a file, or a folder with all files in it. Their versions stay, and `undo` brings each back.
   *
   * @returns the paths of the files
   * @throws WindrowError `not-found`; `bad-option` for the root
   */
  async delete(path: string): Promise<readonly string[]> {
    const at = filePath(path);
    const deleted = await this.#change((files) =>
      pathsIn(files, at).map((one) => ({ path: one, change: "delete", text: null })),
    );
    return deleted.map((one) => one.path);
  }

  /**
   * Moves a file, or a folder with all files in it.
   *
   * @throws WindrowError `not-found`; `bad-option` where there is something at the new path, or it lies in the old one
   */
  async rename(from: string, to: string): Promise<void> {
    const [old, next] = [filePath(from), filePath(to)];
    await this.#change((files) => {
      const moved = pathsIn(files, old);
      checkFree(files, next);
      if (isLive(files.get(next)) || next === old) throw taken(next, next);
      if (isWithin(next, old)) throw new WindrowError("bad-option", `${old} cannot be moved into itself, to ${next}.`);
      return moved.flatMap((one): readonly Change[] => {
        const text = textOf(files, one);
        const path = filePath(`${next}${one.slice(old.length)}`);
        return [
          { path, change: "rename", text, from: one },
          { path: one, change: "delete", text: null },
        ];
      });
    });
  }

  /**
   * Takes the newest change of a file back, also its deletion: it is as in the version before.
   *
   * @returns the version that it is now
   * @throws WindrowError `not-found` where there is no version before
   */
  async undo(path: string): Promise<number> {
    const at = memoryPath(path);
    let version = 0;
    await this.#change((files) => {
      const versions = files.get(at) ?? [];
      const before = versions[undoneTo(versions)];
      if (!before) throw absent(at);
      if (before.text !== null) checkFree(files, at);
      version = versions.length + 1;
      return [{ path: at, change: "undo", text: before.text, to: before.version }];
    });
    return version;
  }

  async #change(plan: (files: Files) => readonly Change[]): Promise<readonly Change[]> {
    const { sessionId, maxBytes = defaultMaxBytes } = this.#options;
    let changes: readonly Change[] = [];
    await this.#files.change(async (files) => {
      changes = plan(files);
      for (const { path, text } of changes) checkSize(path, text, maxBytes);
      return changes.map((change) => ({ type: fileType, data: { ...change, ...defined({ session: sessionId }) } }));
    });
    return changes;
  }
}

interface Change extends JsonObject {
  readonly path: string;
  readonly change: FileChange;
  readonly text: string | null;
}

/** The place of the version that an undo goes back to: before the newest one, or before what an undo brought back. */
function undoneTo(versions: readonly KeptVersion[]): number {
  return (versions.at(-1)?.to ?? versions.length) - 2;
}

function isLive(versions: readonly FileVersion[] = []): boolean {
  return typeof versions.at(-1)?.text === "string";
}

function livePaths(files: Files): readonly string[] {
  return [...files.entries()].filter(([, versions]) => isLive(versions)).map(([path]) => path);
}

/** The files at or below a path. */
function pathsIn(files: Files, path: string): readonly string[] {
  const paths = livePaths(files).filter((one) => isWithin(one, path));
  if (paths.length === 0) throw absent(path);
  return paths;
}

function textOf(files: Files, path: string): string {
  const text = files.get(path)?.at(-1)?.text;
  if (typeof text !== "string") throw absent(path);
  return text;
}

function checkSize(path: string, text: string | null, maxBytes: number): void {
  const bytes = text === null ? 0 : Buffer.byteLength(text);
  if (bytes <= maxBytes) return;
  const message = `${path} would have ${bytes} bytes; a memory file has at most ${maxBytes}. Split it, or write less.`;
  throw new WindrowError("bad-option", message, { path, bytes, maxBytes });
}

function absent(path: string): WindrowError {
  return new WindrowError("not-found", `The path ${path} does not exist. Please provide a valid path.`, { path });
}

/** @param by - the path that stands in the way */
function taken(path: string, by: string): WindrowError {
  const exists = isWithin(by, path);
  const message = exists ? `The path ${path} already exists.` : `${by} is a file, so ${path} cannot lie in it.`;
  return new WindrowError("bad-option", message, { path, exists });
}

/** The path of a file or a folder; the root is neither made, moved nor deleted. */
function filePath(path: string): string {
  const at = memoryPath(path);
  if (at === memoryRoot) throw new WindrowError("bad-option", `${at} itself is always there, and stays a folder.`);
  return at;
}

/** Refuses a path for a file where a folder is, or a file in the place of one of its folders. */
function checkFree(files: Files, at: string): void {
  const by = livePaths(files).find((one) => one !== at && (isWithin(one, at) || isWithin(at, one)));
  if (by !== undefined) throw taken(at, by);
}
