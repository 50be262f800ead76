/**
 * Files that an agent keeps for later sessions. They are entries of a memory's log, in no folder of a disk: each change
 * passes the store's mask and names the session that made it.
 */
import { WindrowError } from "../../errors.ts";
import { asString, defined } from "../../message/json.ts";
import type { JsonObject } from "../../message/message.ts";
import type { Scope, Store } from "../../store/store.ts";
import { FoldedLog } from "../log/memory-log.ts";
import type { Fold, MemoryLogOptions } from "../log/memory-log.ts";
import { isWithin, memoryPath, memoryRoot } from "./path.ts";

/** The way a file was changed: `create` is written anew, all others go on from what was there. */
type FileChange = "create" | "replace" | "insert" | "rename" | "delete";

/** A memory file. */
export interface MemoryFile {
  readonly path: string;
  readonly text: string;
  /** The session that wrote it last, where it was named. */
  readonly sessionId?: string;
  /** The time of its last change; ISO 8601, UTC. */
  readonly timestamp: string;
}

/** A file as a list shows it. */
export interface ListedFile {
  readonly path: string;
  /** Bytes of its text in UTF-8. */
  readonly bytes: number;
  /** The time of its last change; ISO 8601, UTC. */
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

/** The files that are there, by path. */
type Files = Map<string, MemoryFile>;

const fold: Fold<Files> = {
  empty: () => new Map(),
  apply(files, { type, data, timestamp }) {
    const { path, text, session } = data;
    if (type !== fileType || typeof path !== "string") return;
    if (typeof text !== "string") files.delete(path);
    else files.set(path, { path, text, ...defined({ sessionId: asString(session) }), timestamp });
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
    const files = await this.all(folder);
    return files.map(({ path, timestamp, text }) => ({ path, bytes: Buffer.byteLength(text), timestamp }));
  }

  /** The files at or below a path, by path, each with its text. */
  async all(folder = memoryRoot): Promise<readonly MemoryFile[]> {
    const within = memoryPath(folder);
    const found = [...(await this.#files.state()).values()].filter(({ path }) => isWithin(path, within));
    return found.toSorted((left, right) => (left.path < right.path ? -1 : 1));
  }

  /**
   * The text of a file.
   *
   * @throws WindrowError `not-found`
   */
  async read(path: string): Promise<string> {
    return textOf(await this.#files.state(), memoryPath(path));
  }

  /**
   * Makes a file, or with `overwrite` writes it anew.
   *
   * @throws WindrowError `bad-option` where it exists, is a folder, is too large, or there are too many
   */
  async create(path: string, text: string, { overwrite = false } = {}): Promise<void> {
    const at = filePath(path);
    await this.#change((files) => {
      const isThere = files.has(at);
      if (isThere && !overwrite) throw taken(at, at);
      checkFree(files, at);
      const { maxFiles = defaultMaxFiles } = this.#options;
      if (!isThere && files.size >= maxFiles) {
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
   * Deletes a file, or a folder with all files in it.
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
      if (files.has(next) || next === old) throw taken(next, next);
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

/** The files at or below a path. */
function pathsIn(files: Files, path: string): readonly string[] {
  const paths = [...files.keys()].filter((one) => isWithin(one, path));
  if (paths.length === 0) throw absent(path);
  return paths;
}

function textOf(files: Files, path: string): string {
  const text = files.get(path)?.text;
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
  const by = [...files.keys()].find((one) => one !== at && (isWithin(one, at) || isWithin(at, one)));
  if (by !== undefined) throw taken(at, by);
}
