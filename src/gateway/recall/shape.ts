/** The parts of the recall loop that differ from API to API. */
import type { JsonObject } from "../../message/message.ts";
import type { WireMessage, Written } from "../gateway.ts";
import type { StreamEvent } from "../wire/events.ts";

/** The name of the tool that the gateway answers. */
export const toolName = "windrow_recall";

/** A call of the tool. */
export interface RecallCall {
  readonly id: string;
  /** An object, or its JSON. */
  readonly args: unknown;
}

/** The result of a call. */
export interface RecallResult {
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

/** An answer as the model gave it. */
export interface TrueAnswer {
  /** Its messages as they go back; without calls that were cut off. */
  readonly messages: readonly JsonObject[];
  readonly recalls: readonly RecallCall[];
  /** Whether it calls tools of the client's. */
  readonly hasOthers: boolean;
}

/** The words and calls of a turn as its client has them: by them the turn is known when it comes back. */
export interface SaidTurn {
  /** A hash of its words and calls. */
  readonly said: string;
  /** Ids of its calls, and hashes of its signatures. */
  readonly traces: readonly string[];
  /** Whether it has reasoning that its provider signed. */
  readonly isSigned: boolean;
}

/** A turn of the model's in a request: the messages from `from` to before `to`. */
export interface SentTurn extends SaidTurn {
  readonly from: number;
  readonly to: number;
}

/** One answer for a client, made of the streams of several. */
export interface MergedStream {
  /** Takes an event of the round. @returns text for the client */
  event(event: StreamEvent): string;
  /** Begins a further round. */
  next(): void;
  /** Ends the answer. @param hasOthers - whether the client has calls to answer */
  finish(hasOthers: boolean): string;
  /** Ends it with an error of the gateway's. */
  fault(message: string): string;
}

/** One API's part of the loop. */
export interface RecallShape {
  /** The tool as the API declares it. Its bytes never change. */
  readonly tool: JsonObject;
  /** Text that keeps a stream alive. */
  readonly ping: string;
  /** Whether a line may begin with the tool, by the members of its first request. */
  mayBegin(fields: JsonObject): boolean;
  /** Whether a request with hidden rounds needs the tools that they call. */
  readonly needsTools: boolean;
  /** The turns of the model's in a request, oldest first. */
  turns(messages: readonly WireMessage[]): readonly SentTurn[];
  /** The words and calls that a client has of one answer's rounds. */
  said(messages: readonly JsonObject[]): SaidTurn;
  /** An answer in its parts. @param stop - why the model stopped, in the API's word */
  answered(messages: readonly JsonObject[], stop: string | undefined): TrueAnswer;
  /** The messages with results of calls, behind the answer that has them. */
  results(results: readonly RecallResult[]): readonly JsonObject[];
  /**
   * The client's messages behind a turn whose calls it knows in part, with the results that it does not know.
   *
   * @param next - the client's message behind the turn
   * @returns the messages in place of `next`, or before it
   */
  placed(
    results: readonly JsonObject[],
    next: WireMessage | undefined,
  ): { readonly messages: readonly Written[]; readonly isNextIn: boolean };
  /** The true messages with the client's marks of caching where it set them. */
  marked(messages: readonly JsonObject[], sent: readonly WireMessage[]): readonly JsonObject[];
  stream(): MergedStream;
  /** One answer made of the bodies of several. */
  merged(bodies: readonly JsonObject[], hasOthers: boolean): JsonObject;
}

/** An event as text. */
export function eventText(name: string, data: string | JsonObject): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  const lines = text.split("\n").map((line) => `data: ${line}\n`);
  return `${name === "" ? "" : `event: ${name}\n`}${lines.join("")}\n`;
}
