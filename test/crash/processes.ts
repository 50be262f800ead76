/** Writers in processes of their own, and what became of the messages they were told are safe. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "windrow";
import { everybody, messageRecord, newSession } from "../kit/inside/store.ts";
import { startChild } from "../kit/child.ts";
import type { Child } from "../kit/child.ts";

/** A writer at work. Its lines are those after `ready`. */
export interface Writer extends Child {
  ready(): Promise<void>;
  /** Waits until it was told that so many records are safe. */
  acknowledged(count: number): Promise<void>;
}

/** What a writer writes, and how it is started. */
export interface WriterOptions {
  readonly build: string;
  readonly folder: string;
  readonly id: string;
  readonly prefix: string;
  readonly size: number;
  readonly most?: number;
  /** A command that is put before node's, as strace or unshare. */
  readonly under?: readonly string[];
}

/** Starts a writer. */
export function startWriter(options: WriterOptions): Writer {
  const { build, folder, id, prefix, size, most = Number.POSITIVE_INFINITY, under = [] } = options;
  const args = [build, folder, id, prefix, String(size), String(most)];
  const child = startChild("test/crash/child/writer.js", args, { under });
  return {
    ...child,
    lines: () => child.lines().filter((line) => line !== "ready"),
    ready: () => child.until((lines) => lines.includes("ready")),
    acknowledged: (count) => child.until((lines) => lines.filter((line) => /^\d/.test(line)).length >= count),
  };
}

/** A session nobody holds. */
export async function freeSession(store: Store): Promise<string> {
  const { uuid } = newSession();
  await (await store.create(everybody, newSession({ uuid }))).release();
  return uuid;
}

/** How many of the messages a writer was told are safe are gone. */
export async function lostOf(store: Store, id: string, writers: readonly Writer[]): Promise<Outcome> {
  const kept = new Map<number, string>();
  for await (const record of store.read(everybody, id, { kind: "message" })) kept.set(record.seq, record.message.id);
  const acknowledged = writers.flatMap((one) => one.lines()).filter((line) => /^\d/.test(line));
  const lost = acknowledged.filter((line) => {
    const [seq, name] = line.split(" ");
    return kept.get(Number(seq)) !== name;
  }).length;
  const damaged = (await store.recovery(everybody, id)).filter((one) => one.problem === "damaged").length;
  return { acknowledged: acknowledged.length, lost, damaged };
}

/** What became of acknowledged messages. */
export interface Outcome {
  readonly acknowledged: number;
  readonly lost: number;
  /** Torn or damaged lines that are still there. */
  readonly damaged: number;
}

/**
 * Takes a session by force from a writer at full speed, stopped meanwhile or not, and lets it go on.
 *
 * @param after - how many acknowledgements the writer gets first
 */
export async function hostileSteal(
  store: Store,
  options: Omit<WriterOptions, "id" | "prefix" | "size">,
  stop: boolean,
  after = 1 + Math.floor(Math.random() * 100),
): Promise<Outcome & { readonly fenced: boolean }> {
  const id = await freeSession(store);
  const writer = startWriter({ ...options, id, prefix: "w", size: 1_000 });
  await writer.ready();
  await writer.acknowledged(after);
  if (stop) writer.signal("SIGSTOP");
  await store.holding.unlock(everybody, id, { force: true, reason: "a test takes it" });
  const lock = await store.lock(everybody, id);
  await store.append(lock, [messageRecord("after the steal")]);
  if (stop) writer.signal("SIGCONT");
  const fenced = await Promise.race([writer.ended.then(() => true), sleep(20_000, false)]);
  if (!fenced) await writer.kill();
  await store.append(lock, [messageRecord("and after the old holder went on")]);
  const outcome = await lostOf(store, id, [writer]);
  await lock.release();
  return { ...outcome, fenced: fenced && writer.lines().some((line) => line.startsWith("refused fenced")) };
}
