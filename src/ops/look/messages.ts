/** The messages of a session for people: all are counted, and some are shown. */
import { WindrowError } from "../../errors.ts";
import { messageText, partText, toolCalls, toolResults } from "../../message/message.ts";
import type { Message, Part, Role } from "../../message/message.ts";
import type { StoredRecordOf } from "../../message/record.ts";
import type { Scope, Store } from "../../store/store.ts";
import { Newest } from "./newest.ts";
import type { Shown } from "./newest.ts";

/** Messages by their numbers, both included. */
export interface MessageRange {
  readonly from: number;
  readonly to: number;
}

/** A message for people. */
export interface ViewedMessage {
  readonly seq: number;
  readonly role: Role;
  readonly timestamp: string;
  readonly tokens: number;
  /** Its whole text; calls as `name(args)`. */
  readonly text: string;
  /** The results that it carries, with the tools that they are of. */
  readonly results: readonly { readonly tool: string; readonly isError: boolean; readonly text: string }[];
  /** All that it holds; only of messages that were asked for by their numbers. */
  readonly parts?: readonly Part[];
}

/** The messages of a session, counted. */
export interface ReadMessages extends Shown<ViewedMessage> {
  /** Tokens as they were counted when the messages were appended. */
  readonly historyTokens: number;
}

/** Messages looked back further than shown, for the names of tools. */
const lookBack = 32;

/**
 * Reads the messages of a session one after the other.
 *
 * @param wanted - the newest of them, or those with these numbers
 * @throws WindrowError `bad-option` for a number that no message has
 */
export async function readMessages(
  store: Store,
  scope: Scope,
  id: string,
  wanted: { readonly last: number } | MessageRange,
): Promise<ReadMessages> {
  const { from, to } = "last" in wanted ? { from: 1, to: Infinity } : wanted;
  const most = "last" in wanted ? wanted.last + lookBack : Infinity;
  const newest = new Newest<StoredRecordOf<"message">>(most);
  let [total, historyTokens] = [0, 0];
  for await (const record of store.read(scope, id, { kind: "message" })) {
    total = record.seq;
    historyTokens += record.tokenCount;
    if (record.seq >= from - lookBack && record.seq <= to) newest.add(record);
  }
  if (!("last" in wanted) && (from < 1 || from > to || to > total)) {
    const asked = from === to ? `${from}` : `${from} to ${to}`;
    const message = `The session has messages 1 to ${total}; there is no ${asked}.`;
    throw new WindrowError("bad-option", message, { ...wanted });
  }
  const read = newest.items();
  const tools = new Map<string, string>();
  for (const { message } of read) for (const { callId, name } of toolCalls(message)) tools.set(callId, name);
  const shown = "last" in wanted ? read.slice(Math.max(0, read.length - wanted.last)) : read;
  const asked = shown.filter(({ seq }) => seq >= from);
  return { total, historyTokens, shown: asked.map((record) => viewed(record, tools, !("last" in wanted))) };
}

function viewed(
  { seq, message, timestamp, tokenCount }: StoredRecordOf<"message">,
  tools: ReadonlyMap<string, string>,
  whole: boolean,
): ViewedMessage {
  const about = { seq, role: message.role, timestamp, tokens: tokenCount, text: messageText(message) };
  return { ...about, results: resultsOf(message, tools), ...(whole && { parts: message.parts }) };
}

function resultsOf(message: Message, tools: ReadonlyMap<string, string>): ViewedMessage["results"] {
  return toolResults(message).map((part) => {
    const { callId, name, isError = false } = part;
    return { tool: name ?? tools.get(callId) ?? callId, isError, text: partText(part) };
  });
}
