/** Mended faults by kind. */
import type { ViewerWindow } from "../../src/viewer/viewer.ts";

/** The messages with one kind of fault. */
export interface RepairGroup {
  readonly kind: string;
  readonly reason: string;
  /** In the order of the window; 0 for none of the log. */
  readonly seqs: readonly number[];
}

/** Groups mended faults by kind, in the order in which each came first. */
export function groupedRepairs(repairs: ViewerWindow["repairs"]): readonly RepairGroup[] {
  const groups = new Map<string, { readonly kind: string; readonly reason: string; readonly seqs: number[] }>();
  for (const { seq, kind, reason } of repairs) {
    const known = groups.get(kind);
    if (!known) groups.set(kind, { kind, reason, seqs: [seq] });
    else if (!known.seqs.includes(seq)) known.seqs.push(seq);
  }
  return [...groups.values()];
}
