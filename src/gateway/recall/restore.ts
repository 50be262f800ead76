/** Hidden rounds in a request: the client's turns become what the model really wrote and read. */
import type { JsonObject } from "../../message/message.ts";
import type { WireMessage, WireRequest, Written } from "../gateway.ts";
import type { HiddenTurn, KnownTurns } from "./known-turns.ts";
import { placeTrace, places } from "./said.ts";
import type { RecallShape, SentTurn } from "./shape.ts";

/** A request as the model knows it. */
export interface Restored {
  readonly messages: readonly Written[];
  /** Whether any turn of it has hidden rounds. */
  readonly isFound: boolean;
  /** Whether a turn's hidden rounds could not be put back. */
  readonly isLost: boolean;
  /** The hash of all of the client's messages, which is the place of its next turn. */
  readonly place: string;
}

/** A turn beside what is known of it. */
interface FoundTurn {
  readonly turn: SentTurn;
  readonly known: HiddenTurn | "lost" | undefined;
}

/**
 * Puts hidden rounds back. A turn that its client wrote anew stays as it is sent; reasoning up to the first answer that
 * was given behind it is left out, since it belongs to rounds that the request no longer has, unless its model keeps it.
 */
export function restored(request: WireRequest, shape: RecallShape, turns: KnownTurns): Restored {
  const { messages, api } = request;
  const before = places(api, messages);
  const place = before.at(-1) ?? "";
  if (turns.isEmpty) return { messages, isFound: false, isLost: false, place };
  const found = shape.turns(messages).map((turn): FoundTurn => {
    const traces = [placeTrace(before[turn.from] ?? "", turn.said), ...turn.traces];
    return { turn, known: turns.find(traces, turn.said) };
  });
  if (found.every(({ known }) => known === undefined)) return { messages, isFound: false, isLost: false, place };
  const lastLost = found.findLastIndex(({ known }) => known === "lost");
  const behind = found.slice(lastLost + 1).find(({ turn }) => isBehind(turn, before, turns));
  const bareTo = lastLost === -1 || request.keepsReasoning ? 0 : (behind?.turn.from ?? messages.length);
  const written = put(request, shape, found, bareTo);
  return { messages: written, isFound: true, isLost: lastLost !== -1, place };
}

function isBehind(turn: SentTurn, before: readonly string[], turns: KnownTurns): boolean {
  return turns.isBehindLost([placeTrace(before[turn.from] ?? "", turn.said), ...turn.traces]);
}

function put(
  { messages, api }: WireRequest,
  shape: RecallShape,
  found: readonly FoundTurn[],
  bareTo: number,
): readonly Written[] {
  const written: Written[] = [];
  const bare = (message: WireMessage): Written => {
    const value = api.withoutReasoning(message.value);
    return value === message.value ? message : { made: value };
  };
  let at = 0;
  const pass = (to: number): void => {
    for (; at < to; at++) {
      const message = messages[at];
      if (message) written.push(at < bareTo ? bare(message) : message);
    }
  };
  for (const { turn, known } of found) {
    if (known === undefined || known === "lost") continue;
    pass(turn.from);
    const sent = messages.slice(turn.from, turn.to);
    // A client that took reasoning out of its part wants none of it.
    const isBare = turn.from < bareTo || (!turn.isSigned && known.traces.some((trace) => trace.startsWith("s:")));
    const truth = isBare ? known.messages.map((message) => api.withoutReasoning(message)) : known.messages;
    written.push(...shape.marked(truth, sent).map((made: JsonObject) => ({ made })));
    at = turn.to;
    if (known.pending.length === 0) continue;
    const next = messages[at];
    const placed = shape.placed(known.pending, next);
    written.push(...placed.messages);
    if (placed.isNextIn) at++;
  }
  pass(messages.length);
  return written;
}
