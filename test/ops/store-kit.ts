/** Stores of files with sessions in them, and processes that write them and die. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { everybody, messageRecord, newSession } from "../../src/store/testing/kit.ts";
import { filesStore } from "../../src/store/files/files.ts";
import type { NewSession, SessionInfo, Store } from "../../src/store/store.ts";

/** A folder for a store, and handles on it. */
export interface StoreFolder {
  readonly folder: string;
  /** A handle of its own, as another process would have. */
  open(): Store;
  remove(): Promise<void>;
}

export async function storeFolder(): Promise<StoreFolder> {
  const folder = await mkdtemp(join(tmpdir(), "windrow-ops-"));
  const stores: Store[] = [];
  return {
    folder,
    open() {
      const store = filesStore({ folder });
      stores.push(store);
      return store;
    },
    async remove() {
      for (const store of stores) await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A session with five messages, closed in order: it can be resumed. */
export async function closedSession(store: Store, changes: Partial<NewSession> = {}): Promise<string> {
  const lock = await store.create(everybody, newSession(changes));
  for (const text of ["1", "2", "3", "4", "5"]) await store.append(lock, [messageRecord(text)]);
  await lock.release();
  return lock.id;
}

/** A process that has a session and writes it. */
export interface Writer {
  readonly id: string;
  readonly processId: number;
  readonly kill: () => Promise<void>;
}

/** Starts a process that makes a session with one message, and keeps it. `dist` is a build of the sources. */
export async function startWriter(dist: string, folder: string, config: object = {}): Promise<Writer> {
  const script = resolve("test/ops/child/holder.js");
  const child = spawn(process.execPath, [script, dist, folder, JSON.stringify(config)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  const kill = async (): Promise<void> => {
    if (child.signalCode !== null || child.exitCode !== null) return;
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
  };
  return { id: said.toString().trim(), processId: child.pid ?? 0, kill };
}

export async function infoOf(store: Store, id: string): Promise<SessionInfo> {
  return await store.info(everybody, id);
}
