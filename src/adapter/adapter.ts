/**
 * The contract of an adapter: a host's or a provider's own messages in and out. An adapter is duck-typed: it never
 * imports the host at run time. `conformance.ts` beside this file is the contract as runnable cases.
 */
import type { Message } from "../message/message.ts";

/** Speaks one host's message shape. Pure; never changes what it is given. */
export interface Adapter<Host> {
  /** For logs and opaque parts: `pi`, `openai-chat`, `anthropic`. */
  readonly name: string;
  /**
   * A host's history as messages, one for each host message and in the same order. Nothing is lost: what has no place in
   * a message goes to `extra`, a block that `encode` would not rebuild exactly to an opaque part. The same array, grown,
   * gives the same messages with more behind them.
   *
   * @throws WindrowError `bad-message` naming the index of a value that is no message of the host
   */
  decode(messages: readonly Host[]): readonly Message[];
  /**
   * Messages in the host's shape. A message that `decode` gave comes back as the host's very object, and deeply equal
   * after a way through a store. One that an edit changed keeps the host's other fields. One of another origin is
   * written as the host accepts it, several results as several messages where the host wants that.
   */
  encode(messages: readonly Message[]): readonly Host[];
}
