/** What the tests of the memory share. */
import { isWindrowError, SessionManager } from "windrow";
import type { NewMessage, Scope, Store } from "windrow";
import { dueOffloads, offloadDue } from "windrow/memory";
import type { Memory, OffloadOptions, OffloadReport } from "windrow/memory";
import type { JsonObject } from "../kit/inside/message.ts";
import { logKinds } from "../kit/inside/store.ts";
import { answered, asked, listed } from "../kit/sessions.ts";

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

/** An engine that keeps what it received, and does first as it is told. */
export function engine(
  receive: Memory["receive"] = async () => undefined,
): Memory & { readonly has: Map<string, number[]> } {
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

/** An engine that takes nothing. */
export const down = (): Memory => engine(() => Promise.reject(new Error("the engine is down")));

/** Sessions of a store that have ended, and are due to the engine `engine`. */
export async function dueSessions(store: Store, texts: readonly string[], user?: string): Promise<readonly string[]> {
  const offload = { wait: true, lookEvery: Infinity };
  const who = user === undefined ? {} : { user };
  const manager = await SessionManager.open({ store, budget: 8_000, memory: down(), offload, ...who });
  const ids: string[] = [];
  for (const text of texts) {
    const session = await manager.create();
    await session.append([asked(text), answered("Yes.")]);
    await session.finish("completed");
    ids.push(session.id);
  }
  return ids;
}

/** The sessions of a store that are due to any engine. */
export async function dueIn(store: Store): Promise<readonly string[]> {
  return (await listed(dueOffloads(store, {}))).map(({ sessionId }) => sessionId);
}

/** Hands all that is due to an engine, and tells what became of it. */
export const handAll = (store: Store, memory: Memory, more: OffloadOptions = {}): Promise<OffloadReport> =>
  offloadDue(store, {}, memory, { all: true, ...more });

/** A call of a tool, and its result. */
export function toolRun(callId: string, name: string, args: JsonObject, content: string): readonly NewMessage[] {
  return [
    { role: "assistant", parts: [{ type: "tool-call", callId, name, args }] },
    { role: "tool", parts: [{ type: "tool-result", callId, name, content }] },
  ];
}
