/** Cuts: how a text is shortened, and which of its lines tell of a failure. */
import { createMask, maskText } from "../mask/mask.ts";

/** Words that mark a line of output as a failure, in English, Japanese and Chinese. */
export const errorWords =
  /\b(?:error|exception|fail(?:ed|ure)?|fatal|panic|traceback|warning|denied|refused|not found|cannot|undefined|assert\w*)\b|エラー|失敗|例外|错误|失败|錯誤/i;

const mask = createMask();

/**
 * A text without its secrets, for cutting: a cut may take the part off by which a secret is known, and what is left of
 * it would pass every mask.
 */
export function cuttable(text: string): string {
  return maskText(mask, text).text;
}

/** A text cut in its middle to at most `length` characters, never inside a surrogate pair or a secret. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  const whole = cuttable(text);
  const half = Math.max(1, Math.floor((length - 3) / 2));
  const head = whole.slice(0, half).replace(/[\uD800-\uDBFF]$/, "");
  const tail = whole.slice(-half).replace(/^[\uDC00-\uDFFF]/, "");
  return `${head} … ${tail}`;
}
