/** Errors by which providers refuse a request that is larger than their context window, and how much smaller to ask again. */

/** As providers word them; issue trackers and their documentation are the source. */
const overflow = [
  /(prompt|input) is too long/i,
  /prompt too long/i,
  /request_too_large|request too large/i,
  /exceeds? the (model's )?context window/i,
  /exceed(s|ed)? context (limit|length|size)/i,
  /input token count.*exceeds the maximum/i,
  /maximum prompt length/i,
  /reduce the length of the (messages|prompt)/i,
  /maximum context length/i,
  /exceeds the limit of \d+/i,
  /exceeds the available context size/i,
  /greater than the context length/i,
  /context window exceeds limit/i,
  /exceeded model token limit/i,
  /context[_ ](length|window|size)[_ ]exceeded/i,
  /exceed_context_size/i,
  /token limit exceeded/i,
];

/** Throttling is worded alike ("Too many tokens, please wait"), and passes by itself. */
const throttled = /rate.?limit|throttl|too many requests|per minute/i;

/** The words of an error for a request that is too large; undefined for every other error. */
export function overflowText(error: unknown): string | undefined {
  const { message, responseBody, statusCode } = (
    typeof error === "object" && error !== null ? error : { message: error }
  ) as Readonly<Record<string, unknown>>;
  const text = [message, responseBody].filter((part) => typeof part === "string").join("\n");
  if (statusCode === 429 || throttled.test(text)) return undefined;
  return overflow.some((pattern) => pattern.test(text)) ? text : undefined;
}

/**
 * A budget that the provider should take, in tokens of our counter: where it says how much it counted and how much it
 * takes, by their ratio, and a tenth less; else seven tenths of what was sent.
 *
 * @param sent - tokens of the window that was refused
 */
export function smallerBudget(sent: number, text: string): number {
  const counts = new Set([...text.matchAll(/\d[\d,]{2,}/g)].map(([digits]) => Number(digits.replaceAll(",", ""))));
  const [first = 0, second = 0] = counts;
  const told = counts.size === 2 ? (Math.min(first, second) / Math.max(first, second)) * 0.9 : 0;
  return Math.floor(sent * (told >= 0.1 ? told : 0.7));
}
