/** The new messages of a request, read for the log. */
import type { JsonObject, Message, NewMessage } from "../../message/message.ts";
import type { WireApi, WireMessage, WireRequest } from "../gateway.ts";
import { hashJson, printOf } from "../wire/hash.ts";
import { Chain } from "./chain.ts";
import type { Match, Printed, WireNote } from "./chain.ts";
import type { Added, Line } from "./line.ts";

/** Most messages before the new ones that are read again with them. */
const mostBefore = 64;

/**
 * Reads the messages from a place on. Those since the answer before it are read with them, since results name their call's tool.
 */
export function decodeTail(api: WireApi, messages: readonly WireMessage[], from: number): readonly NewMessage[] {
  if (from >= messages.length) return [];
  const first = begin(api, messages, from);
  const decoded = api.adapter.decode(messages.slice(first).map(({ value }) => value));
  return decoded.slice(from - first).map(withoutId);
}

/**
 * The messages of a request behind its match, for the log.
 *
 * @param tail - `last`: how many of the request's messages are kept; `line`: the line that they go on
 */
export function addedOf(
  { own, request: { api, messages } }: { readonly own: WireRequest; readonly request: WireRequest },
  printed: Printed,
  { match, last, line }: { readonly match: Match; readonly last: number; readonly line: Line },
): readonly Added[] {
  const echo = Chain.echoed(printed, match);
  const decoded = decodeTail(api, messages.slice(0, last), match.length);
  const plans = plansOf(decoded, line, match.length);
  return decoded.map((message, offset): Added => {
    const place = match.length + offset;
    const plan = plans[offset];
    const recalls = line.recalls.noteOf(own, place);
    const note = {
      print: printed.at(place),
      ...(offset === 0 && { echo }),
      ...(plan !== undefined && { plan }),
      ...(recalls && { recalls }),
    };
    return { message, note, hash: own.messages[place]?.hash ?? "" };
  });
}

/** The epochs of the bodies that the answers of a request behind its match are to; -1 where nobody knows. */
export function plansBehind({ api, messages }: WireRequest, line: Line, from: number): readonly number[] {
  return plansOf(decodeTail(api, messages, from), line, from).filter((plan) => plan !== undefined);
}

/** The epoch of each message that is an answer, or a piece of one. */
function plansOf(decoded: readonly NewMessage[], line: Line, from: number): readonly (number | undefined)[] {
  let plan = line.chain.entries[from - 1]?.plan;
  return decoded.map(({ role }, offset) => {
    plan = role === "assistant" ? (plan ?? line.planAt(from + offset)) : undefined;
    return plan;
  });
}

/** Reads one message beside those that it belongs to. */
export function decodeAt(api: WireApi, messages: readonly WireMessage[], place: number): NewMessage | undefined {
  return decodeTail(api, messages.slice(0, place + 1), place)[0];
}

function begin({ adapter }: WireApi, messages: readonly WireMessage[], from: number): number {
  for (let place = from - 1; place >= Math.max(0, from - mostBefore); place--) {
    const message = messages[place];
    const [decoded] = message ? adapter.decode([message.value]) : [];
    if (decoded?.role === "assistant") return place;
  }
  return from;
}

/** The host's message under an id that the session gives it. */
function withoutId({ id: _id, ...message }: Message): NewMessage {
  return message;
}

/** The messages of an answer, with the facts of the body that it answers; none of an answer that is no message of its API. */
export function answersOf(
  api: WireApi,
  values: readonly JsonObject[],
  sent: { readonly secret: Buffer; readonly plan: number } & Pick<WireNote, "isBare" | "cleared">,
): readonly Added[] {
  const { secret, plan, isBare, cleared } = sent;
  return decodedOf(api, values).map((message, place): Added => {
    const answer = values[place] as JsonObject;
    const hash = hashJson(answer);
    return { message: withoutId(message), note: { print: printOf(secret, hash), plan, isBare, cleared }, hash, answer };
  });
}

/** An answer that is no message must not keep its record out of the log. */
function decodedOf({ adapter }: WireApi, values: readonly JsonObject[]): readonly Message[] {
  try {
    return adapter.decode(values);
  } catch {
    return [];
  }
}
