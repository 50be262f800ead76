/** Errors of providers by their words: a request that is too large, and reasoning that does not fit its history. */
import type { JsonObject } from "../message/message.ts";

/** Characters of an error that are looked at: its words stand in front. */
const most = 16_384;

const prefixFaults = [
  /bound to a different conversation/i,
  /prefix_mismatch/i,
  /invalid `?signature`? in `?(redacted_)?thinking`?/i,
  /`?thinking`? or `?redacted_thinking`? blocks .* cannot be modified/i,
];

/** Whether an error of any provider says that reasoning does not belong to the messages before it. */
export function isPrefixFault(status: number, body: string): boolean {
  if (status !== 400 && status !== 422) return false;
  return saysAny(body, prefixFaults);
}

const unopened = [
  /expected `?thinking`? or `?redacted_thinking`?, but found/i,
  /final `?assistant`? message must start with a thinking block/i,
];

/** Whether an error says that a turn of calls does not begin with its reasoning. */
export function isUnopened(status: number, body: string): boolean {
  return (status === 400 || status === 422) && saysAny(body, unopened);
}

/** Whether the front of an error has any of the patterns: one of a megabyte could hold a pattern up for seconds. */
export function saysAny(body: string, patterns: readonly RegExp[]): boolean {
  const text = body.slice(0, most);
  return patterns.some((pattern) => pattern.test(text));
}

/** Whether an error of any provider says that a request is longer than the model takes. It may come with status 200. */
export function isOverflow(status: number, body: string): boolean {
  if (status === 413) return true;
  return overflowText({ message: body.slice(0, most), statusCode: status }) !== undefined;
}

/**
 * Bytes of a body that a status alone can refuse for its length. The least limit in wide use is nginx's of 1 MiB
 * (`client_max_body_size`); providers take 20 MB and more.
 */
const leastRefused = 1_000_000;

/** Whether a refusal as too long, by its status alone, has another cause than the length of what was sent. */
export function isOfOtherLength(body: string, sentBytes: number): boolean {
  return sentBytes < leastRefused && !saysAny(body, [/token/i]);
}

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
  /longer than the (model's context|maximum model) length/i,
  /exceeds (the )?max(imum)? (allowed )?length/i,
  /`inputs` tokens \+ `max_new_tokens` must be/i,
  /context the overflows/i,
  /range of input length should be/i,
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

/** Types of errors by their status, as OpenAI names them. */
const openaiTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
};

/** An error in the shape of OpenAI's APIs. */
export function openaiFault(status: number, message: string): JsonObject {
  return { error: { message, type: openaiTypes[status] ?? "server_error", param: null, code: null } };
}
