/** The parts of a store that a store of one's own may lack. */
import { WindrowError } from "../../errors.ts";
import type { Store } from "../../store/store.ts";

/** What a store cannot do without a part. */
const uses = {
  upkeep: "keep, archive or erase sessions",
  transfer: "give sessions out or take them in",
  holding: "say who holds a session, so it cannot be monitored",
  checkup: "be examined",
} as const;

/**
 * A part of a store.
 *
 * @throws WindrowError `bad-option` if the store lacks it
 */
export function partOf<N extends keyof typeof uses>(store: Store, name: N): NonNullable<Store[N]> {
  const part = store[name];
  if (part) return part;
  const message = `The ${store.name} store cannot ${uses[name]}: it has no Store.${name}.`;
  throw new WindrowError("bad-option", message, { store: store.name });
}
