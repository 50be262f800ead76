/** A session whose lines go into an archive, and come back. */
import { archivedField, encodeArchiveMark, page } from "../format/documents.ts";
import { timestamp } from "../shared/clock.ts";
import { checkDetachable, resumedMeanwhile } from "../shared/detach.ts";
import { newTaker } from "../shared/holder.ts";
import { inScope } from "../shared/rules.ts";
import type { Scope, StoreDetaching } from "../store.ts";
import { archivedIn, asidesOf, checkFree, find, stateFields } from "./found.ts";
import type { Core, Found } from "./found.ts";
import { Steps } from "./transfer.ts";

/** Makes the facet. */
export function detachingOf(core: Core): StoreDetaching {
  const { engine } = core;
  const detachable = async (scope: Scope, id: string): Promise<Found> => {
    const first = await find(core, scope, id);
    const found = (await engine.settle?.(first.head)) ? await find(core, scope, id) : first;
    checkFree(found.head);
    checkDetachable(id, found.state.status, found.mark.kept !== undefined);
    return found;
  };
  return {
    writings: async (scope, id) => (await detachable(scope, id)).head.revision,
    async detach(scope, id, mark, at) {
      const { head } = await detachable(scope, id);
      const state = page({ ...stateFields(head), [archivedField]: encodeArchiveMark(mark) });
      const step = { id, at, isEmptied: true, documents: { state }, holder: null, isDurable: true };
      const [isMade] = await engine.commit([step]);
      if (!isMade) throw resumedMeanwhile(id);
    },
    async forgo(scope, id, key, at) {
      core.alive();
      const head = await engine.head(id);
      // Whoever comes with this number from now on finds another.
      if (head && inScope(scope, head.listing)) await engine.commit([{ id, at, isDurable: true }]);
      const now = await engine.head(id);
      return ![now, ...(await asidesOf(core, id))].some((one) => one && archivedIn(one) === key);
    },
    async attach(scope, dump, mark, signal) {
      const { id } = dump;
      const { head, state } = await find(core, scope, id);
      checkFree(head);
      if (!state.archived) return;
      if (state.archived.key !== mark.key) throw resumedMeanwhile(id);
      const holder = newTaker(head.generation + 1, timestamp(core.clock));
      const step = { id, at: head.revision, isEmptied: true, holder, isDurable: false };
      const isTaken = await core.givingBack.take(step);
      if (!isTaken) throw resumedMeanwhile(id);
      const steps = new Steps(core, id, head.revision + 1);
      const stop = core.beating(id, holder);
      try {
        await steps.fill(dump, signal);
        await steps.make({ documents: { state: page(dump.state) }, holder: null, isDurable: true });
      } catch (error) {
        const emptied = steps.make({ isEmptied: true, holder: null, isDurable: false });
        await core.givingBack.lettingGo({ id, at: steps.revision, holder }, emptied).catch(() => undefined);
        throw error;
      } finally {
        stop();
      }
    },
  };
}
