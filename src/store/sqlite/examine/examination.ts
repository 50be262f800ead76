/** The database and the session under examination, and the findings so far. */
import type { LossCheck } from "../../shared/losses.ts";
import type { Connection, SqlRow } from "../connection/driver.ts";
import type { Writer } from "../connection/writer.ts";
import type { Finding } from "../../store.ts";

/** The database under examination. */
export interface DatabaseExamination {
  readonly connection: Connection;
  readonly writer: Writer;
  /** For the table `aside`: when this examination began. */
  readonly time: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** One session under examination. */
export interface ExaminedSession extends DatabaseExamination {
  readonly id: string;
  /** Its row as it was read first; undefined where there are lines alone. */
  readonly row: SqlRow | undefined;
  readonly mend: boolean;
  readonly findings: Finding[];
  readonly check: LossCheck;
  /** Runs of numbers, by log, in whose place a damaged line stands. */
  readonly inDamage: Set<string>;
}

/** Adds a finding about the session. */
export function find(
  { id, findings }: ExaminedSession,
  finding: Pick<Finding, "problem" | "message"> &
    Partial<Pick<Finding, "severity" | "file" | "offset" | "length" | "mended" | "remedy" | "records" | "keptAs">>,
): void {
  findings.push({ severity: "damage", sessionId: id, mended: false, ...finding });
}
