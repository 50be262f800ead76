/** Lists of sessions: those that lists show come from the index, the others from the folders in which they lie. */
import { join } from "node:path";
import type { Disk } from "../../disk/disk.ts";
import type { Head, HeadsQuery, Listing } from "../engine.ts";
import { inScope, isSessionId } from "../shared/rules.ts";
import { byCreation } from "./catalogue.ts";
import type { Catalogue } from "./catalogue.ts";
import type { IndexEntry } from "./index-file.ts";
import { markFile } from "./folder.ts";
import { locate, namesIn, parents, placeIn } from "./layout.ts";
import type { Place } from "./layout.ts";

/** The store that is listed. */
export interface Listed {
  readonly base: string;
  readonly disk: Disk;
  readonly catalogue: Catalogue;
}

/** Some heads, newest first. */
export async function headsOf(
  listed: Listed,
  query: HeadsQuery,
  headAt: (place: Place) => Promise<Head | undefined>,
): Promise<readonly Head[]> {
  const { isHidden, asideOf, after, most } = query;
  const hidden = isHidden === false ? [] : await hiddenHeads(listed, query, headAt);
  const { catalogue } = listed;
  const isOfHidden = isHidden === true || asideOf !== undefined;
  // The pages behind the first are those of one list.
  const shown = isOfHidden ? [] : await (after ? catalogue.lastListed() : catalogue.listed());
  const found: Head[] = [];
  for (const one of merged(shown, hidden, after)) {
    const head = "head" in one ? one.head : await shownHead(listed, query, one, headAt);
    // One that a crash left among those that lists show is one of the hidden ones.
    const isTwice = !("head" in one) && head?.listing.isHidden === true;
    if (head && !isTwice && isMeant(query, head.listing)) found.push(head);
    if (found.length === most) break;
  }
  return found;
}

type HiddenEntry = IndexEntry & { readonly head: Head };

/** Two lists as one, behind a session that was given before. */
function* merged(
  shown: readonly IndexEntry[],
  hidden: readonly HiddenEntry[],
  after: HeadsQuery["after"],
): Generator<IndexEntry | HiddenEntry> {
  const isBehind = (one: IndexEntry): boolean =>
    !after || byCreation(one, { id: after.id, created: after.createdMs }) > 0;
  let [low, high] = [0, shown.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBehind(shown[middle]!)) high = middle;
    else low = middle + 1;
  }
  const others = hidden.filter(isBehind).sort(byCreation);
  for (let [at, next] = [low, 0]; ;) {
    const [one, other] = [shown[at], others[next]];
    if (!one && !other) return;
    if (one && (!other || byCreation(one, other) <= 0)) {
      yield one;
      at += 1;
    } else {
      yield other!;
      next += 1;
    }
  }
}

/** The head of a session that the index knows; undefined for one that is not asked for, or is gone. */
async function shownHead(
  { base, disk }: Listed,
  { scope, status, isUnfinished, without }: HeadsQuery,
  entry: IndexEntry,
  headAt: (place: Place) => Promise<Head | undefined>,
): Promise<Head | undefined> {
  const { id, created, status: end } = entry;
  if (scope && !inScope(scope, entry)) return undefined;
  if (end !== undefined && ((status ?? end) !== end || isUnfinished || without?.(id))) return undefined;
  const place = locate(base, id, disk);
  const head = place && (await headAt(place));
  // One that moved meanwhile is where it is now.
  const moved = head ? undefined : locate(base, id, disk);
  const now = head ?? (moved && (await headAt(moved)));
  return now && { ...now, listing: { ...now.listing, createdMs: created } };
}

/** The heads of sessions that lists leave out. */
async function hiddenHeads(
  { base, disk }: Listed,
  { asideOf }: HeadsQuery,
  headAt: (place: Place) => Promise<Head | undefined>,
): Promise<readonly HiddenEntry[]> {
  const found: HiddenEntry[] = [];
  for (const parent of asideOf === undefined ? parents : (["aside"] as const)) {
    for (const id of await namesIn(join(base, parent), disk)) {
      const place = placeIn(base, parent, id);
      const head = isSessionId(id) && disk.exists(join(place.folder, markFile)) ? await headAt(place) : undefined;
      if (head?.listing.isHidden) found.push({ id, created: head.listing.createdMs, head });
    }
  }
  return found;
}

function isMeant({ scope, status, isHidden, asideOf }: HeadsQuery, listing: Listing): boolean {
  return (
    (isHidden === undefined || listing.isHidden === isHidden) &&
    (asideOf === undefined || listing.asideOf === asideOf) &&
    (status === undefined || listing.status === status) &&
    (!scope || inScope(scope, listing))
  );
}
