/** A search through one session for an MCP client: its best messages, one line each. */
import { messageText } from "../../message/message.ts";
import type { Scope, Store } from "../../store/store.ts";
import { Turns } from "../../turns.ts";
import { recallScore, wordsIn } from "../../window/recall/search.ts";
import { documentOf } from "../../window/recall/text.ts";
import { wordsOf } from "../../window/recall/words.ts";
import type { RecallWords } from "../../window/recall/words.ts";

/** A message that answers the words. */
export interface MessageHit {
  readonly seq: number;
  readonly role: string;
  readonly score: number;
  /** Its text around the first of the words, on one line. */
  readonly text: string;
}

/** Characters of a message around what was found in it. */
const excerptLength = 240;

/** Characters of a message that are made one line of; of a longer one, a stretch around what was found. */
const stretchLength = 16 * 1024;

/**
 * The messages that answer some words best, the best first, and how many were searched. Without words, the newest ones.
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
  const turns = new Turns(signal);
  let hits: readonly MessageHit[] = [];
  let searched = 0;
  for await (const { seq, message } of store.read(scope, id, { kind: "message" })) {
    searched++;
    await turns.turn();
    const score = words ? await turns.run(recallScore(documentOf({ seq, message }), words)) : 1;
    if (score === 0) continue;
    const text = excerpt(await stretchOf(messageText(message), words, turns), query);
    hits = [...hits, { seq, role: message.role, score, text }];
    if (hits.length >= 4 * limit) hits = best(hits, limit);
  }
  return { hits: best(hits, limit), searched };
}

function best(hits: readonly MessageHit[], limit: number): readonly MessageHit[] {
  return hits.toSorted((left, right) => right.score - left.score || right.seq - left.seq).slice(0, limit);
}

/** The part of a long text in which the query stands, or else the first of its words that does. */
async function stretchOf(text: string, words: RecallWords | undefined, turns: Turns): Promise<string> {
  if (text.length <= stretchLength) return text;
  const found = words && (await turns.run(wordsIn(text, words)));
  const place = found && found.phrase >= 0 ? found.phrase : Math.max(0, found?.terms.values().next().value ?? 0);
  const from = Math.max(0, place - stretchLength / 4);
  return text.slice(from, from + stretchLength).toWellFormed();
}

function excerpt(text: string, query: string): string {
  const line = text.replaceAll(/[\s\u001C-\u001F\u0085]+/g, " ");
  const lower = line.toLowerCase();
  const places = [query, ...query.split(/\s+/)].map((word) => lower.indexOf(word.trim().toLowerCase()));
  const at = Math.max(0, (places.find((place) => place >= 0) ?? 0) - excerptLength / 3);
  const shown = line.slice(at, at + excerptLength).toWellFormed();
  return `${at > 0 ? "…" : ""}${shown}${at + excerptLength < line.length ? "…" : ""}`;
}
