/** A cache of finished sessions: they do not change, so a list need not look into their folders again. */
import type { JsonObject } from "../../message/message.ts";
import type { SessionInfo } from "../store.ts";
import type { Place } from "./layout.ts";

/** A folder that changed this recently may change again within the tick of its clock, in milliseconds. */
export const settledMs = 100;

/** Sessions in the cache at most; the oldest leaves first. */
const capacity = 1_000;

/** The finished sessions that were looked into last. */
export class FinishedSessions {
  readonly #mtimeOf: (folder: string) => number | undefined;
  readonly #sessions = new Map<
    string,
    { readonly info: SessionInfo; readonly open: string; readonly mtimeMs: number }
  >();

  /** @param mtimeOf - when a folder was changed last, in milliseconds since 1970; undefined where there is none */
  constructor(mtimeOf: (folder: string) => number | undefined) {
    this.#mtimeOf = mtimeOf;
  }

  /** A copy of a session, if its folder did not change since it was added. */
  get(id: string): SessionInfo | undefined {
    const known = this.#sessions.get(id);
    if (!known || this.#mtimeOf(known.info.location) !== known.mtimeMs) return undefined;
    const { metadata, state, location, readOnly } = known.info;
    const [taskKey, config] = JSON.parse(known.open) as [JsonObject, JsonObject];
    return { metadata: { ...metadata, taskKey, config }, state: { ...state }, location, readOnly };
  }

  /** Adds a session, unless its folder has changed just now. */
  add({ id, folder }: Place, info: SessionInfo): void {
    const mtimeMs = this.#mtimeOf(folder) ?? 0;
    if (Date.now() - mtimeMs < settledMs) return;
    const open = JSON.stringify([info.metadata.taskKey, info.metadata.config]);
    this.#sessions.delete(id);
    this.#sessions.set(id, { info, open, mtimeMs });
    if (this.#sessions.size <= capacity) return;
    for (const oldest of this.#sessions.keys()) {
      this.#sessions.delete(oldest);
      break;
    }
  }
}
