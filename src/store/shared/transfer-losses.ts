/** The losses of a session on its way to another store, by its numbers and by the counts of its state. */
import { LossCheck, impliedBy } from "./losses.ts";
import type { Losses } from "./losses.ts";
import { checksumOf, sealIn } from "../format/seal.ts";
import { decodeState } from "../format/documents.ts";
import { isWindrowError } from "../../errors.ts";
import type { Scope, SessionDump, Store } from "../store.ts";
import { parseDumped } from "./transfer.ts";
import { logKinds } from "../format/logs.ts";
import { decodeRecord } from "../format/record.ts";

/** A dump that is watched as it flows by. */
export interface Watched {
  readonly dump: SessionDump;
  /** The losses of the lines that were read last. */
  losses(): Losses;
}

/** Watches a dump while other code reads it. */
export function watchLosses(dump: SessionDump): Watched {
  let check = checkOf(dump);
  return {
    dump: {
      ...dump,
      async *lines() {
        check = checkOf(dump);
        for await (const one of dump.lines()) {
          const { fields, seq, pos } = parseDumped(one);
          const place = fields["pos"] === undefined ? undefined : pos;
          check.imply(impliedBy(decodeRecord(logKinds[one.log], fields)));
          check.add(one.log, { seq, pos: place, checksum: checksumOf({ fields, text: one.line }) });
          yield one;
        }
      },
    },
    losses: () => check.result(),
  };
}

/** Reads a dump to its end. */
export async function lossesOf(dump: SessionDump): Promise<Losses> {
  const watched = watchLosses(dump);
  for await (const _line of watched.dump.lines());
  return watched.losses();
}

/** Whether anything is missing, or is not what the session was finished with. */
export function isLossy({ records, differs }: Losses): boolean {
  return records > 0 || differs;
}

/** The losses of a session, in a sentence. */
export function lossMessage(id: string, { records, differs }: Losses): string {
  return differs
    ? `The logs of session ${id} are not those it was finished with.`
    : `Session ${id} lacks ${records} of its records.`;
}

function checkOf({ state }: SessionDump): LossCheck {
  const check = new LossCheck(sealIn(state));
  const { llmCallCount = 0, toolCallCount = 0 } = decodeState(state) ?? {};
  if (llmCallCount + toolCallCount > 0) check.imply(1);
  return check;
}

/** Damaged spans of a session that was read to its end; one that went behind its last line tells of none. */
export async function damagedIn(from: Store, scope: Scope, id: string): Promise<number> {
  try {
    return (await from.recovery(scope, id)).filter(({ problem }) => problem === "damaged").length;
  } catch (error) {
    if (isWindrowError(error, "session-not-found")) return 0;
    throw error;
  }
}
