/** The check of the options that a kind of store has. */
import { WindrowError } from "../../errors.ts";
import { nearest } from "../../nearest.ts";

/**
 * Refuses an option that is misspelled, and a durability that is none.
 *
 * @param kind - as people write it: `Redis`
 * @throws WindrowError `bad-option`
 */
export function checkOwnOptions(
  kind: string,
  options: { readonly durability?: unknown },
  known: readonly string[],
): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw badOption(`The ${kind} store has no option "${name}".${nearest(name, known)}`, name);
  }
  const { durability } = options;
  if (["strict", "group", undefined].includes(durability as string | undefined)) return;
  throw badOption(`"durability" is "strict" or "group", not "${String(durability)}".`, "durability");
}

/** The refusal of an option. */
export function badOption(message: string, option: string): WindrowError {
  return new WindrowError("bad-option", message, { option });
}
