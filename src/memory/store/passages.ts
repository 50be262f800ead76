/** The best messages of an index as passages, as many as fit into a number of tokens. */
import { messageText } from "../../message/message.ts";
import type { RankedMessage } from "../../search/rank.ts";
import type { SearchIndex } from "../../search/search.ts";
import { counterOf } from "../../tokens/counters.ts";
import { leastTokens, longestPassage, shortId, shownMessage } from "../lexical.ts";
import type { MemoryPassage, MemoryQuery, MemorySignal } from "../memory.ts";
import { memoryTokens } from "../memory.ts";
import type { IndexedStore } from "./indexed-store.ts";

/** The most candidates that are ranked for one query. */
export const mostCandidates = 400;

/** The fewest and most characters of one token, by which reading is saved. */
const charactersPerToken = 3;
const mostCharactersPerToken = 10;

/** Candidates in a row that do not fit, behind which the room counts as full. */
const mostMisses = 24;

/**
 * Passages of the ranked messages, best first until the room is full, then in the order of the conversations. A message
 * that is larger than the room that is left is passed over, and so is one whose text was told already.
 */
export async function passagesOf(
  sessions: IndexedStore,
  index: SearchIndex,
  ranked: readonly RankedMessage[],
  { maxTokens = memoryTokens, counter: given }: MemoryQuery,
  signals: readonly MemorySignal[],
  signal?: AbortSignal,
): Promise<readonly MemoryPassage[]> {
  const taken: { readonly hit: RankedMessage; readonly passage: MemoryPassage }[] = [];
  const told = new Set<string>();
  const counter = counterOf(given);
  let left = maxTokens;
  let misses = 0;
  let place = 0;
  while (place < ranked.length && left >= leastTokens && misses < mostMisses) {
    const batch = batchOf(ranked, place, left, (number) => index.charactersOf(number));
    place = batch.next;
    const messages = await sessions.messages(batch.hits, signal);
    for (const hit of batch.hits) {
      const message = messages.get(hit.number);
      if (!message) continue;
      const body = messageText(message);
      const { entry, seq } = hit;
      const text = shownMessage(shortId(entry.id), seq, message, sessions.mask);
      const tokens = counter.count(text);
      if (body === "" || told.has(body)) continue;
      if (tokens + 1 > left) {
        misses++;
        continue;
      }
      misses = 0;
      left -= tokens + 1;
      told.add(body);
      taken.push({ hit, passage: { sessionId: entry.id, seq, text, tokens, signals } });
    }
  }
  taken.sort(({ hit: one }, { hit: other }) => {
    const [left, right] = [one.entry, other.entry];
    return left === right
      ? one.seq - other.seq
      : left.session.created - right.session.created || (left.id < right.id ? -1 : 1);
  });
  return taken.map(({ passage }) => passage);
}

/** The next candidates that are read together: about as many as fill the room, none that cannot fit. */
function batchOf(
  ranked: readonly RankedMessage[],
  from: number,
  room: number,
  charactersOf: (number: number) => number,
): { readonly hits: readonly RankedMessage[]; readonly next: number } {
  const hits: RankedMessage[] = [];
  let left = room;
  let next = from;
  for (; next < ranked.length && left > 0; next++) {
    const hit = ranked[next]!;
    const size = Math.min(longestPassage, charactersOf(hit.number));
    if (size > mostCharactersPerToken * room) continue;
    hits.push(hit);
    left -= size / charactersPerToken;
  }
  return { hits, next };
}
