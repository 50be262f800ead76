/**
 * Erasing sessions. First a session is emptied and marked, so that its id is not given out; then what lies elsewhere goes, and
 * free space; last the session itself. A crash leaves the mark, and the next erasure ends what was begun.
 */
import type { Head } from "../engine.ts";
import { nowhere } from "../shared/detach.ts";
import { inArchive, inScope, notFound, ownerNamed, sessionId } from "../shared/rules.ts";
import type { Scope } from "../store.ts";
import { inStoreToo, isKept } from "../upkeep.ts";
import type { EraseElsewhere, Erased, ErasedPlace, EraseLimits, Unerased } from "../upkeep.ts";
import { archivedIn, asidesOf, checkFree, hiddenHeads, marking, markOf } from "./found.ts";
import type { Core } from "./found.ts";

/** Erases sessions, as {@link Upkeep.erase} says. */
export async function erase(
  core: Core,
  scope: Scope,
  ids: readonly string[],
  elsewhere: EraseElsewhere = nowhere,
  { trashAlone = false }: EraseLimits = {},
): Promise<readonly Erased[]> {
  core.alive();
  const known = [...new Set(ids.map(sessionId))];
  if (known.length === 0) return [];
  const makings = new Map<string, number>();
  const look = async (id: string): Promise<readonly Head[]> => {
    const heads = await erasable(core, scope, id, elsewhere, trashAlone);
    makings.set(id, Math.max(makings.get(id) ?? 0, ...heads.map(makingOf)));
    return heads;
  };
  const firsts = await Promise.all(known.map(look));
  const emptied: ReadonlyMap<string, ErasedPlace>[] = [];
  for (const [place, id] of known.entries()) {
    emptied.push(await empty(core, firsts[place]!, () => look(id)));
  }
  const others = [...(await elsewhere(known, makings))];
  if (core.engine.scrub) others.push(await core.engine.scrub());
  for (const own of emptied) for (const id of own.keys()) await removeErased(core, id);
  return known.map((sessionId, place) => ({ sessionId, places: [...emptied[place]!.values(), ...others] }));
}

/**
 * What there is of a session: itself, and what was put aside of it.
 *
 * @throws WindrowError `session-not-found`, `session-exists`, `bad-option`, `session-busy`, `session-archived`
 */
async function erasable(
  core: Core,
  scope: Scope,
  id: string,
  elsewhere: EraseElsewhere,
  trashAlone: boolean,
): Promise<readonly Head[]> {
  const isMeant = (one: Head | undefined): one is Head => one !== undefined && inScope(scope, one.listing);
  const found: Head[] = [];
  const head = await core.engine.head(id);
  if (isMeant(head)) {
    const { kept, isErasing } = markOf(head);
    if (trashAlone && !head.listing.isHidden) throw inStoreToo(id);
    if (kept && !isErasing) throw isKept(id);
    checkFree(head);
    found.push(head);
  }
  // Behind the head: one that is put aside meanwhile is found twice, and looked for again.
  found.push(...(await asidesOf(core, id)).filter(isMeant));
  if (found.length === 0) throw notFound(id);
  if (!elsewhere.reachesArchive && found.some((one) => archivedIn(one) !== undefined)) throw inArchive(id);
  return found;
}

/** Empties what there is of a session, and marks it; looked at anew where somebody changes it meanwhile. */
async function empty(
  { engine }: Core,
  first: readonly Head[],
  again: () => Promise<readonly Head[]>,
): Promise<ReadonlyMap<string, ErasedPlace>> {
  const places = new Map<string, ErasedPlace>();
  for (let left = first; left.length > 0;) {
    let isChanged = false;
    for (const head of left) {
      const { trashedAt, asideOf } = markOf(head);
      const place = engine.locationOf(head.id);
      const { count, bytes } = await engine.size(head.id);
      const archivedAs = archivedIn(head);
      const [, step] = marking(head, {
        isErasing: true,
        made: makingOf(head),
        ...(asideOf !== undefined && { asideOf }),
        ...(archivedAs !== undefined && { archivedAs }),
      });
      const documents = { metadata: "", state: "", ...step.documents };
      const change = { id: head.id, at: head.revision, ...step, documents, isEmptied: true, isDurable: true };
      const [isMade] = await engine.commit([change]);
      const kind = asideOf === undefined ? (trashedAt === undefined ? "session" : "trash") : "aside";
      // Nothing that was put aside of it goes before the session itself, which may be refused by now.
      if (!isMade) {
        isChanged = true;
        break;
      }
      places.set(head.id, { kind, place, count, bytes });
    }
    left = isChanged ? (await again()).filter(({ id }) => !places.has(id)) : [];
  }
  return places;
}

/** The making of a session, also once its documents are gone. */
function makingOf(head: Head): number {
  return markOf(head).made ?? head.made;
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
