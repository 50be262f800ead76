/** Two hashes of a Redis store that name sessions: those in the trash, and those whose erasure is under way. */
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

/**
 * Refuses an id whose erasure was begun and has not ended.
 *
 * @throws WindrowError `session-busy`
 */
export async function checkErasing({ sender, keys }: RedisPlace, id: string): Promise<void> {
  if (Number(await sender.send("HEXISTS", keys.erasing, id)) === 1) throw beingErased(id);
}

/** Whether a session is one that an erasure was begun of, and was not written since. */
export function isMeant({ made = [""], heads }: Named, { made: making = "", head = "" }: SessionHash): boolean {
  const at = made.indexOf(making);
  return at !== -1 && (heads?.[at] ?? head) === head;
}

/** Whether the erasure of a session was begun and has not ended. */
export async function isBeingErased(place: RedisPlace, id: string, hash: SessionHash): Promise<boolean> {
  const note = await nameIn(place, place.keys.erasing, id);
  return note !== undefined && isMeant(note, hash);
}

/**
 * Refuses a session that cannot be taken: it is finished, of a newer format, or being erased.
 *
 * @throws WindrowError `format-newer`, `read-only`, `session-busy`
 */
export async function checkWritable(place: RedisPlace, { id, metadata, state, hash }: SessionRow): Promise<void> {
  if (metadata.format > formatVersion) throw newerFormat(id, metadata.format);
  if (isFinal(state.status)) throw finished(id);
  // A mark that came before the erasure stops it.
  if (hash.kept === undefined && (await isBeingErased(place, id, hash))) throw beingErased(id);
}
