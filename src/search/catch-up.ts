/** Catching up: an index learns what was added to the sessions of a store since it last looked. */
import { createHash } from "node:crypto";
import { isWindrowError, WindrowError } from "../errors.ts";
import type { JsonObject, Message } from "../message/message.ts";
import { messageText, toolCalls, toolResults } from "../message/message.ts";
import { isAboutRecords, isFinal } from "../store/shared/rules.ts";
import { conversations } from "../store/memory-logs.ts";
import type { Scope, SessionInfo, Store } from "../store/store.ts";
import { Turns } from "../turns.ts";
import { markOf } from "./search.ts";
import type { NewIndexed, SearchIndex } from "./search.ts";

/** Which sessions are caught up with, and who hears of it. */
export interface CatchUpOptions {
  /** Only this session. Default: all of the scope. */
  readonly sessionId?: string;
  /** Told of sessions that cannot be described or, without `attempt`, read. */
  readonly unreadable?: (id: string, error: WindrowError) => void;
  /** Reads one session; undefined where it cannot be read. Default: one that cannot be read is told to `unreadable`. */
  readonly attempt?: <T>(id: string, read: () => Promise<T>) => Promise<T | undefined>;
  /** Called after every session. */
  readonly onProgress?: (done: number) => void;
  /** Most postings that are added while the index is not written. Default: any number. */
  readonly mostHeld?: number;
}

/** The sessions of a scope that the index may lack something of, newest first. */
export async function* behind(
  index: SearchIndex,
  store: Store,
  scope: Scope,
  { sessionId, unreadable }: CatchUpOptions = {},
): AsyncGenerator<SessionInfo> {
  const without = (id: string): boolean => index.entry(id)?.session.status !== undefined;
  const list =
    sessionId === undefined
      ? conversations(store, scope, { without, ...(unreadable && { unreadable }) })
      : [await store.info(scope, sessionId)];
  for await (const info of list) {
    const known = index.entry(info.metadata.uuid)?.session;
    if (known?.status !== undefined) continue;
    if (info.state.status === "closed" && known?.rested === info.state.updatedAt) continue;
    yield info;
  }
}

/**
 * Adds what the index lacks of a scope's sessions.
 *
 * @returns how many messages were added, and whether that is all
 * @throws WindrowError `aborted`, `session-not-found` for `sessionId`
 */
export async function catchUp(
  index: SearchIndex,
  store: Store,
  scope: Scope,
  options: CatchUpOptions = {},
  signal?: AbortSignal,
): Promise<{ readonly indexed: number; readonly isWhole: boolean }> {
  const { attempt = passingOver(options), onProgress, mostHeld = Infinity } = options;
  const turns = new Turns(signal);
  let indexed = 0;
  let done = 0;
  for await (const session of behind(index, store, scope, options)) {
    if (signal?.aborted) throw new WindrowError("aborted", "The search was stopped; what it indexed is kept.");
    if (!index.writable && index.held > mostHeld) return { indexed, isWhole: false };
    indexed += (await attempt(session.metadata.uuid, () => catchUpOne(index, store, scope, session, turns))) ?? 0;
    onProgress?.(++done);
  }
  index.flush();
  return { indexed, isWhole: true };
}

/** Adds what the index lacks of one session; returns how many messages. */
async function catchUpOne(
  index: SearchIndex,
  store: Store,
  scope: Scope,
  { metadata, state }: SessionInfo,
  turns: Turns,
): Promise<number> {
  const { uuid: id, createdAt, user, tenant, taskKey } = metadata;
  const { status, updatedAt } = state;
  const projects = projectKeys(taskKey);
  const about = {
    created: Date.parse(createdAt),
    ...(user !== undefined && { user }),
    ...(tenant !== undefined && { tenant }),
    ...(projects.length > 0 && { projects }),
  };
  if (!index.entry(id)) index.describe(id, about);
  const from = index.covered(id) + 1;
  let count = 0;
  for await (const { seq, message, timestamp } of store.read(scope, id, { kind: "message", from })) {
    index.add(id, indexedMessage(seq, message, Date.parse(timestamp)));
    count++;
    await turns.turn();
  }
  if (status === "closed") index.describe(id, { ...about, rested: updatedAt });
  // A damaged session may be restored, and is then read again.
  if (isFinal(status) && (await store.recovery(scope, id)).length === 0) index.describe(id, { ...about, status });
  return count;
}

/** A message as the index takes it. */
export function indexedMessage(seq: number, message: Message, time = 0): NewIndexed {
  const tools = new Set([...toolCalls(message), ...toolResults(message)].flatMap(({ name }) => name ?? []));
  return {
    seq,
    text: messageText(message),
    time: Number.isFinite(time) ? time : 0,
    isUser: message.role === "user" && message.status !== "synthetic",
    marks: [...tools].map((name) => toolMark(name)),
  };
}

/** The mark of messages that call a tool or hold a result of it. */
export function toolMark(name: string): string {
  return markOf("tool", name);
}

/**
 * Hashes of the names that a task's key has for its project: `project`, `project_id`, `repo` (also with its `owner`),
 * `app_name`, `cwd`.
 */
export function projectKeys(taskKey: JsonObject): readonly string[] {
  const { project, project_id: number, owner, repo, app_name: app, cwd } = taskKey;
  const full = typeof owner === "string" && typeof repo === "string" ? `${owner}/${repo}` : undefined;
  const names = [project, number, repo, full, app, cwd].flatMap((name) =>
    typeof name === "string" || typeof name === "number" ? String(name) : [],
  );
  return [...new Set(names)].map((name) => projectKey(name));
}

/** The hash of a project's name. */
export function projectKey(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 16);
}

/** Reads a session; one whose records cannot be read, or that was taken away meanwhile, is told of or passed over. */
function passingOver({ unreadable }: CatchUpOptions): NonNullable<CatchUpOptions["attempt"]> {
  return async (id, read) => {
    try {
      return await read();
    } catch (error) {
      if (isAboutRecords(error)) unreadable?.(id, error);
      else if (!isWindrowError(error, "session-not-found")) throw error;
      return undefined;
    }
  };
}
