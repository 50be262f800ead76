/** A search through one session for an MCP client: its best messages, one line each. */
import { inlineText } from "../../message/quote.ts";
import type { Scope, Store } from "../../store/store.ts";
import { Turns } from "../../turns.ts";
import { defaultMask } from "../../window/stub/cut.ts";
import { RecallMarks } from "../../window/stub/recalled.ts";
import { Documents } from "../../window/recall/document.ts";
import type { Hit } from "../../window/recall/hits.ts";
import { RecallSearch } from "../../window/recall/search.ts";
import { wordsOf } from "../../window/recall/words.ts";

/** A message that answers the words. */
export interface MessageHit {
  readonly seq: number;
  /** The speaker, or the tool and the subject of its call. */
  readonly label: string;
  readonly score: number;
  /** Its text around what was found, on one line. */
  readonly text: string;
}

/** Characters of a message around what was found in it. */
const excerptLength = 240;

/**
 * The messages that answer some words best, the best first, and how many were searched. What recall brought back earlier
 * is not searched.
 *
 * @throws WindrowError `session-not-found`, `aborted`
 */
export async function searchSession(
  store: Store,
  scope: Scope,
  id: string,
  query: string,
  limit: number,
  signal?: AbortSignal,
): Promise<{ readonly hits: readonly MessageHit[]; readonly searched: number }> {
  const words = wordsOf(query);
  const search = words && new RecallSearch(words);
  const [documents, marks, turns] = [new Documents(defaultMask), new RecallMarks(), new Turns(signal)];
  let searched = 0;
  for await (const { seq, message } of store.read(scope, id, { kind: "message" })) {
    searched++;
    await turns.turn();
    marks.note(message);
    const parts = message.parts.filter((part) => !marks.has(part));
    for (const document of documents.of({ seq, message: { ...message, parts } })) {
      if (search) await turns.run(search.take(document));
    }
  }
  const best = new Map<number, MessageHit>();
  for (const { hit, score } of search?.ranked() ?? []) {
    if (best.size >= limit) break;
    const { seq, label } = hit.document;
    if (!best.has(seq)) best.set(seq, { seq, label, score, text: excerpt(hit) });
  }
  return { hits: [...best.values()], searched };
}

/** The line of a hit, or the beginning of its text where its head answers. */
function excerpt({ region, start, end, isHead }: Hit): string {
  if (!region) return "";
  const from = start - region.offset;
  const line = inlineText(region.text.slice(from, isHead ? from + 2 * excerptLength : end - region.offset));
  return line.length <= excerptLength ? line : `${line.slice(0, excerptLength).toWellFormed()}…`;
}
