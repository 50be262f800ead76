/** What the tests of the memory share. */
import { isWindrowError, SessionManager } from "windrow";
import type { Scope, Store } from "windrow";
import { dueOffloads } from "windrow/memory";
import type { Memory } from "windrow/memory";
import { logKinds } from "../kit/inside/store.ts";

/** Every record of these sessions that are there. */
export async function everyRecord(store: Store, scope: Scope, ids: readonly string[]): Promise<readonly unknown[]> {
  const records: unknown[] = [];
  for (const id of ids) {
    try {
      for (const kind of Object.values(logKinds)) {
        for await (const record of store.read(scope, id, { kind })) records.push(record);
      }
    } catch (error) {
      if (!isWindrowError(error, "session-not-found")) throw error;
    }
  }
  return records;
}

/** Hands messages to an engine. */
export type Receive = Memory["receive"];

/** An engine that keeps what it received. */
export function engine(receive: Receive = async () => undefined): Memory & { readonly has: Map<string, number[]> } {
  const has = new Map<string, number[]>();
  return {
    name: "engine",
    has,
    async receive(id, messages, signal) {
      const list = [...messages];
      await receive(id, list, signal);
      has.set(id, [...(has.get(id) ?? []), ...list.map(({ seq }) => seq)]);
    },
    query: async () => [],
    close: async () => undefined,
  };
}

/** Sessions of a store that have ended, and are due to the engine `engine`. */
export async function dueSessions(store: Store, texts: readonly string[], user?: string): Promise<readonly string[]> {
  const memory = engine(() => Promise.reject(new Error("down")));
  const offload = { wait: true, lookEvery: Infinity };
  const manager = await SessionManager.open({
    store,
    budget: 8_000,
    memory,
    offload,
    ...(user !== undefined && { user }),
  });
  const ids: string[] = [];
  for (const text of texts) {
    const session = await manager.create();
    await session.append({ role: "user", parts: [{ type: "text", text }] });
    await session.append({ role: "assistant", parts: [{ type: "text", text: "Yes." }] });
    await session.finish("completed");
    ids.push(session.id);
  }
  return ids;
}

/** The sessions of a store that are due to any engine. */
export async function dueIn(store: Store): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { sessionId } of dueOffloads(store, {})) ids.push(sessionId);
  return ids;
}
