/**
 * Two hashes of a Redis store that name sessions: those in the trash, by id; and those whose erasure is under way, by id and
 * owner, `<id> ["<tenant>","<user>"]`. An erasure that an earlier version began stands there by its id alone.
 */
import type { Scope } from "../scope.ts";
import { beingErased, finished, formatVersion, isFinal, newerFormat } from "../shared/rules.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import { forgetScript, nameScript } from "./scripts.ts";
import type { SessionHash, SessionRow } from "./session.ts";

/** The owner of a session in the trash, or of one that is being erased. */
export interface Named extends Scope {
  /** The time at which it was put into the trash. */
  readonly time?: string;
  /** The sessions that are being erased, by the names of their makings: others of the same id are not. */
  readonly made?: readonly string[];
  /** The highest place of each when its erasure was begun: one with newer records is meant no more. */
  readonly heads?: readonly (string | null)[];
}

/** A name as it was read: it is forgotten by its text. */
export interface NameRead extends Named {
  readonly text: string;
}

/** The name of a session that is being erased, and the field it stands in. */
export interface ErasureNote extends NameRead {
  readonly id: string;
  readonly field: string;
}

/** The name of a session, if there is one. */
export async function nameIn({ sender }: RedisPlace, key: string, id: string): Promise<NameRead | undefined> {
  const text = await sender.send("HGET", key, id);
  return typeof text === "string" ? { ...(JSON.parse(text) as Named), text } : undefined;
}

/** All names, by id. */
export async function allIn(place: RedisPlace, key: string): Promise<ReadonlyMap<string, NameRead>> {
  const found = new Map<string, NameRead>();
  for (const id of (await place.sender.send("HKEYS", key)) as readonly string[]) {
    const name = await nameIn(place, key, id);
    if (name) found.set(id, name);
  }
  return found;
}

/** Names a session, also where the server's memory is full. */
export async function setName(place: RedisPlace, key: string, id: string, text: string): Promise<void> {
  await run(place, nameScript, [key], [id, text]);
}

/** Forgets a name, unless it is another by now. */
export async function forgetName(place: RedisPlace, key: string, id: string, text: string): Promise<void> {
  await run(place, forgetScript, [key], [id, text]);
}

/** Fields of a hash that are looked through at once. */
const pageFields = 10_000;

/** The field of an owner's erasure of an id. */
function noteField(id: string, { tenant, user }: Scope): string {
  return `${id} ${JSON.stringify([tenant ?? null, user ?? null])}`;
}

/** All erasures that were begun and have not ended, or those of some ids. */
export async function notesIn(
  { sender, keys }: RedisPlace,
  ids?: ReadonlySet<string>,
): Promise<readonly ErasureNote[]> {
  const found = new Map<string, ErasureNote>();
  const [id = ""] = ids?.size === 1 ? ids : [];
  let cursor = "0";
  do {
    const answer = await sender.send("HSCAN", keys.erasing, cursor, "MATCH", `${id}*`, "COUNT", pageFields);
    const [next, fields] = answer as readonly [string, readonly string[]];
    for (let at = 0; at < fields.length; at += 2) {
      const [field = "", text = ""] = fields.slice(at, at + 2);
      const note = noteOf(field, text);
      if (ids?.has(note.id) !== false) found.set(field, note);
    }
    cursor = String(next);
  } while (cursor !== "0");
  return [...found.values()];
}

/** The notes of an owner's erasure of an id: its own, and that of an earlier version, whoever's that is. */
export async function notesOf({ sender, keys }: RedisPlace, id: string, owner: Scope): Promise<readonly ErasureNote[]> {
  const fields = [id, noteField(id, owner)];
  const texts = (await sender.send("HMGET", keys.erasing, ...fields)) as readonly (string | null)[];
  return fields.flatMap((field, at) => (typeof texts[at] === "string" ? [noteOf(field, texts[at])] : []));
}

/** Writes the note of an owner's erasure of an id; answers the field it stands in. */
export async function setNote(place: RedisPlace, id: string, owner: Scope, text: string): Promise<string> {
  const field = noteField(id, owner);
  await setName(place, place.keys.erasing, field, text);
  return field;
}

/** Forgets notes, unless they are others by now. */
export async function forgetNotes(
  place: RedisPlace,
  notes: readonly Pick<ErasureNote, "field" | "text">[],
): Promise<void> {
  for (const { field, text } of notes) await forgetName(place, place.keys.erasing, field, text);
}

function noteOf(field: string, text: string): ErasureNote {
  const [id = ""] = field.split(" ", 1);
  return { ...(JSON.parse(text) as Named), text, id, field };
}

/**
 * Refuses an id whose erasure was begun and has not ended, whoever's it is.
 *
 * @throws WindrowError `session-busy`
 */
export async function checkErasing(place: RedisPlace, id: string): Promise<void> {
  if ((await notesIn(place, new Set([id]))).length > 0) throw beingErased(id);
}

/** Whether a session is one that an erasure was begun of, and was not written since. */
export function isMeant({ made = [""], heads }: Named, { made: making = "", head = "" }: SessionHash): boolean {
  const at = made.indexOf(making);
  return at !== -1 && (heads?.[at] ?? head) === head;
}

/** Whether the erasure of an owner's session was begun and has not ended. */
export async function isBeingErased(
  place: RedisPlace,
  { id, metadata }: Pick<SessionRow, "id" | "metadata">,
  hash: SessionHash,
): Promise<boolean> {
  return (await notesOf(place, id, metadata)).some((note) => isMeant(note, hash));
}

/**
 * Refuses a session that cannot be taken: it is finished, of a newer format, or being erased.
 *
 * @throws WindrowError `format-newer`, `read-only`, `session-busy`
 */
export async function checkWritable(place: RedisPlace, row: SessionRow): Promise<void> {
  const { id, metadata, state, hash } = row;
  if (metadata.format > formatVersion) throw newerFormat(id, metadata.format);
  if (isFinal(state.status)) throw finished(id);
  // A mark that came before the erasure stops it.
  if (hash.kept === undefined && (await isBeingErased(place, row, hash))) throw beingErased(id);
}
