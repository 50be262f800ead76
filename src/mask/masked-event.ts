/** Masks events: a listener may write an event anywhere, so it receives no secret. */
import { WindrowError } from "../errors.ts";
import type { JsonObject } from "../message/message.ts";
import { maskJson } from "./mask.ts";
import { textMask } from "./text.ts";
import type { SecretRules } from "./text.ts";

/** Replaces the secrets in the texts of an event. A clean event is returned as it is; errors stay errors. */
export function maskEvent<Event extends { readonly type: string }>(event: Event, rules: SecretRules): Event {
  let masked: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries<unknown>(event)) {
    const safe = value instanceof Error ? maskError(value, rules) : maskField(name, value, rules);
    if (safe !== value) masked = { ...(masked ?? event), [name]: safe };
  }
  return (masked ?? event) as Event;
}

/** Masks one field. Its name goes along, because it can mark the value as secret. */
function maskField(name: string, value: unknown, rules: SecretRules): unknown {
  const field = { [name]: value } as JsonObject;
  const masked = maskJson(rules, field);
  return masked === field ? value : Object.values(masked)[0];
}

/** An error without secrets: message, stack and cause pass the mask. */
function maskError(error: Error, rules: SecretRules): Error {
  const text = textMask(rules);
  const data = error instanceof WindrowError ? maskField("data", error.data, rules) : undefined;
  const cause = error.cause instanceof Error ? maskError(error.cause, rules) : maskField("cause", error.cause, rules);
  const { message, stack = "" } = error;
  const [safeMessage, safeStack] = [text(message), text(stack)];
  const sameData = !(error instanceof WindrowError) || data === error.data;
  if (sameData && cause === error.cause && safeMessage === message && safeStack === stack) return error;
  const options = cause === undefined ? {} : { cause };
  const masked =
    error instanceof WindrowError
      ? new WindrowError(error.code, safeMessage, data as WindrowError["data"], options)
      : new Error(safeMessage, options);
  masked.stack = safeStack;
  return masked;
}
