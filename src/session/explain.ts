/** Explanations of a session's windows: the one that stands, or one that an epoch opened with. */
import { explainStored, recordedEpoch } from "./log.ts";
import type { Scope, Store } from "../store/store.ts";
import { Composer } from "../window/composer.ts";
import type { ComposerOptions } from "../window/compose-options.ts";
import type { Explanation } from "../window/explain.ts";

/** The session whose window is explained. */
export interface ExplainedSession {
  readonly id: string;
  readonly store: Store;
  readonly scope: Scope;
  readonly composer: ComposerOptions;
}

/**
 * Explains the window a session's composer shows, or the window of an epoch in its log.
 *
 * @throws WindrowError `not-found` for an epoch the log does not hold
 */
export async function explainSession(
  session: ExplainedSession,
  current: Composer,
  epoch: number | undefined,
): Promise<Explanation> {
  const { id, store, scope } = session;
  const { profile, counter } = session.composer;
  if (epoch === undefined) return explainStored(store, scope, id, { composer: current, profile, counter });
  const { state } = await recordedEpoch(store, scope, id, epoch);
  const composer = new Composer({ ...session.composer, state });
  for await (const { seq, message } of store.read(scope, id, { kind: "message", to: state.opened })) {
    composer.push(seq, message);
  }
  return explainStored(store, scope, id, { composer, profile, counter, to: state.opened });
}
