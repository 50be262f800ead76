/** Errors of providers that the gateway acts on, by their words. */
import { overflowText } from "../../adapter/ai-sdk/overflow.ts";

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

/** Types of errors by their status, as OpenAI names them. */
const openaiTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
};

/** An error of the gateway's own in the shape of OpenAI's APIs. */
export function openaiFault(status: number, message: string): { readonly contentType: string; readonly body: string } {
  const type = openaiTypes[status] ?? "server_error";
  return {
    contentType: "application/json",
    body: JSON.stringify({ error: { message, type, param: null, code: null } }),
  };
}
