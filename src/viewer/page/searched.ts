/** The texts by which messages are found. It runs in the page, too. */
import type { Part } from "../../message/message.ts";

/** Characters of a call before its result in an excerpt, and those of them before a match that is further on. */
const callShown = 100;
const callBefore = 40;

/** A message as a search reads it. */
export interface Searched {
  /** Its own text, behind those of the calls that it answers: the name of a file finds what was read from it. */
  readonly text: string;
  /** The length of the calls' texts. */
  readonly calls: number;
}

/** Puts calls before their results, message by message in the order of the log. */
export class SearchedTexts {
  readonly #open = new Map<string, string>();

  /** @param own - the message's own text */
  of(parts: readonly Part[], own: string): Searched {
    let calls = "";
    for (const part of parts) {
      if (part.type === "tool-call") {
        this.#open.set(part.callId, `${part.name}(${part.argsText ?? JSON.stringify(part.args)}) → `);
      } else if (part.type === "tool-result") {
        calls += this.#open.get(part.callId) ?? "";
        this.#open.delete(part.callId);
      }
    }
    return { text: calls + own, calls: calls.length };
  }
}

/** The place of a match to show: of one in the calls alone, what was answered is shown behind the call. */
export function shownText({ text, calls }: Searched, words: string): { readonly text: string; readonly at: number } {
  const own = text.slice(calls);
  const at = own.toLowerCase().indexOf(words);
  if (at >= 0 || calls === 0) return { text: own, at: Math.max(0, at) };
  const found = text.toLowerCase().indexOf(words);
  const from = found + words.length <= callShown ? 0 : Math.max(0, found - callBefore);
  const to = Math.min(calls, Math.max(from + callShown, found + words.length));
  return { text: `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < calls ? "… " : ""}${own}`, at: 0 };
}
