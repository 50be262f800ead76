/** Stores with sessions of any age by their records; the files say another. */
import { readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Scope, Store } from "windrow";
import type { NewSession } from "windrow/store/author";
import { everybody, messageRecord, newSession, stateOf } from "../../kit/inside/store.ts";

export const dayMs = 86_400_000;
export const today = new Date("2026-06-01T00:00:00.000Z");

/** So many days before today. */
export function daysAgo(days: number): string {
  return new Date(today.getTime() - days * dayMs).toISOString();
}

/** What is in a session, beside its age. */
export interface Aged {
  readonly scope?: Scope;
  readonly text?: string;
  readonly messages?: number;
  readonly session?: Partial<NewSession>;
}

/** A finished session whose last record is so many days old. */
export async function agedSession(store: Store, days: number, aged: Aged = {}): Promise<string> {
  const { scope = everybody, text = "x", messages = 3, session } = aged;
  const createdAt = daysAgo(days + 1);
  const lock = await store.create(scope, newSession({ createdAt, ...session }));
  const records = Array.from({ length: messages }, (_, number) => ({
    ...messageRecord(`${number}: ${text}`, { timestamp: daysAgo(days + (number === messages - 1 ? 0 : 1)) }),
    timestamp: daysAgo(days + (number === messages - 1 ? 0 : 1)),
  }));
  await store.append(lock, records);
  await store.finish(lock, { ...stateOf("completed"), completedAt: today.toISOString() });
  return lock.id;
}

/** Sets every file's times to 2001. */
export async function backdate(folder: string): Promise<void> {
  const long = new Date("2001-01-01T00:00:00Z");
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    await utimes(join(entry.parentPath, entry.name), long, long);
  }
}
