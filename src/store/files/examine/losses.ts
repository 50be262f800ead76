/** The losses of a session's logs, as findings about its files. */
import { join } from "node:path";
import type { RecordKind } from "../../../message/record.ts";
import { lossFindings } from "../../shared/loss-findings.ts";
import type { Losses, Run } from "../../shared/losses.ts";
import { logKinds } from "../../format/logs.ts";
import type { Examination } from "./examination.ts";
import { find } from "./examination.ts";

/** Adds a finding for each loss to the examination. */
export function examineLosses(
  examination: Examination,
  losses: Losses,
  known: { readonly absent: ReadonlySet<RecordKind>; readonly isTold: (kind: RecordKind, run: Run) => boolean },
): void {
  const { folder } = examination.place;
  const told = lossFindings(
    losses,
    (log, run) => known.isTold(logKinds[log], run),
    (log) => known.absent.has(logKinds[log]),
  );
  for (const { log, ...finding } of told) {
    find(examination, log === undefined ? folder : join(folder, `${log}.jsonl`), { ...finding, mended: false });
  }
}
