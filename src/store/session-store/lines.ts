/** The lines of a session, page by page, and the session as a dump. */
import { parseDocument } from "../format/documents.ts";
import { logKinds, logNames } from "../format/logs.ts";
import { SealHash } from "../format/seal.ts";
import { addLine, recordOf } from "../shared/session-log.ts";
import type { Counters } from "../shared/session-log.ts";
import { movedMeanwhile, notFound } from "../shared/rules.ts";
import type { DumpedLine, LogName, ReadQuery, SessionDump } from "../store.ts";
import type { Place, PlacedLine } from "../engine.ts";
import { checkLinesHere, read } from "./found.ts";
import type { KnownLines } from "./ends.ts";
import type { Core, Found } from "./found.ts";

/** The newest lines that are read at once, at most. */
const newestPage = 128;

/** Lines read at once. */
interface Paging {
  readonly first: number;
  readonly most: number;
  /** About; a single line may have more. */
  readonly characters: number;
}

/** For a reader, who may stop at any line. */
const few: Paging = { first: 16, most: 512, characters: 1024 * 1024 };

/** For who takes a session and needs all of its window, whose newest lines say how long the others are. */
const many: Paging = { first: 8_192, most: 8_192, characters: 4 * 1024 * 1024 };

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
  { first, most: longest, characters: pageCharacters } = few,
): AsyncGenerator<PlacedLine> {
  const { id, head } = found;
  let left = last ?? limit ?? Number.POSITIVE_INFINITY;
  let end = to;
  let after: Place | undefined;
  for (let size = last === undefined ? first : newestPage; left > 0;) {
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
    size = Math.max(1, Math.min(longest, Math.floor((pageCharacters * most) / Math.max(1, characters))));
  }
}

/** The lines of a session that this process took: those that are not known are asked for. */
export async function* knownLines(
  core: Core,
  found: Pick<Found, "id" | "head">,
  log: LogName,
  { before, lines }: KnownLines,
): AsyncGenerator<PlacedLine> {
  if (before && before.from <= before.to) {
    const length = lines.reduce((sum, { line }) => sum + line.length, 1) / Math.max(1, lines.length);
    const first = Math.max(few.first, Math.min(many.first, Math.floor(many.characters / length)));
    yield* linesOf(core, found, log, before, { ...many, first });
  }
  yield* lines;
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

/** The last numbers of a session, whose lines are here. */
export async function numbersOf(core: Core, found: Pick<Found, "id" | "head">): Promise<Counters> {
  const numbers = await core.engine.numbers(found.id);
  const now = await core.engine.head(found.id);
  if (now?.origin !== found.head.origin || now.listing.isHidden) throw await whereItWent(core, found);
  return numbers;
}

/**
 * A session as it is now; what is added while it is read does not belong to it.
 *
 * @param damaged - called with each line that is no record
 */
export async function dumpOf(
  core: Core,
  found: Found,
  damaged: (log: LogName, row: number, line: string) => void = () => undefined,
): Promise<SessionDump> {
  checkLinesHere(found);
  const { id, head } = found;
  const { seqs } = await numbersOf(core, found);
  return {
    id,
    metadata: parseDocument(head.documents.metadata) ?? {},
    state: parseDocument(head.documents.state) ?? {},
    async *lines(): AsyncGenerator<DumpedLine> {
      for (const log of logNames) {
        // Messages that are gone as a whole are an error of their place.
        if (seqs[log] === 0 && log !== "messages") continue;
        for await (const { line, row } of linesOf(core, found, log, { to: seqs[log] })) {
          if (recordOf(logKinds[log], line)) yield { log, line };
          else damaged(log, row, line);
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
