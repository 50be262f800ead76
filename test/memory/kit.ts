/** What the tests of the memory share. */
import { isWindrowError } from "../../src/errors.ts";
import { logKinds } from "../../src/store/format/logs.ts";
import type { Scope, Store } from "../../src/store/store.ts";

/** Every record of these sessions that are there. */
export async function everyRecord(store: Store, scope: Scope, ids: readonly string[]): Promise<readonly unknown[]> {
  const records: unknown[] = [];
  for (const id of ids) {
    try {
      for (const kind of Object.values(logKinds)) {
        for await (const record of store.read(scope, id, { kind })) records.push(record);
      }
    } catch (error) {
      if (!isWindrowError(error, "session-not-found")) throw error;
    }
  }
  return records;
}
