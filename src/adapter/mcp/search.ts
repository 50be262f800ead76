/** Searches for an MCP client: the best messages of one session, or those of all sessions, one line each. */
import { inlineText } from "../../message/quote.ts";
import type { Scope, Store } from "../../store/store.ts";
import { Turns } from "../../turns.ts";
import { defaultMask } from "../../window/stub/cut.ts";
import { search } from "../../ops/search/search.ts";
import type { SearchHit } from "../../ops/search/search.ts";
import { RecallMarks } from "../../window/stub/recalled.ts";
import { Documents } from "../../window/recall/document.ts";
import type { Hit } from "../../window/recall/hits.ts";
import { RecallSearch } from "../../window/recall/search.ts";
import { wordsOf } from "../../window/recall/terms.ts";

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
 * The messages that answer some words best, the best first, and what was searched. What recall brought back earlier
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
  const ranking = words && new RecallSearch(words);
  const [documents, marks, turns] = [new Documents(defaultMask), new RecallMarks(), new Turns(signal)];
  let searched = 0;
  for await (const { seq, message } of store.read(scope, id, { kind: "message" })) {
    searched++;
    await turns.turn();
    marks.note(message);
    const parts = message.parts.filter((part) => !marks.has(part));
    const texts = documents.of({ seq, message: { ...message, parts } });
    for (const document of texts) if (ranking) await turns.run(ranking.take(document));
  }
  const best = new Map<number, MessageHit>();
  for (const { hit, score } of ranking?.ranked() ?? []) {
    if (best.size >= limit) break;
    const { seq, label } = hit.document;
    if (!best.has(seq)) best.set(seq, { seq, label, score, text: excerpt(hit) });
  }
  return { hits: [...best.values()], searched };
}

/**
 * The messages of all sessions that hold all of the words, as lines under a line for each session, the newest first.
 *
 * @param index - the folder of the search's index; without one every session is read
 * @throws WindrowError `bad-option` for a query without a word, `aborted`
 */
export async function searchEverySession(
  store: Store,
  scope: Scope,
  { query, limit, index }: { readonly query: string; readonly limit: number; readonly index: string | undefined },
  signal?: AbortSignal,
): Promise<{ readonly lines: readonly string[]; readonly more: boolean; readonly unreadable: number }> {
  const options = { query, scope, limit, ...(index !== undefined && { index }) };
  const { hits, more, unreadable } = await search(store, options, signal);
  const bySession = new Map<string, SearchHit[]>();
  for (const hit of hits) bySession.set(hit.sessionId, [...(bySession.get(hit.sessionId) ?? []), hit]);
  const lines: string[] = [];
  for (const [id, found] of bySession) {
    const [first] = found;
    lines.push(`Session ${id}, ${first?.status}${first?.title ? `: ${first.title}` : ""}`);
    for (const { seq, role, timestamp, excerpt: text } of found) {
      lines.push(`[m${seq} ${role}, ${timestamp}] ${inlineText(text)}`);
    }
  }
  return { lines, more, unreadable: unreadable.length };
}

/** The line of a hit, or the beginning of its text where its head answers. */
function excerpt({ region, start, end, isHead }: Hit): string {
  if (!region) return "";
  const from = start - region.offset;
  const line = inlineText(region.text.slice(from, isHead ? from + 2 * excerptLength : end - region.offset));
  return line.length <= excerptLength ? line : `${line.slice(0, excerptLength).toWellFormed()}…`;
}
