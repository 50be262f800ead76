/** What sessions are tested with: managers that are closed and folders that go when the test ends, and short messages. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { isWindrowError, SessionManager, WindrowError } from "windrow";
import type { ManagerOptions, NewMessage, Scope, Session, Store } from "windrow";
import type { ReadQuery } from "windrow/store";
import { ramStore } from "./inside/store.ts";

/** A folder that goes when the test ends, behind the managers that were opened later. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "windrow-session-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A manager, over RAM unless a store is named, that is closed when the test ends. */
export async function openManager(options: ManagerOptions = {}): Promise<SessionManager> {
  const manager = await SessionManager.open({ store: "ram:", ...options });
  onTestFinished(() => manager.close());
  return manager;
}

/** What a user says. */
export const asked = (text: string): NewMessage => ({ role: "user", parts: [{ type: "text", text }] });

/** What an agent says. */
export const answered = (text: string): NewMessage => ({ role: "assistant", parts: [{ type: "text", text }] });

/** All of what comes, in its order. */
export async function listed<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** The code with which something is refused. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return isWindrowError(error) ? error.code : `no error: ${String(error)}`;
}

/** A new session of such a manager. */
export async function openSession(options: ManagerOptions = {}): Promise<Session> {
  return (await openManager(options)).create();
}

/** A store that counts the messages that are read of it, and fails where it is told to. */
export function watchedStore(): { readonly store: Store; readonly seen: { reads: number; fails: boolean } } {
  const store = ramStore();
  const seen = { reads: 0, fails: false };
  const given = store.read.bind(store);
  const read = async function* (scope: Scope, id: string, query: ReadQuery<"message">): AsyncGenerator<unknown> {
    for await (const record of given(scope, id, query)) {
      if (query.kind === "message") {
        seen.reads++;
        if (seen.fails) throw new WindrowError("store-unavailable", "The disk is away.");
      }
      yield record;
    }
  };
  return { store: Object.assign(store, { read: read as unknown as Store["read"] }), seen };
}
