/** Recall: brings back from the log what an edit took out of the window, offline. */
import { WindrowError } from "../../errors.ts";
import { foreignHint } from "../../message/foreign.ts";
import { isObject } from "../../message/json.ts";
import type { Message } from "../../message/message.ts";
import { shown } from "../../shown.ts";
import { counterOf } from "../../tokens/counters.ts";
import { atOnce, Turns } from "../../turns.ts";
import type { Work } from "../../turns.ts";
import { checkGiven } from "../options.ts";
import { limitKinds, recallRange } from "./query.ts";
import type { Recalled, RecallLimits, RecallQuery } from "./query.ts";
import { Recalling } from "./recalling.ts";

/**
 * Recall from a whole history: message n of the array is `m<n>`. At once, in time that grows with the text.
 *
 * @throws WindrowError `not-found` when the id or the range names no message of the history, `bad-option` for no id,
 * `bad-message` for what is no message, `unknown-counter`
 */
export function recallFrom(history: readonly Message[], query: RecallQuery, limits: RecallLimits = {}): Recalled {
  return atOnce(recalled(history, query, limits));
}

/**
 * As {@link recallFrom}, with turns for the event loop.
 *
 * @throws WindrowError `not-found`, `bad-option`, `unknown-counter`, `aborted`
 */
export function recallInTurns(
  history: readonly Message[],
  query: RecallQuery,
  limits: RecallLimits = {},
  signal?: AbortSignal,
): Promise<Recalled> {
  return new Turns(signal).run(recalled(history, query, limits));
}

function* recalled(history: readonly Message[], query: RecallQuery, limits: RecallLimits): Work<Recalled> {
  if (!Array.isArray(history)) {
    throw new WindrowError("bad-option", `recallFrom takes a list of messages, not ${shown(history)}.`);
  }
  const wrong = history.findIndex((message: unknown) => !(isObject(message) && Array.isArray(message["parts"])));
  if (wrong !== -1) {
    const message = `Message ${wrong} is no object with \`role\` and a list of \`parts\`.${foreignHint(history[wrong])}`;
    throw new WindrowError("bad-message", message, { index: wrong });
  }
  checkGiven("recallFrom", limits, limitKinds);
  const range = recallRange(query, history.length);
  const recalling = new Recalling(query, range, { ...limits, counter: counterOf(limits.counter) });
  const messageAt = (seq: number): Message => history[seq - 1] as Message;
  for (let seq = recalling.first; seq <= range.to; seq++) {
    if (!(yield* recalling.take({ seq, message: messageAt(seq) }))) break;
    yield;
  }
  const again = yield* recalling.wanted();
  return yield* recalling.result(new Map(again.map((seq) => [seq, messageAt(seq)])));
}
