/** The mark of `windrow keep`: no clean-up compresses or deletes a session that has it. */
import type { ScopedOptions, TimedOptions } from "../options.ts";
import type { Store } from "../../store/store.ts";
import { idOf } from "./sessions.ts";

/** Which session, and why. */
export interface KeepOptions extends TimedOptions {
  /** The name of the person or program that keeps it. */
  readonly by?: string;
  /** Why, for who finds it later. */
  readonly reason?: string;
}

/** The outcome for a session's mark. */
export interface KeepReport {
  readonly sessionId: string;
  readonly kept: boolean;
  /** Whether that is new. */
  readonly changed: boolean;
}

/**
 * Marks a session to be kept.
 *
 * @param name - its id, the beginning of it, or `latest`
 * @throws WindrowError `session-not-found`
 */
export async function keep(store: Store, name: string, options: KeepOptions = {}): Promise<KeepReport> {
  const { scope = {}, by, reason, now = () => new Date() } = options;
  const upkeep = store.upkeep;
  const sessionId = await idOf(store, scope, name);
  const changed = (await upkeep.kept(scope, sessionId)) === undefined;
  const why = { ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) };
  await upkeep.keep(scope, sessionId, { keptAt: now().toISOString(), ...why });
  return { sessionId, kept: true, changed };
}

/** Takes the mark away. As {@link keep}. */
export async function unkeep(store: Store, name: string, { scope = {} }: ScopedOptions = {}): Promise<KeepReport> {
  const sessionId = await idOf(store, scope, name);
  return { sessionId, kept: false, changed: await store.upkeep.unkeep(scope, sessionId) };
}
