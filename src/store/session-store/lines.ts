/** The lines of a session, page by page, and the session as a dump. */
import { parseDocument } from "../format/documents.ts";
import { logKinds, logNames } from "../format/logs.ts";
import { SealHash } from "../format/seal.ts";
import { addLine, recordOf } from "../shared/session-log.ts";
import { movedMeanwhile, notFound } from "../shared/rules.ts";
import type { DumpedLine, LogName, ReadQuery, SessionDump } from "../store.ts";
import type { Place, PlacedLine } from "../engine.ts";
import { checkLinesHere, read } from "./found.ts";
import type { Core, Found } from "./found.ts";

/** Characters read at once, about; a single line may have more. */
const pageCharacters = 1024 * 1024;

/** Lines read at once: first, and at most. */
const firstPage = 16;
const longestPage = 512;

/**
 * The lines a query asks for, oldest first, as they are when the reading begins. Nothing is held between two pages.
 *
 * @throws WindrowError `session-not-found` where the session goes meanwhile, `session-archived` where its lines do
 */
export async function* linesOf(
  core: Core,
  found: Pick<Found, "id" | "head">,
  log: LogName,
  { from = 0, to = Number.MAX_SAFE_INTEGER, last, limit }: Omit<ReadQuery, "kind"> = {},
): AsyncGenerator<PlacedLine> {
  const { id, head } = found;
  let left = last ?? limit ?? Number.POSITIVE_INFINITY;
  let end = to;
  let after: Place | undefined;
  for (let size = firstPage; left > 0;) {
    const most = Math.min(size, left);
    const page = await core.engine.page(id, log, { from, to: end, last: after ? undefined : last, after, most });
    if (page.origin !== head.origin) throw await whereItWent(core, found);
    end = Math.min(end, page.newest);
    let characters = 0;
    for (const line of page.lines) {
      characters += line.line.length;
      yield line;
      core.alive();
    }
    after = page.lines.at(-1);
    if (page.lines.length < most) return;
    left -= page.lines.length;
    size = Math.max(1, Math.min(longestPage, Math.floor((pageCharacters * most) / Math.max(1, characters))));
  }
}

/** Why the lines of a session are not those that were being read. */
async function whereItWent({ engine }: Core, { id, head: before }: Pick<Found, "id" | "head">): Promise<Error> {
  const head = await engine.head(id);
  const isThere = head && !head.listing.isHidden && head.made === before.made;
  const found = isThere && read(head);
  if (!found) return notFound(id);
  checkLinesHere(found);
  return movedMeanwhile(id);
}

/** A session as it is now; what is added while it is read does not belong to it. */
export async function dumpOf(core: Core, found: Found): Promise<SessionDump> {
  checkLinesHere(found);
  const { id, head } = found;
  const { seqs } = await core.engine.numbers(id);
  return {
    id,
    metadata: parseDocument(head.documents.metadata) ?? {},
    state: parseDocument(head.documents.state) ?? {},
    async *lines(): AsyncGenerator<DumpedLine> {
      for (const log of logNames) {
        if (seqs[log] === 0) continue;
        for await (const { line } of linesOf(core, found, log, { to: seqs[log] })) {
          if (recordOf(logKinds[log], line)) yield { log, line };
        }
      }
    },
  };
}

/** The hash over the lines of a session that nobody adds to any more. */
export async function sealHashOf(core: Core, found: Found): Promise<string> {
  const hash = new SealHash();
  for (const log of logNames) for await (const { line } of linesOf(core, found, log)) addLine(hash, log, line);
  return hash.digest();
}
