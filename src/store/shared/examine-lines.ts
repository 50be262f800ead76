/** The lines of a session under examination, for stores on a server: damaged lines, numbers that came before, and losses. */
import type { JsonObject } from "../../message/message.ts";
import { initialState } from "../format/documents.ts";
import { BadLine } from "../format/fields.ts";
import { parseLine } from "../format/lines.ts";
import { logKinds, logNames } from "../format/logs.ts";
import { decodeRecord } from "../format/record.ts";
import { checksumOf } from "../format/seal.ts";
import type { PlacedLine } from "../engine.ts";
import type { Examined, Finding, LogName, SessionMetadata, SessionState } from "../store.ts";
import { lossFindings } from "./loss-findings.ts";
import { impliedBy } from "./losses.ts";
import type { LossCheck, Run } from "./losses.ts";
import type { StateCount } from "./state-count.ts";

/** A session whose lines are examined, and the findings so far. */
export interface LinesUnderExamination {
  readonly id: string;
  readonly findings: Finding[];
  readonly check: LossCheck;
  readonly count: StateCount;
  /** Runs of numbers, by log, in whose place a damaged line stands. */
  readonly inDamage: Set<string>;
  /** Copies a damaged line aside; undefined where nothing is mended. */
  readonly putAside: ((log: LogName, seq: number, line: string) => Promise<void>) | undefined;
  /** Every line of a log. */
  readonly linesOf: (log: LogName) => AsyncIterable<Pick<PlacedLine, "seq" | "row" | "line">>;
  /** The name of a log in findings. */
  readonly placeOf: (log: LogName) => string;
}

/** Adds a finding about a session. */
export function addFinding(
  { id, findings }: Pick<LinesUnderExamination, "id" | "findings">,
  finding: Pick<Finding, "problem" | "message"> & Partial<Finding>,
): void {
  findings.push({ severity: "damage", sessionId: id, mended: false, ...finding });
}

/** Reads every line of a session. */
export async function examineLines(
  examined: LinesUnderExamination,
): Promise<Pick<Examined, "records" | "goodBytes" | "badBytes">> {
  const total = { records: 0, goodBytes: 0, badBytes: 0 };
  for (const log of logNames) {
    let [highest, twice] = [0, 0];
    for await (const { seq, row, line } of examined.linesOf(log)) {
      const bytes = Buffer.byteLength(line);
      const fields = fieldsOf(log, line);
      total[fields ? "goodBytes" : "badBytes"] += bytes;
      if (!fields) {
        const run: Run | undefined = seq > highest ? [highest + 1, seq] : undefined;
        if (run) {
          examined.check.lose(log, run);
          examined.inDamage.add(nameOf(log, run));
        }
        highest = Math.max(highest, seq);
        await examined.putAside?.(log, seq, line);
        addFinding(examined, damaged(examined, log, { offset: Math.floor(row), bytes, run }));
        continue;
      }
      total.records += 1;
      const record = decodeRecord(logKinds[log], fields);
      if (record.kind === "usage" || record.kind === "tool" || record.kind === "edit") examined.count.take(record);
      if (record.seq <= highest) twice += 1;
      highest = Math.max(highest, record.seq);
      examined.check.imply(impliedBy(record));
      const pos = fields["pos"] === undefined ? undefined : record.pos;
      examined.check.add(log, { seq: record.seq, pos, checksum: checksumOf({ fields, text: line }) });
    }
    if (twice === 0) continue;
    const message = `${twice} lines carry a number that came before. Every one is read.`;
    addFinding(examined, { problem: "duplicate-seq", severity: "notice", file: examined.placeOf(log), message });
  }
  return total;
}

/** Adds the findings of what is missing, once every line was read. */
export function examineLosses(examined: LinesUnderExamination, session: string): void {
  const isTold = (log: LogName, run: Run): boolean => examined.inDamage.has(nameOf(log, run));
  for (const { log, ...finding } of lossFindings(examined.check.result(), isTold)) {
    addFinding(examined, { ...finding, file: log === undefined ? session : examined.placeOf(log) });
  }
}

/** A state in the place of one that cannot be read, its numbers counted again from the lines. */
export function countedState({ count }: LinesUnderExamination, { createdAt }: SessionMetadata): SessionState {
  return { ...initialState(createdAt), ...count.numbers, status: "processing", lastActivity: "state_rebuilt" };
}

function nameOf(log: LogName, run: Run): string {
  return `${log} ${run.join("-")}`;
}

function fieldsOf(log: LogName, line: string): JsonObject | undefined {
  const [fields] = parseLine(Buffer.from(line)).objects;
  try {
    if (fields) decodeRecord(logKinds[log], fields);
    return fields;
  } catch (error) {
    if (error instanceof BadLine) return undefined;
    throw error;
  }
}

/** A line that is no record stays where it is; what it held is lost. */
function damaged(
  { placeOf, putAside }: LinesUnderExamination,
  log: LogName,
  { offset, bytes, run }: { readonly offset: number; readonly bytes: number; readonly run: Run | undefined },
): Pick<Finding, "problem" | "message"> & Partial<Finding> {
  const records = run ? run[1] - run[0] + 1 : 0;
  const held = run ? `It held ${records === 1 ? `record ${run[0]}` : `records ${run[0]}–${run[1]}`}, ` : "";
  return {
    ...{ problem: "damaged", file: placeOf(log), offset, length: bytes, remedy: "backup" },
    message: `A damaged line. ${held}${run ? "which" : "It is one that"} no reader finds any more; every line around it is read. Restore the session from a backup.`,
    ...(run && { records }),
    ...(putAside && { keptAs: "aside" }),
  };
}
