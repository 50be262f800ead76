/** A session as its documents say it, and what upkeep noted on it. */
import { WindrowError } from "../../errors.ts";
import type { JsonObject } from "../../message/message.ts";
import { decodeMetadata, decodeState, parseDocument } from "../format/documents.ts";
import { decodeMark, encodeMark, markListing } from "../shared/mark.ts";
import type { Mark } from "../shared/mark.ts";
import type { Engine, Head, HeadsQuery, Step } from "../engine.ts";
import type { Clock } from "../shared/clock.ts";
import { inArchive, inScope, notFound, sessionId } from "../shared/rules.ts";
import type { Taker } from "../shared/holder.ts";
import { heldBy, leaseLeft } from "../shared/remote.ts";
import { busy } from "../shared/unlock.ts";
import type { Mask } from "../../mask/mask.ts";
import type { LogName, Scope, SessionMetadata, SessionState } from "../store.ts";
import type { GivingBack } from "./giving-back.ts";

/** Heads read at once. */
export const pageSize = 100;

/** What the parts of a session store work with. */
export interface Core {
  readonly engine: Engine;
  readonly mask: Mask;
  readonly clock: Clock;
  /**
   * Throws once the store is closed.
   *
   * @throws WindrowError `closed`, `store-unavailable`
   */
  readonly alive: () => void;
  /** Says to others that this process works on a session, until the function that is given back is called. */
  readonly beating: (id: string, holder: Taker) => () => void;
  readonly givingBack: GivingBack;
}

/** A session that lists show, with its documents. */
export interface Found {
  readonly id: string;
  readonly head: Head;
  readonly metadata: SessionMetadata;
  readonly state: SessionState;
  readonly mark: Mark;
}

/** The mark of a session. */
export function markOf({ documents }: Head): Mark {
  return decodeMark(documents.mark);
}

/** Another mark on a session. Who held one that lists leave out is fenced. */
export function marking(head: Head, mark: Mark): readonly [Head, Partial<Step>] {
  const { asideOf: _before, ...listing } = head.listing;
  const marked = { ...listing, ...markListing(mark) };
  return [head, { documents: { mark: encodeMark(mark) }, listing: marked, ...(marked.isHidden && { holder: null }) }];
}

/** A session with its documents; undefined where they cannot be read. */
export function read(head: Head): Found | undefined {
  const { id, documents } = head;
  const metadata = head.decoded?.metadata ?? decodeMetadata(parseDocument(documents.metadata), id);
  const state = head.decoded?.state ?? decodeState(parseDocument(documents.state));
  return metadata && state && { id, head, metadata, state, mark: markOf(head) };
}

/**
 * A session of a scope, whether or not its documents can be read.
 *
 * @throws WindrowError `session-id-invalid`, `session-not-found`
 */
export async function findHead({ engine, alive }: Core, scope: Scope, id: string, known?: Head): Promise<Head> {
  alive();
  const head = known ?? (await engine.head(sessionId(id)));
  alive();
  if (!head || head.listing.isHidden || !inScope(scope, head.listing)) throw notFound(id);
  return head;
}

/**
 * A session of a scope.
 *
 * @throws WindrowError `session-id-invalid`, `session-not-found`, `store-corrupt`
 */
export async function find(core: Core, scope: Scope, id: string, known?: Head): Promise<Found> {
  const found = read(await findHead(core, scope, id, known));
  if (!found) throw unreadable(id);
  return found;
}

/**
 * Refuses a session whose lines lie in an archive.
 *
 * @throws WindrowError `session-archived`
 */
export function checkLinesHere({ id, state }: Pick<Found, "id" | "state">): void {
  if (state.archived) throw inArchive(id, state.archived);
}

/**
 * Refuses a session that a living process holds.
 *
 * @throws WindrowError `session-busy`
 */
export function checkFree(head: Head): void {
  const owner = heldBy(head);
  if (owner) throw busy(owner, leaseLeft(head));
}

/** The documents of a session cannot be read. */
export function unreadable(id: string): WindrowError {
  const message = `The documents of session ${id} are unreadable, so it cannot be opened. \`windrow doctor --mend\` writes them anew.`;
  return new WindrowError("store-corrupt", message, { id });
}

/** A log as people see it. */
export function fileOf({ engine: { logEnding = "" } }: Pick<Core, "engine">, log: LogName): string {
  return `${log}${logEnding}`;
}

/** The name of the object that an archive has of a session. */
export function archivedIn(head: Head): string | undefined {
  return decodeState(parseDocument(head.documents.state))?.archived?.key ?? markOf(head).archivedAs;
}

/** The fields of a session's state, for a change of some. */
export function stateFields({ documents }: Head): JsonObject {
  return parseDocument(documents.state) ?? {};
}

/** The newest first revision of this process. */
let newest = 0;

/** Revisions that a session may come to within the millisecond in which it is made. */
const stride = 64;

/** The revision of a session that is made now: higher than every one of a session that had the id before. */
export function firstRevision(): number {
  newest = Math.max(newest + stride, Date.now() * 1024 + Math.floor(Math.random() * 1024));
  return newest;
}

/** Heads page by page, newest first; those that are made meanwhile may be left out. */
export async function* headsOf(
  { engine }: Core,
  query: Omit<HeadsQuery, "after" | "most">,
  most = pageSize,
): AsyncGenerator<Head> {
  let after: HeadsQuery["after"];
  for (;;) {
    const heads = await engine.heads({ ...query, most, ...(after && { after }) });
    for (const head of heads) {
      after = { createdMs: head.listing.createdMs, id: head.id };
      // Where two names are the same to a database, they are not to their owners.
      if (!query.scope || inScope(query.scope, head.listing)) yield head;
    }
    if (heads.length < most) return;
  }
}

/** What was put aside of a session. */
export async function asidesOf(core: Core, id: string): Promise<readonly Head[]> {
  const found: Head[] = [];
  for await (const head of headsOf(core, { asideOf: id })) found.push(head);
  return found;
}

/** The sessions of a scope that lists leave out. */
export async function* hiddenHeads(core: Core, scope: Scope, one?: string): AsyncGenerator<Head> {
  if (one === undefined) return yield* headsOf(core, { scope, isHidden: true });
  const head = await core.engine.head(sessionId(one));
  if (head?.listing.isHidden && inScope(scope, head.listing)) yield head;
}

/**
 * Changes a session, looked at anew until nobody changes it meanwhile.
 *
 * @param look - gives the head as it is and the change; undefined where nothing is to be changed
 */
export async function change(
  { engine }: Core,
  look: () => Promise<readonly [Head, Partial<Step>] | undefined>,
): Promise<void> {
  for (;;) {
    const found = await look();
    if (!found) return;
    const [{ id, revision }, step] = found;
    const [isMade] = await engine.commit([{ id, at: revision, isDurable: true, ...step }]);
    if (isMade) return;
  }
}
