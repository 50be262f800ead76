/** Explanations of a session's windows: the one that stands, or one that an epoch opened with. */
import { WindrowError } from "../errors.ts";
import { explainStored } from "../ops/log.ts";
import type { Scope, Store } from "../store/store.ts";
import { Composer } from "../window/epoch.ts";
import type { ComposerOptions } from "../window/epoch.ts";
import { epochOf } from "../window/epoch-record.ts";
import type { EpochData } from "../window/epoch-record.ts";
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
  const { state } = await recordedEpoch(session, epoch);
  const composer = new Composer({ ...session.composer, state });
  for await (const { seq, message } of store.read(scope, id, { kind: "message", to: state.opened })) {
    composer.push(seq, message);
  }
  return explainStored(store, scope, id, { composer, profile, counter, to: state.opened });
}

async function recordedEpoch({ id, store, scope }: ExplainedSession, epoch: number): Promise<EpochData> {
  for await (const record of store.read(scope, id, { kind: "edit" })) {
    const found = record.type === "epoch" ? epochOf(record.data) : undefined;
    if (found?.state.epoch === epoch) return found;
  }
  throw new WindrowError("not-found", `Session ${id} has no epoch ${epoch}; its stats() name the newest.`, {
    id,
    epoch,
  });
}
