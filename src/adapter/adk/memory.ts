/** A memory service for ADK: `load_memory` and `preload_memory` find what earlier sessions of the same app and user said. */
import type { MemoryPassage } from "../../memory/memory.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { SessionManager } from "../../session/manager/manager.ts";
import type { Session } from "../../session/session.ts";
import { isAtRest } from "../../store/shared/rules.ts";
import { checkGiven } from "../../window/options.ts";
import { sessionMemory, sessionMemoryKinds } from "../host/session-memory.ts";
import type { SessionMemoryOptions } from "../host/session-memory.ts";
import { eventOf } from "./event.ts";
import { adkLogs, keyOf } from "./log.ts";
import type { AdkSession } from "./types.ts";

/** The request of ADK's `searchMemory`. */
export interface AdkMemoryRequest {
  readonly appName: string;
  readonly userId: string;
  readonly query: string;
}

/** A passage as ADK's MemoryEntry. */
export interface AdkMemoryEntry {
  content: { role: string; parts: { text: string }[] };
  author?: string;
  /** ISO 8601, UTC. */
  timestamp?: string;
}

/** A memory service: ADK's `BaseMemoryService` fits it. */
export interface AdkMemoryService<Added = AdkSession> {
  /** Journals the session where no session service of Windrow does, and makes it known to the memory as it is now. */
  addSessionToMemory(session: Added): Promise<void>;
  /** Passages of earlier sessions of this app and user, in their own words. */
  searchMemory(request: AdkMemoryRequest): Promise<{ memories: AdkMemoryEntry[] }>;
}

/** The record of a session that was added while it ran; `to` is its newest message then. */
const addedType = "adk-memory";

/**
 * A memory service for ADK's Runner over the memory of a manager, or another one. A session is found from its end on, or
 * from `addSessionToMemory` on as it was then. Sessions of other apps and users are never found.
 *
 * @example
 * const manager = await SessionManager.open({ store: "./contexts", memory: "store" });
 * const runner = new Runner({ appName, agent, sessionService, memoryService: createMemoryService(manager) });
 * @throws WindrowError `bad-option` where neither the manager nor the options have a memory
 */
export function createMemoryService<Added extends AdkSession = AdkSession>(
  manager: SessionManager,
  options: SessionMemoryOptions = {},
): AdkMemoryService<Added> {
  checkGiven("createMemoryService", options, sessionMemoryKinds);
  const { memory, ask } = sessionMemory("createMemoryService", manager, options);
  const logs = adkLogs(manager);

  return {
    async addSessionToMemory({ appName, userId, id: sessionId, events }) {
      const log = await logs.log({ appName, userId, sessionId }, true);
      await log.sync(events);
      const { session } = log;
      if (memory.readsStore !== true) await memory.receive(session.id, await numbered(manager, session.id));
      const { messages: to } = session.stats();
      if ((await addedTo(session)) < to) await session.records.append(addedType, { to });
    },

    async searchMemory({ appName, userId, query }) {
      const ends = await endsOf(manager, { appName, userId }, memory.readsStore === true);
      const passages = await ask(query, [...ends.keys()]);
      const own = passages.filter(({ sessionId, seq }) => seq <= (ends.get(sessionId) ?? 0));
      return { memories: await Promise.all(own.map((passage) => entryOf(manager, passage))) };
    },
  };
}

/**
 * The sessions of an app and a user that may answer, each with its newest message that may.
 *
 * @param onlyAdded - of a running session only what was added: the memory sees all of it, also the question at hand
 */
async function endsOf(
  manager: SessionManager,
  { appName, userId }: Pick<AdkMemoryRequest, "appName" | "userId">,
  onlyAdded: boolean,
): Promise<ReadonlyMap<string, number>> {
  const ends = new Map<string, number>();
  for await (const info of manager.list()) {
    const key = keyOf(info);
    if (key?.appName !== appName || key.userId !== userId) continue;
    const { uuid } = info.metadata;
    ends.set(uuid, onlyAdded && !isAtRest(info.state.status) ? await addedOf(manager, uuid) : Infinity);
  }
  return ends;
}

async function addedOf(manager: SessionManager, id: string): Promise<number> {
  const session = await manager.resume(id, { readOnly: true });
  try {
    return await addedTo(session);
  } finally {
    await session.close();
  }
}

/** The newest message that was added of a session, by `seq`; 0 for none. */
async function addedTo(session: Session): Promise<number> {
  let to = 0;
  for await (const { data } of session.records.read(addedType)) to = Number(data.to);
  return to;
}

async function numbered(manager: SessionManager, id: string): Promise<readonly NumberedMessage[]> {
  const messages: NumberedMessage[] = [];
  for await (const message of manager.messages(id)) messages.push({ seq: messages.length + 1, message });
  return messages;
}

/** A passage with the author and the time of the event that it is from. */
async function entryOf(manager: SessionManager, { sessionId, seq, text }: MemoryPassage): Promise<AdkMemoryEntry> {
  const content = { role: "user", parts: [{ text }] };
  for await (const message of manager.messages(sessionId, { from: seq, to: seq })) {
    const event = eventOf(message);
    const author = event?.author ?? message.role;
    const timestamp = event ? new Date(event.timestamp).toISOString() : message.timestamp;
    const role = event?.content?.role ?? content.role;
    return { content: { ...content, role }, author, ...(timestamp !== undefined && { timestamp }) };
  }
  return { content };
}
