/** Sessions at rest: those that nobody resumed for long get there, and are compressed as finished ones are. */
import { isWindrowError } from "../../errors.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import type { Upkeep } from "../../store/upkeep.ts";
import { lastRecordAt } from "../look/age.ts";
import { isIdle, retire } from "../monitor/retire.ts";
import type { Ages } from "./ages.ts";
import type { Tally } from "./tally.ts";

/** Puts a session to rest where nobody resumed it for long, and compresses one that is at rest where it is time. */
export async function rest(
  store: Store,
  upkeep: Upkeep,
  info: SessionInfo,
  ages: Ages,
  time: Date,
  { scope = {}, dryRun = false }: { readonly scope?: Scope; readonly dryRun?: boolean },
  tally: Tally,
): Promise<void> {
  const { uuid: sessionId, user } = info.metadata;
  const wasClosed = info.state.status === "closed";
  const last = wasClosed || (await isIdle(store, scope, info)) ? await lastRecordAt(store, scope, info) : undefined;
  if (last === undefined) return;
  const age = time.getTime() - last;
  if (!wasClosed && age < ages.closedAfter) return;
  const size = await upkeep.size(scope, sessionId);
  const one = {
    sessionId,
    ...(user !== undefined && { user }),
    since: new Date(last).toISOString(),
    bytes: size.bytes,
  };
  if (!wasClosed && (dryRun || (await retire(store, scope, sessionId, last, time)))) tally.retired.push(one);
  else if (!wasClosed) return;
  if (age < ages.compressAfter || size.compressed || !upkeep.compress) return;
  if (await upkeep.kept(scope, sessionId)) return;
  if (dryRun) return void tally.compressed.push(one);
  try {
    const { bytes: bytesAfter, compressed } = await upkeep.compress(scope, sessionId);
    if (compressed) tally.compressed.push({ ...one, bytesAfter });
  } catch (error) {
    // Somebody resumed it, or is just looking.
    if (!isWindrowError(error, "session-busy") && !isWindrowError(error, "bad-option")) throw error;
  }
}
