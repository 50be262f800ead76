/**
 * Erasing sessions. First a session is emptied and marked, so that its id is not given out; then what lies elsewhere goes, and
 * free space; last the session itself. A crash leaves the mark, and the next erasure ends what was begun.
 */
import type { Head } from "../engine.ts";
import { decodeState, parseDocument } from "../format/documents.ts";
import { checkReach, nowhere } from "../shared/detach.ts";
import { reachOf, reaches } from "../shared/reach.ts";
import type { EraseScope } from "../shared/reach.ts";
import { heldBy } from "../shared/remote.ts";
import { notFound, ownerNamed, sessionId } from "../shared/rules.ts";
import { busy } from "../shared/unlock.ts";
import type { Scope } from "../store.ts";
import { inStoreToo, isKept } from "../upkeep.ts";
import type { EraseElsewhere, Erased, ErasedPlace, Unerased } from "../upkeep.ts";
import { asideId, encodeMark, hiddenHeads, markOf } from "./found.ts";
import type { Core } from "./found.ts";

/** Erases sessions, as {@link Upkeep.erase} says. */
export async function erase(
  core: Core,
  reach: EraseScope,
  ids: readonly string[],
  elsewhere: EraseElsewhere = nowhere,
): Promise<readonly Erased[]> {
  core.alive();
  const known = [...new Set(ids.map(sessionId))];
  if (known.length === 0) return [];
  const heads = await Promise.all(known.map((id) => erasable(core, reach, id, elsewhere)));
  const places = new Map<string, ErasedPlace[]>();
  for (const [place, id] of known.entries()) {
    const own = heads[place]!;
    const found: ErasedPlace[] = [];
    for (const head of own) found.push(await empty(core, head, () => erasable(core, reach, id, elsewhere)));
    places.set(id, found);
  }
  const others = [...(await elsewhere(known))];
  if (core.engine.scrub) others.push(await core.engine.scrub());
  for (const own of heads) for (const { id } of own) await removeErased(core, id);
  return known.map((id) => ({ sessionId: id, places: [...places.get(id)!, ...others] }));
}

/**
 * What there is of a session: itself, and what was put aside of it.
 *
 * @throws WindrowError `session-not-found`, `session-exists`, `bad-option`, `session-busy`, `session-archived`
 */
async function erasable(
  { engine }: Core,
  reach: EraseScope,
  id: string,
  elsewhere: EraseElsewhere,
): Promise<readonly Head[]> {
  const isMeant = (one: Head | undefined): one is Head => one !== undefined && reaches(reachOf(reach, id), one.listing);
  const found: Head[] = [];
  const head = await engine.head(id);
  if (isMeant(head)) {
    const { kept, isErasing } = markOf(head);
    if (reach.trashAlone === true && !head.listing.isHidden) throw inStoreToo(id);
    if (kept && !isErasing) throw isKept(id);
    const owner = heldBy(head);
    if (owner) throw busy(owner);
    checkReach(id, head.documents.state, elsewhere);
    found.push(head);
  }
  for (let n = 0; ; n += 1) {
    const aside = await engine.head(asideId(id, n));
    if (!aside) break;
    if (isMeant(aside)) found.push(aside);
  }
  if (found.length === 0) throw notFound(id);
  return found;
}

/** Empties a session, and marks it; looked at anew where somebody changes it meanwhile. */
async function empty(core: Core, first: Head, again: () => Promise<readonly Head[]>): Promise<ErasedPlace> {
  const { engine } = core;
  for (let head = first; ;) {
    const { trashedAt, asideOf, archivedAs: noted } = markOf(head);
    const { count, bytes } = await engine.size(head.id);
    const archivedAs = decodeState(parseDocument(head.documents.state))?.archived?.key ?? noted;
    const mark = {
      isErasing: true,
      ...(asideOf !== undefined && { asideOf }),
      ...(archivedAs !== undefined && { archivedAs }),
    } as const;
    const step = {
      ...{ id: head.id, at: head.revision, isEmptied: true, isDurable: true, holder: null },
      documents: { metadata: "", state: "", mark: encodeMark(mark) },
      listing: { ...head.listing, isHidden: true },
    };
    const [isMade] = await engine.commit([step]);
    const kind = asideOf === undefined ? (trashedAt === undefined ? "session" : "trash") : "aside";
    if (isMade) return { kind, place: engine.locationOf(head.id), count, bytes };
    const changed = (await again()).find(({ id }) => id === head.id);
    if (!changed) return { kind, place: engine.locationOf(head.id), count: 0, bytes: 0 };
    head = changed;
  }
}

async function removeErased({ engine }: Core, id: string): Promise<void> {
  for (;;) {
    const head = await engine.head(id);
    // Another erasure ended it meanwhile, and the id may have been given out again.
    if (!head || !markOf(head).isErasing || (await engine.remove(id, head.revision))) return;
  }
}

/** The erasures that were begun and have not ended, as {@link Upkeep.unerased} says. */
export async function unerased(core: Core, scope: Scope, reachesArchive: boolean): Promise<readonly Unerased[]> {
  core.alive();
  const found = new Map<string, Unerased>();
  for await (const head of hiddenHeads(core, scope)) {
    const { isErasing, asideOf: sessionId = head.id, archivedAs } = markOf(head);
    if (!isErasing || (archivedAs !== undefined && !reachesArchive)) continue;
    found.set(sessionId, { ...ownerNamed({ ...head.listing }), sessionId });
  }
  return [...found.values()];
}
