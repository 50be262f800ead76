/** The losses of a session as findings, in the same words for every store. */
import { runsText } from "./losses.ts";
import type { LogLoss, Losses, Run } from "./losses.ts";
import type { Finding, LogName } from "../store.ts";

/** A finding without its place: about one log, or about the session where it names none. */
export type LossFinding = Pick<Finding, "problem" | "message" | "remedy" | "offset" | "records"> & {
  readonly log?: LogName;
};

/**
 * The findings of what is missing.
 *
 * @param isTold - whether a run of numbers was told before, as what a damaged span held
 */
export function lossFindings(losses: Losses, isTold: (log: LogName, run: Run) => boolean): readonly LossFinding[] {
  const found: LossFinding[] = [];
  for (const loss of losses.logs) {
    const finding = ofLog(loss, isTold);
    if (finding) found.push(finding);
  }
  const { places, differs } = losses;
  if (places > 0) {
    const message =
      `${places} records are missing: other logs of the session have records that were written later. The end of one ` +
      `log or more is gone. ${restoreIt}`;
    found.push({ problem: "records-missing", message, remedy: "backup", records: places });
  }
  if (differs) {
    const message =
      "Its logs are not those it was finished with: as many records, but others, or in another order (the hash in its " +
      `state does not match). ${restoreIt}`;
    found.push({ problem: "log-differs", message, remedy: "backup" });
  }
  return found;
}

const restoreIt = "Restore the session from a backup.";

function ofLog(loss: LogLoss, isTold: (log: LogName, run: Run) => boolean): LossFinding | undefined {
  const { log, highest, short, offset, by } = loss;
  const told = loss.gaps.filter((run) => isTold(log, run));
  const gaps = loss.gaps.filter((run) => !isTold(log, run));
  const missing = loss.missing - told.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  if (missing + short === 0) return undefined;
  const parts: string[] = [];
  if (missing > 0) parts.push(`${missing} of its records are missing: ${runsText({ gaps, missing })}.`);
  const says = by === "state" ? `the state counts ${highest + short}` : `other logs speak of ${highest + short}`;
  if (short > 0 && highest === 0) parts.push(`It is empty, and ${says}.`);
  else if (short > 0) parts.push(`Its last ${short} records are missing: it ends with ${highest}, and ${says}.`);
  const where = missing > 0 && offset !== undefined ? { offset } : {};
  const message = `${parts.join(" ")} ${restoreIt}`;
  return { log, problem: "records-missing", message, remedy: "backup", records: missing + short, ...where };
}
