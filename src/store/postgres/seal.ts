/** The hash of a session in Postgres, over its lines: of most only their number and their end are fetched. */
import { logNames } from "../format/logs.ts";
import { SealHash, originalChecksum } from "../format/seal.ts";
import { addByEnds, addLine } from "../shared/session-log.ts";
import type { LogName } from "../store.ts";
import type { Database } from "./database.ts";
import { logNumbers } from "./schema.ts";

/** Lines read at once. */
const pageLines = 2_048;

/** The hash over the lines of a session that nobody adds to any more. */
export async function hashOfSession({ asker, schema }: Database, key: string): Promise<string> {
  const hash = new SealHash();
  const sql =
    "SELECT seq, twin, octet_length(body) AS bytes, left(body, 30) AS head, right(body, 18) AS tail, " +
    `position('${originalChecksum}' IN body) > 0 AS rewritten FROM ${schema}.record ` +
    `WHERE session = $1 AND log = $2 AND (seq, twin) > ($3, $4) ORDER BY seq, twin LIMIT ${pageLines}`;
  for (const log of logNames) {
    for (let after = { seq: -1, twin: 0 }; ;) {
      const page = await asker.ask(sql, [key, logNumbers[log], after.seq, after.twin]);
      for (const row of page) {
        after = { seq: Number(row["seq"]), twin: Number(row["twin"]) };
        const ends = { head: String(row["head"]), tail: String(row["tail"]), bytes: Number(row["bytes"]) };
        if (addByEnds(hash, log, { ...ends, isRewritten: row["rewritten"] !== false })) continue;
        addLine(hash, log, await bodyOf({ asker, schema }, key, log, after));
      }
      if (page.length < pageLines) break;
    }
  }
  return hash.digest();
}

async function bodyOf(
  { asker, schema }: Pick<Database, "asker" | "schema">,
  key: string,
  log: LogName,
  { seq, twin }: { readonly seq: number; readonly twin: number },
): Promise<string> {
  const sql = `SELECT body FROM ${schema}.record WHERE session = $1 AND log = $2 AND seq = $3 AND twin = $4`;
  const [row] = await asker.ask(sql, [key, logNumbers[log], seq, twin]);
  const body = row?.["body"];
  return typeof body === "string" ? body : "";
}
