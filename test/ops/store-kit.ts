/** Stores of files with sessions in them, and processes that write them and die. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Store } from "windrow";
import type { SessionInfo } from "windrow/store";
import type { NewSession } from "windrow/store/author";
import { everybody, filesStore, messageRecord, newSession } from "../kit/inside/store.ts";
import { startChild } from "../kit/child.ts";

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

/** A folder that goes when the test ends, and a store in it. */
export async function storePlace(): Promise<{ readonly place: StoreFolder; readonly store: Store }> {
  const place = await storeFolder();
  onTestFinished(() => place.remove());
  return { place, store: place.open() };
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

/** Starts a process that makes a session with one message, and keeps it until the test ends. `dist` is a build of the sources. */
export async function startWriter(dist: string, folder: string, config: object = {}): Promise<Writer> {
  const child = startChild("test/ops/child/holder.js", [dist, folder, JSON.stringify(config)]);
  onTestFinished(child.kill);
  return { id: await child.line(0), processId: child.pid, kill: child.kill };
}

export async function infoOf(store: Store, id: string): Promise<SessionInfo> {
  return await store.info(everybody, id);
}
