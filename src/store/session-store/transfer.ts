/** Restoring a session: it is written under a mark that hides it until all of it is there. */
import { WindrowError } from "../../errors.ts";
import { page } from "../format/documents.ts";
import { timestamp } from "../shared/clock.ts";
import { newTaker } from "../shared/holder.ts";
import { heldBy } from "../shared/remote.ts";
import { alreadyExists, beingErased, haveOneOwner, inScope } from "../shared/rules.ts";
import { admit, compareExisting, parseDumped, weigh } from "../shared/transfer.ts";
import { busy } from "../shared/unlock.ts";
import type { EngineLine, Head, NewHead, Step } from "../engine.ts";
import type { Restored, Scope, SessionDump } from "../store.ts";
import { encodeMark, listingOf } from "../shared/mark.ts";
import { asidesOf, firstRevision, markOf, read, unreadable } from "./found.ts";
import type { Core, Found } from "./found.ts";
import { dumpOf } from "./lines.ts";

/** Looks at an id that is taken by nobody to be seen. */
const looks = 3;

/** Characters written in one step, about. */
const stepCharacters = 1024 * 1024;

/** The steps of a session that this process alone changes. */
export class Steps {
  revision: number;
  readonly #core: Core;
  readonly #id: string;

  constructor(core: Core, id: string, revision: number) {
    this.#core = core;
    this.#id = id;
    this.revision = revision;
  }

  /** @throws WindrowError `fenced` */
  async make(step: Omit<Step, "id" | "at">): Promise<void> {
    const [id, at] = [this.#id, this.revision];
    const [isMade] = await this.#core.engine.commit([{ id, at, ...step }]);
    if (!isMade) {
      throw new WindrowError("fenced", `Another process works on session ${id}; nothing of this try was kept.`, { id });
    }
    this.revision += 1;
  }

  /**
   * Adds the lines of a dump.
   *
   * @throws WindrowError `aborted`, `closed`, `fenced`
   */
  async fill(dump: SessionDump, signal: AbortSignal | undefined): Promise<void> {
    let lines: EngineLine[] = [];
    let characters = 0;
    for await (const { log, line } of dump.lines()) {
      this.#core.alive();
      if (signal?.aborted) throw new WindrowError("aborted", "The writing was stopped; nothing of it was kept.");
      lines.push({ log, line, ...parseDumped({ log, line }) });
      characters += line.length;
      if (characters < stepCharacters) continue;
      await this.make({ lines, isDurable: false });
      [lines, characters] = [[], 0];
    }
    if (lines.length > 0) await this.make({ lines, isDurable: false });
  }
}

/**
 * Makes a session, and gives its revision. What a restore left that died makes room for it; the id of a session that was put aside is its owner's.
 *
 * @throws WindrowError `session-exists`; `session-busy` for an id that is being erased
 */
export async function make(core: Core, head: NewHead): Promise<number> {
  const { engine } = core;
  await checkAsides(core, head);
  let made: number | undefined;
  for (let look = 1; (made = await engine.make(head)) === undefined; look += 1) {
    const found = await engine.head(head.id);
    // It went meanwhile, or is another's whom the place hides.
    if (!found && look < looks) continue;
    if (!found) throw alreadyExists(head.id);
    if (look < looks && (await engine.settle?.(found))) continue;
    const { isErasing, isRestoring } = markOf(found);
    if (isErasing) throw beingErased(head.id);
    if (!isRestoring || heldBy(found)) throw alreadyExists(head.id);
    await engine.remove(head.id, found.revision);
  }
  return made;
}

/** Refuses an id that another has something put aside of. Before the making, so that one that dies leaves no second owner. */
async function checkAsides(core: Core, { id, listing }: NewHead): Promise<void> {
  const asides = await asidesOf(core, id);
  if (asides.some((aside) => markOf(aside).isErasing)) throw beingErased(id);
  if (!asides.every((aside) => haveOneOwner(aside.listing, listing))) throw alreadyExists(id);
}

/**
 * Writes a session of another store.
 *
 * @throws WindrowError as {@link StoreTransfer.restore} says
 */
export async function restore(core: Core, scope: Scope, dump: SessionDump, signal?: AbortSignal): Promise<Restored> {
  const admitted = admit(scope, core.mask, dump);
  const { metadata, state } = admitted;
  const { id } = dump;
  const existing = await core.engine.head(id);
  const isUnderWay = existing && markOf(existing).isRestoring && heldBy(existing);
  if (isUnderWay) throw busy(isUnderWay);
  if (existing && !existing.listing.isHidden)
    return compareExisting(admitted, await dumpOf(core, ownFound(scope, existing)));
  const weighed = weigh(admitted.dump);
  const head: NewHead = {
    id,
    documents: {
      metadata: page(admitted.dump.metadata),
      state: page(admitted.dump.state),
      mark: encodeMark({ isRestoring: true }),
    },
    listing: listingOf(metadata, state, { isRestoring: true }),
    revision: firstRevision(),
    holder: newTaker(1, timestamp(core.clock)),
  };
  const { holder } = head;
  const made = await core.givingBack.taking({ id, at: undefined, holder }, make(core, head));
  const steps = new Steps(core, id, made);
  const stop = core.beating(id, holder);
  try {
    await steps.fill(weighed.dump, signal);
    const listing = listingOf(metadata, state, {});
    await steps.make({ documents: { mark: "" }, listing, holder: null, isDurable: true });
  } catch (error) {
    // A row that cannot be removed now is hidden from readers; the next try removes it.
    const { revision: at } = steps;
    const removed = core.engine.remove(id, at).then((isGone) => isGone || Promise.reject(error));
    await core.givingBack.lettingGo({ id, at, holder }, removed).catch(() => undefined);
    throw error;
  } finally {
    stop();
  }
  return { outcome: "written", masked: admitted.masked(), hash: weighed.summary().hash };
}

function ownFound(scope: Scope, head: Head): Found {
  if (!inScope(scope, head.listing)) throw alreadyExists(head.id);
  const found = read(head);
  if (!found) throw unreadable(head.id);
  return found;
}
