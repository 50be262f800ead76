/** Cuts: shortening a text, and the words by which a line reports a failure. */
import { knownSecrets, textMask } from "../../mask/text.ts";
import type { TextMask } from "../window.ts";

/** Words that mark a line of output as a failure, in English, Japanese and Chinese. */
export const errorWords =
  /\b(?:error|exception|fail(?:ed|ure)?|fatal|panic|traceback|warning|denied|refused|not found|cannot|undefined|assert\w*)\b|エラー|失敗|例外|错误|失败|錯誤/i;

/** The mask of a window without a store: secrets of a known form are replaced. */
export const defaultMask: TextMask = textMask(knownSecrets);

/** Characters beyond a cut that are looked at for a secret that reaches over it. */
export const beyondCut = 64 * 1024;

/** Characters at the end of what was looked at that may be a part of a secret. */
const unsure = 16 * 1024;

/**
 * A text cut in its middle to at most `length` characters, between words where it has any; never inside a surrogate pair
 * or a secret.
 *
 * @param mask - replaces secrets first: half a secret passes every mask
 */
export function clip(text: string, length: number, mask: TextMask): string {
  if (text.length <= length) return text;
  const half = Math.max(1, Math.floor((length - 3) / 2));
  const { head, tail } = endsOf(text, half, mask);
  return `${head.replace(lastWord, "")} … ${tail.replace(firstWord, "")}`;
}

/** The part of a word at a cut, with the white space beside it; what has none for so long is cut anywhere. */
const lastWord = /(?<=\S)\s+\S{0,40}$/;
const firstWord = /^\S{0,40}\s+(?=\S)/;

/** The first and the last `half` characters of a longer text, cut as {@link clip} cuts. */
export function endsOf(text: string, half: number, mask: TextMask): { readonly head: string; readonly tail: string } {
  const whole = text.length <= 2 * (half + beyondCut) ? mask(text) : undefined;
  return {
    head: firstOf(whole ?? end(text, half, "first", mask), half),
    tail: lastOf(whole ?? end(text, half, "last", mask), half),
  };
}

/** The first characters of a text, without half a surrogate pair at their end. */
export function firstOf(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}

/** The last characters of a text, without half a surrogate pair at their beginning. */
export function lastOf(text: string, length: number): string {
  return length <= 0 ? "" : text.slice(-length).replace(/^[\uDC00-\uDFFF]/, "");
}

/** One end of a long text without its secrets: as much of it as shows `length` characters for certain. */
function end(text: string, length: number, which: "first" | "last", mask: TextMask): string {
  for (let looked = length + beyondCut; looked < text.length; looked *= 2) {
    const masked = mask(which === "first" ? text.slice(0, looked) : text.slice(-looked));
    if (masked.length >= length + unsure) return masked;
  }
  return mask(text);
}
