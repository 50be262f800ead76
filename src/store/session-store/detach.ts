/** A session whose lines go into an archive, and come back. */
import { encodeMark as encodeArchiveMark, archivedField, page } from "../format/documents.ts";
import { timestamp } from "../shared/clock.ts";
import { checkDetachable, resumedMeanwhile } from "../shared/detach.ts";
import { newTaker } from "../shared/holder.ts";
import { heldBy } from "../shared/remote.ts";
import { inScope } from "../shared/rules.ts";
import { busy } from "../shared/unlock.ts";
import { decodeState, parseDocument } from "../format/documents.ts";
import type { StoreDetaching } from "../store.ts";
import { find, markOf, stateFields } from "./found.ts";
import type { Core } from "./found.ts";
import { filling } from "./transfer.ts";

/** Makes the facet. */
export function detaching(core: Core): StoreDetaching {
  const { engine } = core;
  return {
    async writings(scope, id) {
      const { head, state, mark } = await find(core, scope, id);
      checkDetachable(id, state.status, mark.kept !== undefined);
      const owner = heldBy(head);
      if (owner) throw busy(owner);
      return head.revision;
    },
    async detach(scope, id, archived, writings) {
      const { head, state, mark } = await find(core, scope, id);
      if (head.revision !== writings) throw resumedMeanwhile(id);
      checkDetachable(id, state.status, mark.kept !== undefined);
      const fields = { ...stateFields(head), [archivedField]: encodeArchiveMark(archived) };
      const step = { id, at: writings, isEmptied: true, documents: { state: page(fields) }, isDurable: true };
      const [isMade] = await engine.commit([step]);
      if (!isMade) throw resumedMeanwhile(id);
    },
    async forgo(scope, id, key, writings) {
      core.alive();
      // Whoever comes with this number from now on finds another.
      await engine.commit([{ id, at: writings, isDurable: true }]);
      const head = await engine.head(id);
      if (!head || !inScope(scope, head.listing)) return true;
      const named = decodeState(parseDocument(head.documents.state))?.archived?.key ?? markOf(head).archivedAs;
      return named !== key;
    },
    async attach(scope, dump, archived, signal) {
      const { id } = dump;
      const { head, state } = await find(core, scope, id);
      const owner = heldBy(head);
      if (owner) throw busy(owner);
      if (state.archived?.key !== archived.key) throw resumedMeanwhile(id);
      const holder = newTaker(head.generation + 1, timestamp(core.clock));
      const [isTaken] = await engine.commit([{ id, at: head.revision, isEmptied: true, holder, isDurable: false }]);
      if (!isTaken) throw resumedMeanwhile(id);
      const fill = filling(core, id, head.revision + 1);
      try {
        await fill.write(dump, signal);
        const { [archivedField]: _archived, ...fields } = stateFields(head);
        await fill.end({ documents: { state: page(fields) }, holder: null });
      } catch (error) {
        const step = { id, at: fill.revision(), isEmptied: true, holder: null, isDurable: false };
        await engine.commit([step]).catch(() => undefined);
        throw error;
      }
    },
  };
}
