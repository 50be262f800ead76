/** Recall: brings back what an edit took out, from the log, offline. */
import { WindrowError } from "../errors.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { resultText, toolCalls } from "../message/message.ts";
import type { Message, Part } from "../message/message.ts";
import type { NumberedMessage } from "../message/step.ts";
import { clip } from "./excerpt.ts";
import { parseRecallId, recallId } from "./stub.ts";

/** What to bring back. `id` or `from`/`to` say where to look, `query` what for; a query alone looks everywhere. */
export interface RecallQuery {
  /** `m12`, or `m12-m40` for all messages of a range. */
  readonly id?: string;
  /** Words, a path, a line. */
  readonly query?: string;
  /** First and last message, by `seq`. */
  readonly from?: number;
  readonly to?: number;
}

/** What recall found. */
export interface Recalled {
  /** Each message or passage under a line that says which it is; empty where nothing was found. */
  readonly text: string;
  readonly tokens: number;
  /** The messages it is from, oldest first. */
  readonly seqs: readonly number[];
  /** Whether there was more than `maxTokens` had room for. */
  readonly more: boolean;
}

/** How much to bring back. */
export interface RecallLimits {
  /** Default 4,000. */
  readonly maxTokens?: number;
  readonly counter: TokenCounter;
}

/** The default of `maxTokens`. */
export const recallTokens = 4_000;

/**
 * Recall from a whole history: message n of the array is `m<n>`.
 *
 * @throws WindrowError `not-found` when the id or the range names no message of the history, `bad-option` for no id
 */
export function recallFrom(history: readonly Message[], query: RecallQuery, limits: RecallLimits): Recalled {
  const { from, to } = recallRange(query, history.length);
  const messages = history.slice(from - 1, to).map((message, index) => ({ seq: from + index, message }));
  return recallPassages(messages, query.query, limits);
}

/**
 * The stretch of the log that a query asks about.
 *
 * @param length - messages in the log
 * @throws WindrowError `not-found`, `bad-option`
 */
export function recallRange(query: RecallQuery, length: number): { readonly from: number; readonly to: number } {
  if (query.id === undefined && query.query === undefined && query.from === undefined) {
    throw new WindrowError("bad-option", "Recall needs an `id`, a `query`, or `from` and `to`.");
  }
  const range = query.id === undefined ? { from: query.from ?? 1, to: query.to ?? length } : parseRecallId(query.id);
  if (!range)
    throw new WindrowError("bad-option", `"${query.id}" is no recall id; ids look like m12 or m12-m40.`, { ...query });
  if (range.from < 1 || range.from > length) {
    throw new WindrowError("not-found", `There is no message ${recallId(range.from)}; the log ends at m${length}.`, {
      ...query,
      length,
    });
  }
  return { from: range.from, to: Math.min(range.to, length) };
}

/**
 * The best passages of some messages for a query, or the messages themselves where they fit. Without a query the
 * messages stand from the first on, as far as there is room.
 */
export function recallPassages(
  messages: readonly NumberedMessage[],
  query: string | undefined,
  { maxTokens = recallTokens, counter }: RecallLimits,
): Recalled {
  const documents = messages.map(documentOf).filter(({ body }) => body !== "");
  const whole = documents.map(({ head, body }) => `${head}\n${body}`).join("\n\n");
  // Whole messages are worth more than passages, where they fit; far too much text is not worth counting.
  if (whole.length <= maxTokens * 12 && counter.count(whole) <= maxTokens) {
    return { text: whole, tokens: counter.count(whole), seqs: documents.map(({ seq }) => seq), more: false };
  }
  const terms = query === undefined ? [] : termsOf(query);
  return terms.length === 0
    ? fill(documents, maxTokens, counter)
    : search(documents, query ?? "", terms, maxTokens, counter);
}

/** How well a message answers a query; 0 where nothing of it is there. For picking candidates out of a long log. */
export function recallScore(message: Message, query: string): number {
  const body = documentOf({ seq: 0, message }).body.toLowerCase();
  const terms = termsOf(query);
  const found = terms.filter((term) => body.includes(term)).reduce((sum, term) => sum + weight(term), 0);
  return body.includes(query.trim().toLowerCase()) ? found + 1_000 : found;
}

interface Document {
  readonly seq: number;
  readonly head: string;
  readonly body: string;
}

function documentOf({ seq, message }: NumberedMessage): Document {
  const names = toolCalls(message).map((call) => call.name);
  const head = `[${[recallId(seq), message.role, ...names].join(" ")}]`;
  return {
    seq,
    head,
    body: message.parts
      .map(bodyOf)
      .filter((text) => text !== "")
      .join("\n"),
  };
}

function bodyOf(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-result":
      return resultText(part);
    case "tool-call":
      return `${part.name} ${readable(part.args)}`;
    default:
      return `[${part.type}]`;
  }
}

/** Arguments with their texts as they are, not escaped: an edit's lines stay lines. */
function readable(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || typeof value !== "object") return String(value);
  return Object.entries(value)
    .map(([key, item]) => `${key}: ${readable(item)}`)
    .join("\n");
}

function fill(documents: readonly Document[], maxTokens: number, counter: TokenCounter): Recalled {
  const texts: string[] = [];
  const seqs: number[] = [];
  let left = maxTokens;
  for (const { seq, head, body } of documents) {
    const text = `${head}\n${body}`;
    const tokens = text.length > left * 12 ? Infinity : counter.count(text) + 2;
    if (tokens <= left) {
      texts.push(text);
      seqs.push(seq);
      left -= tokens;
      continue;
    }
    const room = left - counter.count(head) - 16;
    const lines: string[] = [];
    let used = 0;
    for (const line of body.split("\n")) {
      const shown = clip(line, 2_000);
      used += counter.count(shown) + 1;
      if (used > room) break;
      lines.push(shown);
    }
    if (lines.length > 0) {
      texts.push(`${head}\n${moreFollows}\n${lines.join("\n")}`);
      seqs.push(seq);
    }
    break;
  }
  const text = fit(texts.join("\n\n"), maxTokens, counter);
  return {
    text,
    tokens: counter.count(text),
    seqs,
    more: seqs.length < documents.length || text.includes(moreFollows),
  };
}

const moreFollows = "[the beginning; recall with words for the rest]";

/** Counts are not quite additive: what came out some tokens too large loses its last lines. */
function fit(text: string, maxTokens: number, counter: TokenCounter): string {
  let shown = text;
  while (shown !== "" && counter.count(shown) > maxTokens) {
    const end = shown.lastIndexOf("\n");
    shown = end < 0 ? shown.slice(0, Math.floor(shown.length / 2)).toWellFormed() : shown.slice(0, end);
  }
  return shown;
}

interface Passage {
  readonly document: Document;
  readonly line: number;
  readonly score: number;
}

function search(
  documents: readonly Document[],
  query: string,
  terms: readonly string[],
  maxTokens: number,
  counter: TokenCounter,
): Recalled {
  const passages = documents.flatMap((document) => passagesOf(document, query.trim().toLowerCase(), terms));
  passages.sort(
    (left, right) => right.score - left.score || right.document.seq - left.document.seq || left.line - right.line,
  );
  const chosen = new Map<Document, Set<number>>();
  let left = maxTokens - 8;
  for (const { document, line } of passages) {
    const lines = document.body.split("\n");
    const known = chosen.get(document) ?? new Set<number>();
    const fresh: number[] = [];
    for (let index = Math.max(0, line - 3); index <= Math.min(lines.length - 1, line + 3); index++) {
      if (!known.has(index)) fresh.push(index);
    }
    // The line itself counts more than its neighbours: where both do not fit, it stands alone.
    for (const group of [fresh, fresh.includes(line) ? [line] : []]) {
      const cost =
        counter.count(group.map((index) => shownLine(lines[index] ?? "", query)).join("\n")) + group.length + 24;
      if (group.length === 0 || cost > left) continue;
      left -= cost;
      chosen.set(document, known);
      for (const index of group) known.add(index);
      break;
    }
    if (left < 48) break;
  }
  const found = [...chosen].toSorted(([first], [second]) => first.seq - second.seq);
  const text = fit(
    found.map(([document, lines]) => renderPassages(document, lines, query)).join("\n\n"),
    maxTokens,
    counter,
  );
  return { text, tokens: counter.count(text), seqs: found.map(([document]) => document.seq), more: true };
}

function passagesOf(document: Document, query: string, terms: readonly string[]): readonly Passage[] {
  const passages: Passage[] = [];
  document.body.split("\n").forEach((text, line) => {
    const lower = text.toLowerCase();
    let score = terms.reduce((sum, term) => (lower.includes(term) ? sum + weight(term) : sum), 0);
    if (score === 0) return;
    if (query !== "" && lower.includes(query)) score += 1_000;
    passages.push({ document, line, score });
  });
  return passages;
}

function renderPassages({ head, body }: Document, chosen: ReadonlySet<number>, query: string): string {
  const lines = body.split("\n");
  const shown: string[] = [];
  let before = -1;
  for (const index of [...chosen].toSorted((left, right) => left - right)) {
    if (index > before + 1) shown.push(`[… line ${index + 1} of ${lines.length}]`);
    shown.push(shownLine(lines[index] ?? "", query));
    before = index;
  }
  return [head, ...shown].join("\n");
}

/** A very long line shows the stretch around what was asked for. */
function shownLine(line: string, query: string): string {
  if (line.length <= 2_000) return line;
  const at = line.toLowerCase().indexOf(query.trim().toLowerCase());
  if (at < 0) return clip(line, 2_000);
  const from = Math.max(0, at - 800);
  const cut = line.slice(from, at + query.length + 800);
  return `… ${cut.replace(/^[\uDC00-\uDFFF]/, "").replace(/[\uD800-\uDBFF]$/, "")} …`;
}

function weight(term: string): number {
  return Math.min(12, term.length);
}

/** Words of a query, lower case; text without spaces (Japanese, Chinese) as its pairs of characters. */
function termsOf(query: string): readonly string[] {
  const terms = new Set<string>();
  for (const word of query.toLowerCase().match(/[\p{L}\p{N}_./@-]+/gu) ?? []) {
    if (/[\u3040-\u30ff\u3400-\u9fff]/.test(word) && word.length > 2) {
      for (let index = 0; index + 2 <= word.length; index++) terms.add(word.slice(index, index + 2));
    } else terms.add(word);
  }
  return [...terms];
}
