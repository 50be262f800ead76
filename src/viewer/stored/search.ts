/** Words of a session's messages: every message that holds them all, as the log has it. */
import { messageText } from "../../message/message.ts";
import { inlineText } from "../../message/quote.ts";
import { search } from "../../ops/search/search.ts";
import type { Scope, Store } from "../../store/store.ts";
import { Turns } from "../../turns.ts";
import { SearchedTexts, shownText } from "../page/searched.ts";
import type { ViewerHit } from "../viewer.ts";
import type { Place } from "./epoch-index.ts";

/** Hits of one answer. */
const mostHits = 200;

/** Characters of an excerpt before the first match, and in all. */
const before = 60;
const excerptLength = 200;

/**
 * Searches one session, oldest message first, and stops at 200 hits. Words are looked for as they stand, in any case; an
 * excerpt shows the longest of them. A result is found by the words of its call, too.
 */
export async function searchSession(
  { store, scope, id }: Place,
  words: string,
  signal?: AbortSignal,
): Promise<readonly ViewerHit[]> {
  const wanted = wordsOf(words);
  const hits: ViewerHit[] = [];
  if (wanted.length === 0) return hits;
  const longest = wanted.reduce((one, other) => (other.length > one.length ? other : one));
  const turns = new Turns(signal);
  const texts = new SearchedTexts();
  for await (const { seq, message } of store.read(scope, id, { kind: "message" })) {
    await turns.turn();
    const searched = texts.of(message.parts, messageText(message));
    const folded = searched.text.toLowerCase();
    if (!wanted.every((word) => folded.includes(word))) continue;
    // A letter may be longer in lower case: the place is then a little off, and still in the text.
    const { text, at } = shownText(searched, longest);
    hits.push({ sessionId: id, seq, role: message.role, excerpt: excerptAt(text, at) });
    if (hits.length === mostHits) break;
  }
  return hits;
}

/** Searches all sessions by the store's search. */
export async function searchAll(
  store: Store,
  scope: Scope,
  words: string,
  index: string | undefined,
): Promise<readonly ViewerHit[]> {
  if (words.trim() === "") return [];
  const options = { query: words, scope, limit: mostHits, ...(index !== undefined && { index }) };
  const { hits } = await search(store, options);
  return hits.map(({ sessionId, seq, role, excerpt }) => ({ sessionId, seq, role, excerpt }));
}

/** Words in lower case; what stands between quotation marks is one. */
function wordsOf(words: string): readonly string[] {
  return [...words.matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, plain]) => (quoted ?? plain ?? "").toLowerCase());
}

function excerptAt(text: string, at: number): string {
  const from = Math.max(0, at - before);
  const shown = inlineText(text.slice(from, from + excerptLength).toWellFormed());
  return `${from > 0 ? "…" : ""}${shown}${from + excerptLength < text.length ? "…" : ""}`;
}
