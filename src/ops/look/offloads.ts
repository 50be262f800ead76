/** Sessions that are due to engines, counted. */
import { dueOffloads } from "../../memory/offload/due.ts";
import type { Scope, Store } from "../../store/store.ts";

/** The sessions that one engine lacks. */
export interface EngineDue {
  /** The engine's name (`Memory.name`). */
  readonly memory: string;
  /** Sessions that have ended and that it lacks, or lacks in part. */
  readonly due: number;
  /** Those of them that it refused, or did not take in time. */
  readonly failing: number;
  /** Why the newest of those failed. */
  readonly reason?: string;
}

/** The engines that lack sessions of a scope, by name; none where nothing is due. */
export async function enginesDue(store: Store, scope: Scope): Promise<readonly EngineDue[]> {
  const engines = new Map<string, EngineDue>();
  for await (const { memory, failures, reason } of dueOffloads(store, scope, { unreadable: () => undefined })) {
    const before = engines.get(memory) ?? { memory, due: 0, failing: 0 };
    const told = before.reason ?? reason;
    const failing = before.failing + (failures > 0 ? 1 : 0);
    engines.set(memory, { memory, due: before.due + 1, failing, ...(told !== undefined && { reason: told }) });
  }
  return [...engines.values()].toSorted((left, right) => (left.memory < right.memory ? -1 : 1));
}
