/**
 * A file system in memory that dies. It keeps apart what was written and what a power cut leaves of it: of data that
 * was not synced each page may be there, be zero, or be as before, and a file may have grown or not; of names that
 * were made, moved or removed and whose folder was not synced, a beginning of them in their order.
 */
import { constants } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Disk, DiskStat } from "../kit/inside/disk.ts";

const pageBytes = 4096;

/** A choice between 0 and `below` - 1; the test's own source of chance. */
export type Choose = (below: number) => number;

interface FileNode {
  readonly kind: "file";
  readonly ino: number;
  data: Buffer;
  durable: Buffer;
}

interface FolderNode {
  readonly kind: "folder";
  readonly ino: number;
  readonly names: Map<string, Node>;
  changed: number;
}

type Node = FileNode | FolderNode;

/** A change of names: which folders it touches, and how it is done again on what is left after a crash. */
interface NameChange {
  readonly folders: readonly number[];
  again(root: FolderNode): void;
}

/** Thrown by every call once the power is gone. */
export class PowerCut extends Error {}

/** The disk. `stepsLeft` counts the calls that change something; at 0 the power goes. */
export class CrashDisk implements Disk {
  stepsLeft = Number.POSITIVE_INFINITY;
  /** Calls that changed something so far. */
  steps = 0;
  /** Syncs do nothing: a fault that the tests must find. */
  ignoresSyncs = false;
  #root: FolderNode = newFolder(1);
  #durableRoot: FolderNode = newFolder(1);
  #changes: NameChange[] = [];
  #nextNode = 2;
  #nextFile = 100;
  readonly #open = new Map<number, { readonly node: Node; readonly append: boolean }>();
  readonly #locks = new Map<string, number>();

  /** What is there after the power came back, as a new disk; this one is gone. */
  afterPowerCut(choose: Choose): CrashDisk {
    const kept = this.#changes.slice(0, choose(this.#changes.length + 1));
    for (const change of kept) change.again(this.#durableRoot);
    const next = new CrashDisk();
    next.#root = survivor(this.#durableRoot, choose) as FolderNode;
    next.#durableRoot = copyNames(next.#root);
    next.#nextNode = this.#nextNode;
    this.stepsLeft = 0;
    return next;
  }

  /** The process died, the power did not: everything written is there. */
  afterKill(): CrashDisk {
    const next = new CrashDisk();
    next.#root = this.#root;
    next.#durableRoot = this.#durableRoot;
    next.#changes = this.#changes;
    next.#nextNode = this.#nextNode;
    this.stepsLeft = 0;
    return next;
  }

  open(path: string, flags: number): number {
    let node = this.#find(path);
    if (node && (flags & constants.O_EXCL) !== 0) throw systemError("EEXIST", path);
    if (!node) {
      if ((flags & constants.O_CREAT) === 0) throw systemError("ENOENT", path);
      node = { kind: "file", ino: this.#nextNode++, data: Buffer.alloc(0), durable: Buffer.alloc(0) };
      this.#setName(path, node);
    }
    const file = this.#nextFile++;
    this.#open.set(file, { node, append: (flags & constants.O_APPEND) !== 0 });
    return file;
  }

  async openLater(path: string, flags: number): Promise<number> {
    return this.open(path, flags);
  }

  close(file: number): void {
    this.#open.delete(file);
    for (const [name, holder] of this.#locks) if (holder === file) this.#locks.delete(name);
  }

  read(file: number, into: Buffer, offset: number, length: number, position: number): number {
    const { data } = this.#file(file);
    return data.copy(into, offset, position, Math.min(data.length, position + length));
  }

  async readLater(file: number, into: Buffer, offset: number, length: number, position: number): Promise<number> {
    return this.read(file, into, offset, length, position);
  }

  write(file: number, from: Buffer, offset: number, length: number, position?: number): number {
    this.#step();
    const node = this.#file(file);
    const at = position ?? node.data.length;
    const data = Buffer.alloc(Math.max(node.data.length, at + length));
    node.data.copy(data);
    from.copy(data, at, offset, offset + length);
    node.data = data;
    return length;
  }

  truncate(file: number, size: number): void {
    this.#step();
    const node = this.#file(file);
    const data = Buffer.alloc(size);
    node.data.copy(data);
    node.data = data;
  }

  async syncData(file: number): Promise<void> {
    await Promise.resolve();
    this.syncDataNow(file);
  }

  syncDataNow(file: number): void {
    this.#step();
    if (this.ignoresSyncs) return;
    const node = this.#opened(file).node;
    if (node.kind === "file") {
      node.durable = Buffer.from(node.data);
      return;
    }
    const last = this.#changes.findLastIndex(({ folders }) => folders.includes(node.ino));
    for (const change of this.#changes.splice(0, last + 1)) change.again(this.#durableRoot);
  }

  sync(file: number): Promise<void> {
    return this.syncData(file);
  }

  stat(file: number): DiskStat {
    const { node } = this.#opened(file);
    return { ...this.#describe(node), nlink: isNamed(this.#root, node) ? 1 : 0 };
  }

  statPath(path: string): DiskStat {
    const node = this.#find(path);
    if (!node) throw systemError("ENOENT", path);
    return this.#describe(node);
  }

  exists(path: string): boolean {
    return this.#find(path) !== undefined;
  }

  readFile(path: string): Buffer {
    const node = this.#find(path);
    if (node?.kind !== "file") throw systemError("ENOENT", path);
    return Buffer.from(node.data);
  }

  setMode(): void {}

  makeFolder(path: string): void {
    if (this.#find(path)) throw systemError("EEXIST", path);
    this.#setName(path, newFolder(this.#nextNode++));
  }

  async readFolder(path: string): Promise<readonly string[]> {
    const node = this.#find(path);
    if (node?.kind !== "folder") throw systemError("ENOENT", path);
    return [...node.names.keys()];
  }

  rename(from: string, to: string): void {
    const node = this.#find(from);
    if (!node) throw systemError("ENOENT", from);
    const [source, target] = [this.#folder(dirname(from)), this.#folder(dirname(to))];
    this.#change([source.ino, target.ino], (root) => {
      const moved = removeName(root, from);
      if (moved) setName(root, to, moved);
    });
  }

  unlink(path: string): void {
    if (!this.#find(path)) throw systemError("ENOENT", path);
    this.#change([this.#folder(dirname(path)).ino], (root) => removeName(root, path));
  }

  async removeTree(path: string): Promise<void> {
    const node = this.#find(path);
    if (!node) return;
    if (node.kind === "folder") for (const name of [...node.names.keys()]) await this.removeTree(join(path, name));
    this.unlink(path);
  }

  tryLock(file: number, byte: number): boolean {
    const name = `${this.#file(file).ino}:${byte}`;
    const holder = this.#locks.get(name);
    if (holder !== undefined && holder !== file) return false;
    this.#locks.set(name, file);
    return true;
  }

  unlock(file: number, byte: number): void {
    this.#locks.delete(`${this.#file(file).ino}:${byte}`);
  }

  #step(): void {
    if (this.stepsLeft <= 0) throw new PowerCut("the power is gone");
    this.stepsLeft -= 1;
    this.steps += 1;
  }

  #setName(path: string, node: Node): void {
    const folder = this.#folder(dirname(path));
    const durable = node.kind === "folder" ? newFolder(node.ino) : node;
    this.#step();
    setName(this.#root, path, node);
    this.#changes.push({ folders: [folder.ino], again: (root) => setName(root, path, durable) });
    folder.changed = this.steps;
  }

  #change(folders: readonly number[], again: (root: FolderNode) => void): void {
    this.#step();
    again(this.#root);
    this.#changes.push({ folders, again });
  }

  #describe(node: Node): DiskStat {
    const size = node.kind === "file" ? node.data.length : 0;
    return { size, ino: node.ino, dev: 1, nlink: 1, mtimeMs: node.kind === "folder" ? node.changed : 0 };
  }

  #opened(file: number): { readonly node: Node } {
    const opened = this.#open.get(file);
    if (!opened) throw systemError("EBADF", String(file));
    return opened;
  }

  #file(file: number): FileNode {
    const { node } = this.#opened(file);
    if (node.kind !== "file") throw systemError("EISDIR", String(file));
    return node;
  }

  #find(path: string): Node | undefined {
    return lookUp(this.#root, path);
  }

  #folder(path: string): FolderNode {
    const node = this.#find(path);
    if (node?.kind !== "folder") throw systemError("ENOENT", path);
    return node;
  }
}

function newFolder(ino: number): FolderNode {
  return { kind: "folder", ino, names: new Map(), changed: 0 };
}

function lookUp(root: FolderNode, path: string): Node | undefined {
  let node: Node | undefined = root;
  for (const name of path.split("/").filter((one) => one !== "")) {
    node = node?.kind === "folder" ? node.names.get(name) : undefined;
  }
  return node;
}

function setName(root: FolderNode, path: string, node: Node): void {
  const folder = lookUp(root, dirname(path));
  if (folder?.kind === "folder") folder.names.set(basename(path), node);
}

function removeName(root: FolderNode, path: string): Node | undefined {
  const folder = lookUp(root, dirname(path));
  if (folder?.kind !== "folder") return undefined;
  const node = folder.names.get(basename(path));
  folder.names.delete(basename(path));
  return node;
}

function isNamed(folder: FolderNode, node: Node): boolean {
  for (const child of folder.names.values()) {
    if (child === node || (child.kind === "folder" && isNamed(child, node))) return true;
  }
  return false;
}

function copyNames(folder: FolderNode): FolderNode {
  const names = new Map<string, Node>();
  for (const [name, node] of folder.names) names.set(name, node.kind === "folder" ? copyNames(node) : node);
  return { ...folder, names };
}

function survivor(node: Node, choose: Choose): Node {
  if (node.kind === "folder") {
    const names = new Map([...node.names].map(([name, child]) => [name, survivor(child, choose)]));
    return { ...node, names };
  }
  const data = torn(node, choose);
  return { ...node, data, durable: Buffer.from(data) };
}

/** What a power cut leaves of a file. */
function torn({ data, durable }: FileNode, choose: Choose): Buffer {
  if (data.equals(durable)) return data;
  const grown = data.length - durable.length;
  const size = durable.length + [0, grown, grown < 0 ? grown : choose(grown + 1)][choose(3)]!;
  const left = Buffer.alloc(size);
  for (let start = 0; start < size; start += pageBytes) {
    const end = Math.min(size, start + pageBytes);
    const source = [durable, data][choose(2)]!;
    const isBlank = choose(4) === 0 && start >= durable.length;
    if (!isBlank && start < source.length) source.copy(left, start, start, Math.min(end, source.length));
  }
  return left;
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
