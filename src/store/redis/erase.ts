/** Erasing sessions in Redis: each copy goes in one script, by what was seen of it, and what came since stays. */
import { randomUUID } from "node:crypto";
import { WindrowError } from "../../errors.ts";
import { heldBy, isUnknownOutcome } from "../shared/remote.ts";
import { haveOneOwner, inScope, notFound, ownerOf } from "../shared/rules.ts";
import { reaches, reachOf } from "../shared/reach.ts";
import type { EraseScope, Reach } from "../shared/reach.ts";
import { busy } from "../shared/unlock.ts";
import type { Scope } from "../scope.ts";
import { inStoreToo, isKept } from "../upkeep.ts";
import type { Erased, ErasedPlace, EraseElsewhere, Unerased } from "../upkeep.ts";
import { asidesIn, removeAside } from "./aside.ts";
import type { Aside } from "./aside.ts";
import { copiesOf, isThere, ownedBy, whose } from "./copies.ts";
import type { Copy } from "./copies.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import type { SessionKeys } from "./keys.ts";
import { forgetName, forgetNotes, isMeant, nameIn, notesIn, notesOf, setNote } from "./named.ts";
import type { ErasureNote, NameRead } from "./named.ts";
import { ownerIn } from "./owner.ts";
import { removeScript, unlistScript } from "./scripts.ts";
import { holderOf } from "./session.ts";
import type { SessionHash } from "./session.ts";

/** A session that may be erased, as it was looked at. */
interface Erasable {
  /** The owners within the scope that have something of it. */
  readonly owners: readonly Scope[];
  readonly copies: readonly Copy[];
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
  erased: EraseScope,
  ids: readonly string[],
  elsewhere: EraseElsewhere,
): Promise<readonly Erased[]> {
  const looked = new Map<string, Erasable>();
  const begun = new Map<string, Scope[]>();
  for (const one of await notesIn(place, new Set(ids))) begun.set(one.id, [...(begun.get(one.id) ?? []), one]);
  for (const id of ids) looked.set(id, await mayErase(place, reachOf(erased, id), id, { owners: begun.get(id) ?? [] }));
  const places = new Map<string, readonly ErasedPlace[]>();
  const notes = new Map<string, Note>();
  for (const [id, found] of looked) {
    const note = await noteOf(place, id, found);
    notes.set(id, note);
    places.set(id, await eraseOne(place, reachOf(erased, id), id, found, note));
  }
  const others = ids.length > 0 ? await elsewhere(ids) : [];
  await place.durability.safe(async () => {
    const left = await Promise.all(
      [...notes].map(async ([id, note]) => [
        ...(await leftOf(place, reachOf(erased, id), id, note)),
        ...(await asidesIn(place, reachOf(erased, id), id)),
      ]),
    );
    return left.every((copies) => copies.length === 0);
  });
  for (const { notes: own } of notes.values()) await forgetNotes(place, own);
  return ids.map((id) => ({ sessionId: id, places: [...(places.get(id) ?? []), ...others] }));
}

/** Erasures that were begun, unless a session of their owner that was made anew under the id, or is kept, is there. */
export async function unerasedIn(place: RedisPlace, scope: Scope): Promise<readonly Unerased[]> {
  const found: Unerased[] = [];
  for (const note of await notesIn(place)) {
    if (!inScope(scope, note)) continue;
    const { id } = note;
    const copies = (await copiesOf(place, id)).filter(isThere);
    const own = ownedBy({ scope: note, users: [note.user] }, copies, await nameIn(place, place.keys.trash, id));
    if (own.every(({ hash }) => isMeant(note, hash) && hash.kept === undefined))
      found.push({ ...ownerOf(note), sessionId: id });
  }
  return found;
}

/** The sessions that an erasure means, and its notes: one for each owner. */
interface Note {
  readonly made: ReadonlySet<string>;
  readonly notes: readonly OwnNote[];
}

/** The note of an owner's erasure, as it was written. */
interface OwnNote extends Pick<ErasureNote, "id" | "field" | "text"> {
  readonly owner: Scope;
  /** The names of the makings of the sessions that it means. */
  readonly made: ReadonlySet<string>;
  /** Those that it meant before, and their heads as far as it said them; undefined where it is new. */
  readonly before: ReadonlyMap<string, string | null> | undefined;
}

/** Whether a copy is one that this erasure means, also where it was written since. */
function isOf(note: Note, one: Copy): boolean {
  return isThere(one) && note.made.has(one.hash.made ?? "");
}

/** The copies that an erasure means, and that are still there. */
async function leftOf(place: RedisPlace, reach: Reach, id: string, note: Note): Promise<readonly Copy[]> {
  const copies = ownedBy(reach, await copiesOf(place, id), await nameIn(place, place.keys.trash, id));
  return copies.filter((one) => isOf(note, one) && (reach.trashAlone !== true || one.kind === "trash"));
}

/**
 * Refuses what may not be erased.
 *
 * @param begun - the owners whose erasures were begun; and the sessions that are meant, else every one of this id
 */
async function mayErase(
  place: RedisPlace,
  reach: Reach,
  id: string,
  begun: { readonly owners: readonly Scope[]; readonly note?: Note },
): Promise<Erasable> {
  const { trashAlone = false } = reach;
  const { note } = begun;
  const name = await nameIn(place, place.keys.trash, id);
  const found = ownedBy(reach, await copiesOf(place, id), name);
  const copies = found.filter((one) => !note || !isThere(one) || isOf(note, one));
  const asides = await asidesIn(place, reach, id);
  const owners = distinct(reach, [
    ...[...copies.map(({ hash }) => ownerIn(hash)), name, ...begun.owners],
    ...asides.map((aside) => aside.owner),
  ]);
  if (owners.length === 0) throw notFound(id);
  const isSession = (one: Copy): boolean => one.kind === "session" && isThere(one) && one.hash.restoring === undefined;
  if (trashAlone && found.some(isSession)) throw inStoreToo(id);
  for (const { hash } of copies) {
    if (hash.kept !== undefined) throw isKept(id);
    const holder = heldBy(await holderOf(place, hash));
    if (holder) throw busy(holder);
  }
  const trashed = name && reaches(reach, name) ? name : undefined;
  return { owners, copies, trashed };
}

/** The owners in reach, each once. */
function distinct(reach: Reach, named: readonly (Scope | undefined)[]): readonly Scope[] {
  const owners: Scope[] = [];
  for (const one of named) {
    if (one && reaches(reach, one) && !owners.some((other) => haveOneOwner(one, other))) owners.push(ownerOf(one));
  }
  return owners;
}

/** Notes that sessions are being erased, with those of erasures that were begun before. */
async function noteOf(place: RedisPlace, id: string, found: Erasable): Promise<Note> {
  const notes: OwnNote[] = [];
  for (const [at, owner] of found.owners.entries()) {
    const begun = (await notesOf(place, id, owner)).filter((one) => haveOneOwner(one, owner));
    const before = begun.length === 0 ? undefined : new Map(begun.flatMap((one) => [...meantBy(one)]));
    const meant = new Map(before);
    for (const one of found.copies.filter(isThere)) {
      const own = whose(one, found.trashed);
      // One that names nobody goes with the first.
      if (own ? haveOneOwner(own, owner) : at === 0) meant.set(one.hash.made ?? "", one.hash.head ?? "");
    }
    const text = textOf(owner, meant);
    const field = await setNote(place, id, owner, text);
    // That of an earlier version stands by the id alone.
    await forgetNotes(
      place,
      begun.filter((one) => one.field !== field),
    );
    notes.push({ id, owner, field, text, made: new Set(meant.keys()), before });
  }
  return { made: new Set(notes.flatMap(({ made }) => [...made])), notes };
}

/** The sessions that a note means, and their heads as far as it says them. */
function meantBy(note: NameRead): ReadonlyMap<string, string | null> {
  return new Map((note.made ?? []).map((made, at) => [made, note.heads?.[at] ?? null]));
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
      const { copies } = await mayErase(place, reach, id, { owners: first.owners, note });
      for (const one of copies) await removed.remove(one);
    }
  } catch (error) {
    if (error instanceof WindrowError && !isUnknownOutcome(error)) await takeBack(place, note, removed.made);
    throw error;
  }
  // From here on no line of a session that is gone is put there.
  for (const aside of await asidesIn(place, reach, id)) await removed.removeAside(aside);
  if (first.trashed) await forgetName(place, place.keys.trash, id, first.trashed.text);
  const listed = await unlist(place, id, reach.scope);
  const index = {
    kind: "index",
    place: place.keys.sessions(reach.scope),
    count: listed,
    bytes: listed * id.length,
  } as const;
  return [...removed.places(reach.scope), index];
}

/** The notes mean what is gone alone: what is left was refused. */
async function takeBack(place: RedisPlace, { notes }: Note, gone: readonly string[]): Promise<void> {
  for (const note of notes) {
    const meant = new Map(note.before);
    for (const made of gone) if (note.made.has(made)) meant.set(made, null);
    if (meant.size === 0 && !note.before) await forgetNotes(place, [note]);
    else await setNote(place, note.id, note.owner, textOf(note.owner, meant));
  }
}

/** The keys of a session that were removed. */
class Removed {
  /** The names of the makings of those that are gone. */
  readonly made: string[] = [];
  readonly #id: string;
  readonly #place: RedisPlace;
  readonly #own: SessionKeys;
  readonly #trash: SessionKeys;
  readonly #weights = { session: nothing, trash: nothing };
  /** The lists of what was put aside. */
  readonly #asides = new Map<string, Weight>();

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
    this.#asides.set(aside.key, await weightOf(this.#place, [aside.key]));
    await removeAside(this.#place, this.#id, aside);
  }

  /** @param owner - whose list is named where there was none */
  places(owner: Scope): readonly ErasedPlace[] {
    const { session, trash } = this.#weights;
    if (this.#asides.size === 0) this.#asides.set(this.#own.aside(owner), nothing);
    return [
      { kind: "session", place: this.#own.session, ...session },
      { kind: "trash", place: this.#trash.session, ...trash },
      ...[...this.#asides].map(([place, weight]) => ({ kind: "aside", place, ...weight }) as const),
    ];
  }
}

const nothing: Weight = { count: 0, bytes: 0 };

function sum(one: Weight, other: Weight): Weight {
  return { count: one.count + other.count, bytes: one.bytes + other.bytes };
}

/** Takes a session that is not there from its list; answers how often it stood there. */
export async function unlist(place: RedisPlace, id: string, scope: Scope): Promise<number> {
  const { sender, keys } = place;
  const [session, list] = [keys.of(id).session, keys.sessions(scope)];
  if (!sender.isCluster) return Number(await run(place, unlistScript, [session, list], [id]));
  // The list is on another node than the session.
  if (Number(await sender.send("EXISTS", session)) === 1) return 0;
  return Number(await sender.send("ZREM", list, id));
}
