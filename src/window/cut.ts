/** Cuts: shortening a text, and the words by which a line reports a failure. */
import { knownSecrets, textMask } from "../mask/text.ts";
import type { TextMask } from "./window.ts";

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
 * A text cut in its middle to at most `length` characters, never inside a surrogate pair or a secret.
 *
 * @param mask - replaces secrets first: half a secret passes every mask
 */
export function clip(text: string, length: number, mask: TextMask): string {
  if (text.length <= length) return text;
  const half = Math.max(1, Math.floor((length - 3) / 2));
  const whole = text.length <= 2 * (half + beyondCut) ? mask(text) : undefined;
  const head = (whole ?? end(text, half, "first", mask)).slice(0, half).replace(/[\uD800-\uDBFF]$/, "");
  const tail = (whole ?? end(text, half, "last", mask)).slice(-half).replace(/^[\uDC00-\uDFFF]/, "");
  return `${head} … ${tail}`;
}

/** One end of a long text without its secrets: as much of it as shows `length` characters for certain. */
function end(text: string, length: number, which: "first" | "last", mask: TextMask): string {
  for (let looked = length + beyondCut; looked < text.length; looked *= 2) {
    const masked = mask(which === "first" ? text.slice(0, looked) : text.slice(-looked));
    if (masked.length >= length + unsure) return masked;
  }
  return mask(text);
}
