/** Turns of calls: to the Messages API each is one turn of the model's, and the one at the end begins with its thinking. */
import { asArray, objectsOf } from "../../../message/json.ts";
import type { JsonObject, JsonValue } from "../../../message/message.ts";
import type { WireRequest, Written } from "../../gateway.ts";
import { leadingThinking } from "../../../shape/anthropic/value.ts";

/** A turn of calls by its places. */
interface Turn {
  readonly first: number;
  /** The place behind its last message. */
  readonly end: number;
}

/**
 * The messages, every turn of calls with the thinking that it began with. A model may think once in a turn; where that
 * answer left the window, the turn's first message that is left carries it. A turn that is over keeps it, so that the
 * window only grows at its end.
 */
export function opened({ messages }: WireRequest, list: readonly Written[]): readonly Written[] {
  const originals = messages.map(({ value }) => value);
  const begun = turnsOf(originals);
  const places = new Map<Written, number>(messages.map((message, place) => [message, place]));
  const found = [...list];
  for (const [number, turn] of turnsOf(list.map(valueOf)).toReversed().entries()) {
    const message = list[turn.first];
    if (!message || leadingThinking(valueOf(message)).length > 0) continue;
    const own = list.slice(turn.first, turn.end).find((one) => places.has(one));
    const place = (own && places.get(own)) ?? (number === 0 ? originals.length - 1 : -1);
    const beginning = originals[begun.find(({ first, end }) => first <= place && place < end)?.first ?? -1];
    const thinking = beginning ? leadingThinking(beginning) : [];
    if (thinking.length > 0) found[turn.first] = { made: begunWith(thinking, valueOf(message)) };
  }
  return found;
}

function valueOf(message: Written): JsonObject {
  return "made" in message ? message.made : message.value;
}

function begunWith(thinking: readonly JsonValue[], message: JsonObject): JsonObject {
  const { content = "" } = message;
  const blocks = asArray(content) ?? [{ type: "text", text: content }];
  return { ...message, content: [...thinking, ...blocks] };
}

function turnsOf(values: readonly JsonObject[]): readonly Turn[] {
  const turns: Turn[] = [];
  let [first, hasCalls] = [-1, false];
  const close = (end: number): void => {
    if (first !== -1 && hasCalls) turns.push({ first, end });
    [first, hasCalls] = [-1, false];
  };
  for (const [place, value] of values.entries()) {
    if (value["role"] === "assistant") first = first === -1 ? place : first;
    else if (hasResults(value)) hasCalls = true;
    else if (value["role"] !== "system") close(place);
  }
  close(values.length);
  return turns;
}

function hasResults({ role, content }: JsonObject): boolean {
  return role === "user" && objectsOf(content).some(({ type }) => type === "tool_result");
}
