/** A session whose lines go into an archive, and come back. Who moves them holds the session meanwhile. */
import { archivedField, encodeArchiveMark, page } from "../format/documents.ts";
import { timestamp } from "../shared/clock.ts";
import { checkDetachable, resumedMeanwhile } from "../shared/detach.ts";
import { newTaker } from "../shared/holder.ts";
import type { Step } from "../engine.ts";
import type { StoreDetaching } from "../store.ts";
import { archivedIn, asidesOf, checkFree, find, stateFields } from "./found.ts";
import type { Core, Found } from "./found.ts";
import { Steps } from "./transfer.ts";

/** Makes the facet. */
export function detachingOf(core: Core): StoreDetaching {
  return {
    async detach(scope, id, put) {
      const found = await find(core, scope, id);
      const { head, state, mark } = found;
      checkFree(head);
      checkDetachable(id, state.status, mark.kept !== undefined);
      return moving(core, found, {}, async (steps) => {
        // One that is archived already may have lines that a crash left.
        const archived = state.archived ?? (await put(`${head.made}-${steps.revision}`));
        const documents = { state: page({ ...stateFields(head), [archivedField]: encodeArchiveMark(archived) }) };
        await steps.make({ isEmptied: true, documents, holder: null, isDurable: true });
        return archived;
      });
    },
    async names(id, key) {
      core.alive();
      const named = [await core.engine.head(id), ...(await asidesOf(core, id))];
      return named.some((one) => one && archivedIn(one) === key);
    },
    async attach(scope, dump, mark, signal) {
      const { id } = dump;
      const found = await find(core, scope, id);
      const { head, state } = found;
      checkFree(head);
      if (!state.archived) return;
      if (state.archived.key !== mark.key) throw resumedMeanwhile(id);
      await moving(core, found, { isEmptied: true }, async (steps) => {
        await steps.fill(dump, signal);
        await steps.make({ documents: { state: page(dump.state) }, holder: null, isDurable: true });
      });
    },
  };
}

/**
 * Holds a session while its lines move; the last step of the work lets go of it.
 *
 * @param first - what is done with the taking, and again where the work fails
 */
async function moving<T>(
  core: Core,
  { id, head }: Found,
  first: Pick<Step, "isEmptied">,
  work: (steps: Steps) => Promise<T>,
): Promise<T> {
  const holder = newTaker(head.generation + 1, timestamp(core.clock));
  const isTaken = await core.givingBack.take({ id, at: head.revision, ...first, holder, isDurable: false });
  if (!isTaken) throw resumedMeanwhile(id);
  const steps = new Steps(core, id, head.revision + 1);
  const stop = core.beating(id, holder);
  try {
    return await work(steps);
  } catch (error) {
    const released = steps.make({ ...first, holder: null, isDurable: false });
    await core.givingBack.lettingGo({ id, at: steps.revision, holder }, released).catch(() => undefined);
    throw error;
  } finally {
    stop();
  }
}
