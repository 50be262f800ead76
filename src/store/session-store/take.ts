/** How a session is made or taken. */
import { encodeMetadata, encodeState, initialState } from "../format/documents.ts";
import { timestamp } from "../shared/clock.ts";
import { newTaker } from "../shared/holder.ts";
import type { Taker } from "../shared/holder.ts";
import { prepareMetadata } from "../shared/prepare.ts";
import { recounted } from "../shared/recount.ts";
import { sessionId } from "../shared/rules.ts";
import { continuedFrom, messagesLacking, numberLine } from "../shared/session-log.ts";
import type { Continued, Counters, Encoded } from "../shared/session-log.ts";
import type { NewSession, Scope, SessionState } from "../store.ts";
import { listingOf } from "../shared/mark.ts";
import { firstRevision } from "./found.ts";
import type { Core, Found } from "./found.ts";
import { linesOf } from "./lines.ts";
import { make } from "./transfer.ts";

/** Makes a session, held. */
export async function created(
  core: Core,
  scope: Scope,
  session: NewSession,
): Promise<{ readonly found: Found; readonly holder: Taker }> {
  const id = sessionId(session.uuid);
  const metadata = prepareMetadata(core.mask, scope, session);
  const state = initialState(session.createdAt);
  const holder = newTaker(1, timestamp(core.clock));
  const revision = firstRevision();
  const head = {
    id,
    documents: { metadata: encodeMetadata(metadata), state: encodeState(state), mark: "" },
    listing: listingOf(metadata, state, {}),
    revision,
    holder,
  };
  const made = await core.givingBack.taking({ id, at: undefined, holder }, make(core, head));
  const numbers = { revision: made, made, origin: made, generation: 1, silentMs: 0 };
  return { found: { id, head: { ...head, ...numbers }, metadata, state, mark: {} }, holder };
}

/**
 * Takes a session as it was found, and adds lines with that.
 *
 * @param numbers - its last ones, read with the session or behind it
 * @returns undefined where somebody changed it since
 */
export async function taken(
  core: Core,
  { id, head, state }: Found,
  encoded: readonly Encoded[],
  numbers: Counters,
): Promise<{ readonly holder: Taker; readonly continued: Continued } | undefined> {
  const continued = continuedFrom(numbers, head.documents.state, core.engine);
  const lacking = state.archived ? undefined : messagesLacking(id, numbers, continued);
  if (lacking) {
    // They may have gone into an archive meanwhile.
    if ((await core.engine.head(id))?.revision !== head.revision) return undefined;
    throw lacking;
  }
  const holder = newTaker(head.generation + 1, timestamp(core.clock));
  const lines = encoded.map((one) => numberLine(continued.counters, one));
  const isTaken = await core.givingBack.take({ id, at: head.revision, holder, lines, isDurable: true });
  return isTaken ? { holder, continued } : undefined;
}

/** The state of a session whose writer died, with what the lines say more. */
export function recountedState(core: Core, found: Found): Promise<SessionState> {
  return recounted(found, found.head.documents.state, (log) => linesOf(core, found, log));
}
