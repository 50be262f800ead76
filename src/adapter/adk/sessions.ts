/** A session service for ADK over any store: every event is on disk before `appendEvent` resolves. */
import { randomUUID } from "node:crypto";
import type { JsonObject } from "../../message/message.ts";
import type { SessionManager } from "../../session/manager/manager.ts";
import { isFinal, uuidOf } from "../../store/shared/rules.ts";
import { adkLogs, keyOf } from "./log.ts";
import type { AdkLog, AdkLogs } from "./log.ts";
import type { AdkEvent, AdkSession, AdkSessionKey } from "./types.ts";
import type { AdapterListener } from "../host/events.ts";
import { asObject } from "../../message/json.ts";
import { keptOf } from "../../shape/host-fields.ts";

/** The part that is used of ADK's BaseSessionService. */
interface BaseService {
  getOrCreateSession(request: CreateRequest): Promise<AdkSession>;
  appendEvent(request: AppendRequest): Promise<AdkEvent>;
}

interface CreateRequest {
  readonly appName: string;
  readonly userId: string;
  readonly state?: Record<string, unknown>;
  readonly sessionId?: string;
}

interface GetRequest extends AdkSessionKey {
  readonly config?: { readonly numRecentEvents?: number; readonly afterTimestamp?: number };
}

interface ListRequest {
  readonly appName: string;
  readonly userId?: string;
  readonly limit?: number;
  readonly offset?: number;
  readonly page?: number;
  readonly order?: "asc" | "desc";
}

interface AppendRequest {
  readonly session: AdkSession;
  readonly event: AdkEvent;
}

/** State that many sessions share: prefix, and whose it is. */
const shared = ["app:", "user:"] as const;

/**
 * A session service for ADK's Runner, for those who want ADK's sessions on disk: events are journalled as they are
 * appended, survive a kill -9, and are the same log that a {@link ContextManagementPlugin} with this manager makes its
 * windows from. Session ids of ADK may be any text. Deleting a session ends it: ADK no longer finds it, its log stays.
 * A store that fails never breaks a run: `adapter-failed` is told once, and what is missing is appended by the next
 * event that can be.
 *
 * @example
 * const sessionService = createSessionService(BaseSessionService, manager);
 *
 * @param base - ADK's BaseSessionService, which the service extends
 */
export function createSessionService<Service>(
  base: abstract new () => Service,
  manager: SessionManager,
  options: { readonly on?: AdapterListener } = {},
): Service {
  const logs = adkLogs(manager);
  logs.teller.add(options.on);
  const Base = base as unknown as new () => BaseService;

  class StoreSessionService extends Base {
    async createSession(request: CreateRequest): Promise<AdkSession> {
      const { appName, userId, sessionId = randomUUID(), state = {} } = request;
      const log = await logs.log({ appName, userId, sessionId }, true);
      log.served = true;
      if (!log.state) await log.create(withoutTemporary(state));
      return sessionOf(logs, log, { appName, userId, sessionId });
    }

    async getSession({ config, ...key }: GetRequest): Promise<AdkSession | undefined> {
      const log = await logs.log(key);
      if (!log) return undefined;
      log.served = true;
      const session = await sessionOf(logs, log, key);
      const { numRecentEvents: most = 0, afterTimestamp: after } = config ?? {};
      const recent = most > 0 ? session.events.slice(-most) : session.events;
      const older = after === undefined ? -1 : recent.findLastIndex((event) => event.timestamp < after);
      return { ...session, events: recent.slice(older + 1) };
    }

    async listSessions({ appName, userId, limit, offset = 0, page, order }: ListRequest): Promise<object> {
      const found: AdkSession[] = [];
      for await (const info of manager.list({ unfinished: true })) {
        const key = keyOf(info);
        if (key?.appName !== appName || (userId !== undefined && key.userId !== userId)) continue;
        if (isFinal(info.state.status)) continue;
        const lastUpdateTime = Date.parse(info.state.updatedAt);
        found.push({ id: key.sessionId, appName, userId: key.userId, state: {}, events: [], lastUpdateTime });
      }
      const sign = order === "asc" ? 1 : -1;
      if (order) {
        const later = (left: AdkSession, right: AdkSession): number => left.lastUpdateTime - right.lastUpdateTime;
        found.sort((left, right) => sign * (later(left, right) || (left.id < right.id ? -1 : 1)));
      }
      const totalItems = found.length;
      if (limit === undefined) {
        const totalPages = totalItems === 0 ? 0 : 1;
        return { sessions: found.slice(offset), page: 1, limit: totalItems, totalItems, totalPages };
      }
      const from = page === undefined ? offset : (page - 1) * limit;
      return {
        sessions: found.slice(from, from + limit),
        page: page ?? (limit === 0 ? 1 : Math.floor(from / limit) + 1),
        limit,
        totalItems,
        totalPages: limit === 0 ? 0 : Math.ceil(totalItems / limit),
      };
    }

    async deleteSession(key: AdkSessionKey): Promise<void> {
      await logs.end(key);
    }

    override async appendEvent({ session, event }: AppendRequest): Promise<AdkEvent> {
      if (event.partial === true) return event;
      const appended = await super.appendEvent({ session, event });
      session.lastUpdateTime = event.timestamp;
      try {
        const { appName, userId, id: sessionId } = session;
        const log = await logs.log({ appName, userId, sessionId });
        // The whole session is appended, so that events which an earlier failure left out follow now.
        await log?.sync(session.events);
        await saveShared(logs, { appName, userId, sessionId }, event.actions?.stateDelta ?? {});
        logs.teller.succeeded();
      } catch (error) {
        logs.teller.failed(error);
      }
      return appended;
    }
  }
  return new StoreSessionService() as unknown as Service;
}

async function sessionOf(logs: AdkLogs, log: AdkLog, key: AdkSessionKey): Promise<AdkSession> {
  const state: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const delta of [log.state, ...log.events.map(({ actions }) => actions?.stateDelta)]) {
    for (const [name, value] of Object.entries(delta ?? {})) {
      if (!shared.some((prefix) => name.startsWith(prefix)) && !name.startsWith("temp:")) state[name] = value;
    }
  }
  for (const prefix of shared) {
    for (const [name, value] of Object.entries(await readShared(logs, key, prefix))) state[name] = value;
  }
  return {
    id: key.sessionId,
    appName: key.appName,
    userId: key.userId,
    state,
    events: log.events.map((event) => structuredClone(event)),
    lastUpdateTime: log.events.at(-1)?.timestamp ?? 0,
  };
}

function withoutTemporary(state: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(state).filter(([name]) => !name.startsWith("temp:")));
}

/** State shared by an app's or a user's sessions is a session of its own; its last message is the state. */
function sharedId({ appName, userId }: AdkSessionKey, prefix: (typeof shared)[number]): string {
  return uuidOf(["adk", prefix, appName, ...(prefix === "user:" ? [userId] : [])]);
}

async function readShared(logs: AdkLogs, key: AdkSessionKey, prefix: (typeof shared)[number]): Promise<JsonObject> {
  const id = sharedId(key, prefix);
  if (!(await logs.has(id))) return {};
  let state: JsonObject = {};
  for await (const message of logs.manager.messages(id))
    state = asObject(keptOf("adk", message.extra)?.["state"]) ?? {};
  return state;
}

async function saveShared(logs: AdkLogs, key: AdkSessionKey, delta: Record<string, unknown>): Promise<void> {
  for (const prefix of shared) {
    const own = Object.fromEntries(Object.entries(delta).filter(([name]) => name.startsWith(prefix)));
    if (Object.keys(own).length === 0) continue;
    const id = sharedId(key, prefix);
    const state = { ...(await readShared(logs, key, prefix)), ...(own as JsonObject) };
    const taskKey = { app_name: key.appName, ...(prefix === "user:" && { user_id: key.userId }), adk_state: prefix };
    const session = (await logs.has(id)) ? await logs.manager.session(id) : await logs.manager.create({ id, taskKey });
    await session.append({ role: "system", parts: [], extra: { adk: { state } } });
    // Other processes may want to write it too.
    await session.close();
  }
}
