/** A window on the wire: the client's own messages in their own bytes, and what stands in the place of others. */
import { EditIndex } from "../../window/edits.ts";
import type { Composed, Edit } from "../../window/window.ts";
import type { Profile } from "../../window/provider/profile.ts";
import type { JsonObject, Message } from "../../message/message.ts";
import type { WireApi, WireRequest, Written } from "../gateway.ts";
import type { Chain } from "./chain.ts";

/** A message of a window: the client's own at a place of the history, with or without its reasoning, or a made one. */
type Piece = { readonly at: number; readonly isBare: boolean } | { readonly made: JsonObject };

/** A window as it is sent. What a request has behind it follows as it is. */
export interface SentWindow {
  readonly epoch: number;
  /** Messages of the history that it stands for. */
  readonly covers: number;
  readonly pieces: readonly Piece[];
}

/** Whether edits take more out of a window than reasoning, which the client's own bytes may keep. */
export function hasEdits(edits: readonly Pick<Edit, "only">[]): boolean {
  return edits.some(({ only }) => only === undefined);
}

const encoded = new WeakMap<Message, readonly JsonObject[]>();

/**
 * The window in pieces. A message that no edit changes is the client's own, also where the provider's rules would have it
 * written another way: what the client sends is its own affair.
 */
export function sentWindow({ messages, state }: Composed, chain: Chain, api: WireApi): SentWindow {
  const stubbed = new Set(state.edits.filter(({ kind }) => kind === "stub").map(({ from }) => from));
  const { reasoning } = new EditIndex(state.edits);
  const pieces: Piece[] = [];
  const seen = new Set<number>();
  for (const message of messages) {
    const at = chain.placeOf(message.id);
    // The system prompt is only counted: it stands in the client's own request.
    if (at === undefined && message.id === "windrow:system") continue;
    const seq = (at ?? -1) + 1;
    if (at === undefined || stubbed.has(seq)) pieces.push(...encodedOf(message, api).map((made) => ({ made })));
    else if (!seen.has(at)) {
      seen.add(at);
      pieces.push({ at, isBare: reasoning.some(({ from, to }) => from <= seq && seq <= to) });
    }
  }
  return { epoch: state.epoch, covers: chain.length, pieces };
}

function encodedOf(message: Message, { adapter }: WireApi): readonly JsonObject[] {
  let made = encoded.get(message);
  if (!made) encoded.set(message, (made = adapter.encode([message])));
  return made;
}

/** The rules of a provider whose model takes reasoning behind any history. */
export function unboundProfile({ profile }: WireApi): Profile {
  return { ...profile, reasoning: "required" };
}

/** How reasoning is kept out of a window. */
export interface Reasoning {
  /** The first place whose reasoning may stay. */
  readonly from: number;
}

/**
 * The messages of a request behind a window. Reasoning that stays is one unbroken run up to the newest: behind an answer
 * that lost its own, no older one keeps it. A model that takes reasoning behind any history loses none.
 */
export function written(window: SentWindow, request: WireRequest, { from }: Reasoning): readonly Written[] {
  const { api, messages, keepsReasoning = false } = request;
  const pieces: readonly Piece[] = [
    ...window.pieces,
    ...messages.slice(window.covers).map((_, offset) => ({ at: window.covers + offset, isBare: false })),
  ];
  const found: Written[] = [];
  let isBroken = false;
  for (const piece of pieces.toReversed()) {
    if ("made" in piece) {
      found.push({ made: isBroken ? api.withoutReasoning(piece.made) : piece.made });
      continue;
    }
    const message = messages[piece.at];
    if (!message) continue;
    const isBare: boolean = !keepsReasoning && (piece.isBare || isBroken || piece.at < from);
    const value: JsonObject = isBare ? api.withoutReasoning(message.value) : message.value;
    isBroken ||= value !== message.value;
    found.push(value === message.value ? message : { made: value });
  }
  found.reverse();
  return (keepsReasoning && api.opened?.(request, found)) || found;
}

/** The messages of a request without any reasoning, where its model takes them so. */
export function bare({ api, messages, keepsReasoning }: WireRequest): readonly Written[] {
  if (keepsReasoning) return messages;
  return messages.map((message) => {
    const value = api.withoutReasoning(message.value);
    return value === message.value ? message : { made: value };
  });
}

/** Messages that are to be sent, without any reasoning. */
export function bared(list: readonly Written[], { api }: WireRequest): readonly Written[] {
  return list.map((message) => {
    const value = "made" in message ? message.made : message.value;
    const rest = api.withoutReasoning(value);
    return rest === value ? message : { made: rest };
  });
}

/** The body with these messages: the very bytes of the request where all of them are its own, in their order. */
export function bodyOf(request: WireRequest, list: readonly Written[]): Buffer {
  const { messages, api, call } = request;
  const isSame = list.length === messages.length && list.every((message, place) => message === messages[place]);
  return isSame ? call.body : api.write(request, list);
}
