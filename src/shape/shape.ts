/**
 * The contract of a shape: the form in which one provider's API has its messages, answers, counts and errors. A shape is
 * pure and knows JSON alone; `test/shape/` is the contract as cases. Whoever reads or writes a provider's messages does it
 * here: adapters hand the shape to loops, transcripts and the gateway put their own envelope around it.
 */
import type { JsonObject, JsonValue, Message, Usage } from "../message/message.ts";
import type { WireForm } from "../message/wire-form.ts";

/** The words and calls of a message. */
export interface Spoken {
  readonly text: string;
  /** The calls in order, each as the values by which two of them are the same. */
  readonly calls: readonly JsonValue[];
}

/** The answer of a provider, as far as it came. */
export interface Answer {
  /** The answer as a client will send it back, in the form of {@link Shape.value}; absent where none came. */
  readonly message?: JsonObject;
  /** Further messages of the same answer, for APIs whose answers are lists of items. */
  readonly others?: readonly JsonObject[];
  /** Whether it came to its end. */
  readonly isComplete: boolean;
  /** In tokens, as the provider said it; `input` includes what was read from its cache. */
  readonly usage?: Usage;
  readonly model?: string;
  /** The provider's id of the answer. */
  readonly id?: string;
  /** Why the model stopped, in the API's word. */
  readonly stop?: string;
  /** The edits that the provider made to the request before its model read it, in its own words. */
  readonly appliedEdits?: readonly JsonObject[];
  /** The provider's error in the answer, where it has one; also one that came in the middle of a stream. */
  readonly error?: { readonly type: string; readonly message: string };
}

/** Puts one answer together. It is given whole values only, of any shape. */
export interface AnswerBuilder {
  /** Takes an event of a stream, or a line of one. */
  event(data: JsonObject, name: string): void;
  /** Takes the answer that came as one body. */
  body(value: JsonValue): void;
  /** Whether the mark of its end came, behind which nothing is read. Not every API has one. */
  readonly isEnded: boolean;
  /** The answer as far as it came. */
  answer(): Answer;
  /** Takes the mark at the end of a stream that is no JSON: `[DONE]`. */
  done?(): void;
}

/** The shape of one API. */
export interface Shape<Host extends object> {
  /** For logs, for opaque parts, and for the fields that a message keeps: `anthropic`. */
  readonly name: string;
  /** The ids of calls and the names of tools that the API takes. */
  readonly form: WireForm;
  /** The member of a request's body that holds the messages. */
  readonly list: string;
  /**
   * The API's messages as Windrow's, one for each; nothing is lost.
   *
   * @throws WindrowError `bad-message` naming the index of a value that is no message of the API
   */
  readonly decode: (messages: readonly Host[]) => readonly Message[];
  /** Messages in the shape. One that `decode` gave comes back as the very object, or deeply equal after a store. */
  readonly encode: (messages: readonly Message[]) => readonly Host[];
  /** A message as it is kept and compared, without marks that move from call to call; undefined for what is none. */
  readonly value: (message: JsonObject) => JsonObject | undefined;
  /**
   * Whether a message that a client sends back is the answer that it was given, also where it wrote it another way: the
   * same calls, and the same text but for white space.
   */
  readonly isEcho: (sent: JsonObject, answer: JsonObject) => boolean;
  /** A message without reasoning; the same object where it has none. */
  readonly withoutReasoning: (message: JsonObject) => JsonObject;
  /** @param isStored - whether the provider keeps the answer, so that reasoning that is not sealed may come back */
  readonly answer: (isStored?: boolean) => AnswerBuilder;
  /** The usage in an answer of the API; undefined where it reports none. */
  readonly usage: (counts: unknown) => Usage | undefined;
  /** Whether an error says that reasoning does not belong to the messages before it. */
  readonly isPrefixFault: (status: number, body: string) => boolean;
  /** Whether an error says that a turn of calls does not begin with its reasoning. Absent where no API says it. */
  readonly isUnopened?: (status: number, body: string) => boolean;
  /** An error of the API's, as its body. */
  readonly fault: (status: number, message: string) => JsonObject;
}
