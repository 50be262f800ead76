/** Sessions that a command over all of them could not read, or not in whole: each is told once, and the others go on. */
import { isWindrowError } from "../../errors.ts";
import type { WindrowError } from "../../errors.ts";
import { isAboutRecords } from "../../store/shared/rules.ts";
import type { Recovered, Scope, Store } from "../../store/store.ts";

/** A session that could not be read, or not in whole. */
export interface UnreadableSession {
  readonly sessionId: string;
  /** A code of docs/errors.md. */
  readonly code: string;
  /** The file, the place in it, and what to do. */
  readonly message: string;
}

/** A list of the sessions that could not be read. */
export class Unreadable {
  readonly #found = new Map<string, UnreadableSession>();

  /** Every session once, in the order in which they were met. */
  sessions(): readonly UnreadableSession[] {
    return [...this.#found.values()];
  }

  /** For {@link ListQuery.unreadable}. */
  readonly note = (sessionId: string, { code, message }: WindrowError): void => {
    if (!this.#found.has(sessionId)) this.#found.set(sessionId, { sessionId, code, message });
  };

  /**
   * Reads a session. One that cannot be read is noted, and so is one that can be read only in part.
   *
   * @returns undefined for one that cannot be read
   * @throws what does not concern this session alone
   */
  async attempt<T>(store: Store, scope: Scope, sessionId: string, read: () => Promise<T>): Promise<T | undefined> {
    let result: T | undefined;
    try {
      result = await read();
    } catch (error) {
      if (!concernsOne(error)) throw error;
      if (isWindrowError(error)) this.note(sessionId, error);
      else this.#found.set(sessionId, { sessionId, code: "store-unavailable", message: String(error) });
      return undefined;
    }
    await this.damage(store, scope, sessionId);
    return result;
  }

  /** Notes what was found damaged in a session that was read. */
  async damage(store: Store, scope: Scope, sessionId: string): Promise<void> {
    if (this.#found.has(sessionId)) return;
    const damage = await damageOf(store, scope, sessionId);
    const [first] = damage;
    if (!first) return;
    const more = damage.length > 1 ? `, and ${damage.length - 1} more such places` : "";
    const message =
      `${placeOf(first)} cannot be read${more}; all around it is. \`windrow doctor\` says more; restore the session from ` +
      "a backup.";
    this.#found.set(sessionId, { sessionId, code: "store-corrupt", message });
  }
}

async function damageOf(store: Store, scope: Scope, sessionId: string): Promise<readonly Recovered[]> {
  try {
    return (await store.recovery(scope, sessionId)).filter(({ problem }) => problem === "damaged");
  } catch (error) {
    if (concernsOne(error) || isWindrowError(error, "session-not-found")) return [];
    throw error;
  }
}

/** A damaged place, for people. */
export function placeOf({ file, offset, length, member }: Recovered): string {
  const bytes = `${file}, ${member === undefined ? "" : `member ${member}, `}`;
  return length === 0 ? `${bytes}its end from byte ${offset} on` : `${bytes}bytes ${offset} to ${offset + length}`;
}

/** Errors of one session's records; the others can be read all the same. */
function concernsOne(error: unknown): boolean {
  if (isWindrowError(error)) return error.code === "store-unavailable" || isAboutRecords(error);
  return error instanceof Error && "errno" in error && "code" in error && error.code !== "ENOENT";
}
