/** Erasing sessions in Redis: each copy goes in one script, by what was seen of it, and what came since stays. */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../../errors.ts";
import { heldBy, isUnknownOutcome } from "../shared/remote.ts";
import { inScope, notFound, ownerOf } from "../shared/rules.ts";
import { busy } from "../shared/unlock.ts";
import type { Scope } from "../scope.ts";
import { inStoreToo, isKept } from "../upkeep.ts";
import type { Erased, ErasedPlace, EraseElsewhere, EraseLimits } from "../upkeep.ts";
import { asidesIn, removeAside } from "./aside.ts";
import type { Aside } from "./aside.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import type { SessionKeys } from "./keys.ts";
import { allIn, forgetName, isMeant, nameIn, setName } from "./named.ts";
import type { NameRead } from "./named.ts";
import { ownerIn } from "./owner.ts";
import { removeScript, unlistScript } from "./scripts.ts";
import { holderOf, readHash } from "./session.ts";
import type { SessionHash } from "./session.ts";

/** A session's keys in the store, or in the trash; its hash has no fields where it is not there. */
interface Copy {
  readonly kind: "session" | "trash";
  readonly keys: SessionKeys;
  readonly hash: SessionHash;
}

/** A session that may be erased, as it was looked at. */
interface Erasable {
  readonly owner: Scope;
  readonly copies: readonly Copy[];
  /** The note of an erasure that was begun before. */
  readonly begun: NameRead | undefined;
  /** Its name in the trash. */
  readonly trashed: NameRead | undefined;
}

/** Keys, and their bytes. */
export interface Weight {
  readonly count: number;
  readonly bytes: number;
}

/** The weight of the keys that are there. */
export async function weightOf({ sender }: RedisPlace, keys: readonly string[]): Promise<Weight> {
  let [count, bytes] = [0, 0];
  for (const key of keys) {
    const size = await sender.send("MEMORY", "USAGE", key);
    if (size === null) continue;
    count += 1;
    bytes += Number(size);
  }
  return { count, bytes };
}

/** The values by which the script that removes a session compares it. */
export function seenIn({ generation, taking, kept, head, revision }: SessionHash): readonly string[] {
  return [generation, taking, kept, head, revision].map((value) => value ?? "");
}

/**
 * Erases sessions.
 *
 * @throws WindrowError as {@link Upkeep.erase} says
 */
export async function eraseSessions(
  place: RedisPlace,
  reach: Reach,
  ids: readonly string[],
  elsewhere: EraseElsewhere,
): Promise<readonly Erased[]> {
  const looked = new Map<string, Erasable>();
  for (const id of ids) looked.set(id, await mayErase(place, reach, id));
  const places = new Map<string, readonly ErasedPlace[]>();
  const notes = new Map<string, Note>();
  for (const [id, found] of looked) {
    const note = await noteOf(place, id, found);
    notes.set(id, note);
    places.set(id, await eraseOne(place, reach, id, found, note));
  }
  const others = ids.length > 0 ? await elsewhere(ids) : [];
  await place.durability.safe(async () => {
    const left = await Promise.all(
      [...notes].map(async ([id, note]) => [
        ...(await leftOf(place, reach, id, note)),
        ...(await asidesIn(place, reach.scope, id)),
      ]),
    );
    return left.every((copies) => copies.length === 0);
  });
  for (const [id, { text }] of notes) await forgetName(place, place.keys.erasing, id, text);
  return ids.map((id) => ({ sessionId: id, places: [...(places.get(id) ?? []), ...others] }));
}

/** Sessions whose erasure was begun, unless one that was made anew under the id, or is kept, is there. */
export async function unerasedIn(place: RedisPlace, scope: Scope): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [id, note] of await allIn(place, place.keys.erasing)) {
    if (!inScope(scope, note)) continue;
    const copies = (await copiesOf(place, id)).filter(isThere);
    if (copies.every(({ hash }) => isMeant(note, hash) && hash.kept === undefined)) found.push(id);
  }
  return found;
}

/** The owner whose sessions are erased, and the limits of the erasure. */
interface Reach extends EraseLimits {
  readonly scope: Scope;
}

/** The sessions that an erasure means, and the text of its note. */
interface Note {
  readonly made: ReadonlySet<string>;
  readonly text: string;
}

function isThere({ hash }: Copy): boolean {
  return Object.keys(hash).length > 0;
}

/** Whether a copy is one that this erasure means, also where it was written since. */
function isOf(note: Note, one: Copy): boolean {
  return isThere(one) && note.made.has(one.hash.made ?? "");
}

async function copiesOf(place: RedisPlace, id: string): Promise<readonly Copy[]> {
  const all = [["session", place.keys.of(id)] as const, ["trash", place.keys.inTrash(id)] as const];
  return Promise.all(all.map(async ([kind, keys]) => ({ kind, keys, hash: await readHash(place, keys.session) })));
}

/** The copies of one owner's sessions; one whose metadata cannot be read goes with the others of its id. */
function ownedBy(scope: Scope, copies: readonly Copy[], trashed: NameRead | undefined): readonly Copy[] {
  return copies.filter(({ kind, hash }) => {
    const owner = ownerIn(hash) ?? (kind === "trash" ? trashed : undefined);
    return !owner || inScope(scope, owner);
  });
}

/** The copies that an erasure means, and that are still there. */
async function leftOf(
  place: RedisPlace,
  { scope, trashAlone }: Reach,
  id: string,
  note: Note,
): Promise<readonly Copy[]> {
  const copies = ownedBy(scope, await copiesOf(place, id), await nameIn(place, place.keys.trash, id));
  return copies.filter((one) => isOf(note, one) && (trashAlone !== true || one.kind === "trash"));
}

/**
 * Refuses what may not be erased.
 *
 * @param note - default: every session of this id is meant
 */
async function mayErase(place: RedisPlace, reach: Reach, id: string, note?: Note): Promise<Erasable> {
  const { scope, trashAlone = false } = reach;
  const begun = await nameIn(place, place.keys.erasing, id);
  const name = await nameIn(place, place.keys.trash, id);
  const found = ownedBy(scope, await copiesOf(place, id), name);
  const copies = found.filter((one) => !note || !isThere(one) || isOf(note, one));
  const asides = await asidesIn(place, scope, id);
  const owners = [...copies.map(({ hash }) => ownerIn(hash)), name, begun, ...asides.map((aside) => aside.owner)];
  const owner = owners.find((one) => one && inScope(scope, one));
  if (!owner) throw notFound(id);
  const isSession = (one: Copy): boolean => one.kind === "session" && isThere(one) && one.hash.restoring === undefined;
  if (trashAlone && found.some(isSession)) throw inStoreToo(id);
  for (const { hash } of copies) {
    if (hash.kept !== undefined) throw isKept(id);
    const holder = heldBy(await holderOf(place, hash));
    if (holder) throw busy(holder);
  }
  const trashed = name && inScope(scope, name) ? name : undefined;
  return { owner: ownerOf(owner), copies, begun, trashed };
}

/** Notes that sessions are being erased, with those of an erasure that was begun before. */
async function noteOf(place: RedisPlace, id: string, { owner, copies, begun }: Erasable): Promise<Note> {
  const meant = meantBy(begun);
  for (const { hash } of copies.filter(isThere)) meant.set(hash.made ?? "", hash.head ?? "");
  const text = textOf(owner, meant);
  await setName(place, place.keys.erasing, id, text);
  return { made: new Set(meant.keys()), text };
}

/** The sessions that a note means, and their heads as far as it says them. */
function meantBy(note: NameRead | undefined): Map<string, string | null> {
  return new Map((note?.made ?? []).map((made, at) => [made, note?.heads?.[at] ?? null]));
}

function textOf(owner: Scope, meant: ReadonlyMap<string, string | null>): string {
  return JSON.stringify({ ...owner, made: [...meant.keys()], heads: [...meant.values()], name: randomUUID() });
}

async function eraseOne(
  place: RedisPlace,
  reach: Reach,
  id: string,
  first: Erasable,
  note: Note,
): Promise<readonly ErasedPlace[]> {
  const removed = new Removed(id, place);
  try {
    // A session may go from one place to the other meanwhile.
    for (let left = first.copies; left.length > 0; left = await leftOf(place, reach, id, note)) {
      const { copies } = await mayErase(place, reach, id, note);
      for (const one of copies) await removed.remove(one);
    }
  } catch (error) {
    if (error instanceof WindrowError && !isUnknownOutcome(error)) await takeBack(place, id, first, note, removed.made);
    throw error;
  }
  // From here on no line of a session that is gone is put there.
  for (const aside of await asidesIn(place, reach.scope, id)) await removed.removeAside(aside);
  if (first.trashed) await forgetName(place, place.keys.trash, id, first.trashed.text);
  const listed = await unlist(place, id, first.owner);
  const index = {
    kind: "index",
    place: place.keys.sessions(first.owner),
    count: listed,
    bytes: listed * id.length,
  } as const;
  return [...removed.places(), index];
}

/** The note means what is gone alone: what is left was refused. */
async function takeBack(
  place: RedisPlace,
  id: string,
  { owner, begun }: Erasable,
  note: Note,
  gone: readonly string[],
): Promise<void> {
  const meant = meantBy(begun);
  for (const made of gone) meant.set(made, null);
  if (meant.size === 0 && !begun) return forgetName(place, place.keys.erasing, id, note.text);
  await setName(place, place.keys.erasing, id, textOf(owner, meant));
}

/** The keys of a session that were removed. */
class Removed {
  /** The names of the makings of those that are gone. */
  readonly made: string[] = [];
  readonly #id: string;
  readonly #place: RedisPlace;
  readonly #own: SessionKeys;
  readonly #trash: SessionKeys;
  readonly #weights = { session: nothing, trash: nothing, aside: nothing };

  constructor(id: string, place: RedisPlace) {
    this.#id = id;
    this.#place = place;
    this.#own = place.keys.of(id);
    this.#trash = place.keys.inTrash(id);
  }

  /** Removes a copy where it is as it was seen. */
  async remove({ kind, keys, hash }: Copy): Promise<void> {
    const all = [keys.session, ...keys.logs];
    const weight = await weightOf(this.#place, all);
    if (Number(await run(this.#place, removeScript, all, seenIn(hash))) < 0) return;
    if (Object.keys(hash).length > 0) this.made.push(hash.made ?? "");
    this.#weights[kind] = sum(this.#weights[kind], weight);
  }

  async removeAside(aside: Aside): Promise<void> {
    this.#weights.aside = sum(this.#weights.aside, await weightOf(this.#place, [aside.key]));
    await removeAside(this.#place, this.#id, aside);
  }

  places(): readonly ErasedPlace[] {
    const { session, trash, aside } = this.#weights;
    return [
      { kind: "session", place: this.#own.session, ...session },
      { kind: "trash", place: this.#trash.session, ...trash },
      { kind: "aside", place: this.#own.aside({}), ...aside },
    ];
  }
}

const nothing: Weight = { count: 0, bytes: 0 };

function sum(one: Weight, other: Weight): Weight {
  return { count: one.count + other.count, bytes: one.bytes + other.bytes };
}

/** Takes a session that is not there from its list; answers how often it stood there. */
export async function unlist(place: RedisPlace, id: string, owner: Scope): Promise<number> {
  const { sender, keys } = place;
  const [session, list] = [keys.of(id).session, keys.sessions(owner)];
  if (!sender.isCluster) return Number(await run(place, unlistScript, [session, list], [id]));
  // The list is on another node than the session.
  if (Number(await sender.send("EXISTS", session)) === 1) return 0;
  return Number(await sender.send("ZREM", list, id));
}
