/** Lists of what was put aside of a session, one for each owner of a session of its id. */
import { ownerNamed } from "../shared/rules.ts";
import { reaches } from "../shared/reach.ts";
import type { Reach } from "../shared/reach.ts";
import type { Scope } from "../scope.ts";
import { run } from "./database.ts";
import type { RedisPlace } from "./database.ts";
import { ownerName } from "./keys.ts";
import { asideScript } from "./scripts.ts";

/** An owner that has something aside, and the list of it. */
export interface Aside {
  readonly owner: Scope;
  readonly key: string;
}

/**
 * Puts a text aside, unless it is the last there, or the session is another by now.
 *
 * @param seen - generation and taking of the session as it was looked at
 * @returns false where the session is another by now
 */
export async function putAside(
  place: RedisPlace,
  id: string,
  owner: Scope,
  seen: readonly [generation: string, taking: string],
  text: string,
): Promise<boolean> {
  const { session, aside, asides } = place.keys.of(id);
  const values = [...seen, text, ownerName(owner)];
  return Number(await run(place, asideScript, [session, aside(owner), asides], values)) === 1;
}

/** The lists of a session whose owners are in reach. That of no owner has what earlier versions put aside, too. */
export async function asidesIn(place: RedisPlace, reach: Reach, id: string): Promise<readonly Aside[]> {
  const { sender, keys } = place;
  const { aside, asides } = keys.of(id);
  const owners = ((await sender.send("HKEYS", asides)) as readonly string[]).map(ownerFrom);
  if (Number(await sender.send("EXISTS", aside({}))) === 1) owners.push({});
  return owners.filter((owner) => reaches(reach, owner)).map((owner) => ({ owner, key: aside(owner) }));
}

/** Removes the list of an owner, and its name. */
export async function removeAside({ sender, keys }: RedisPlace, id: string, { owner, key }: Aside): Promise<void> {
  await sender.send("UNLINK", key);
  await sender.send("HDEL", keys.of(id).asides, ownerName(owner));
}

function ownerFrom(name: string): Scope {
  const [tenant, user] = JSON.parse(name) as readonly (string | null)[];
  return ownerNamed({ tenant, user });
}
