/**
 * The contract of the gateway: a server between an agent and its provider that keeps every message, and, where it is asked,
 * sends a window in the place of the whole history. It has three parts that know each other by this file alone:
 *
 * - a {@link WireApi} reads and writes the requests and answers of one provider's API, and keeps nothing;
 * - {@link Lines} keep conversations in a store and say which bytes a request is sent with;
 * - the server (`proxy/`) passes bytes, and asks the two others.
 *
 * Nothing here may be the reason that an agent fails: whatever goes wrong in the first two, the client's bytes go on.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject, ToolDefinition } from "../message/message.ts";
import type { Answer } from "../shape/shape.ts";
import type { Adapter } from "../adapter/adapter.ts";
import type { Budget } from "../window/options.ts";
import type { Profile } from "../window/provider/profile.ts";

/** An API on the wire. A request leaves in the API that it came in. */
export type WireApiName = "anthropic-messages" | "openai-responses" | "openai-chat" | "gemini" | "ollama";

/** A request as it came, before anything was read of it. */
export interface WireCall {
  readonly method: string;
  /** The path with its query, without a prefix of the gateway's own. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as the client sent it, decoded where it was compressed. */
  readonly body: Buffer;
}

/** One message of a request. */
export interface WireMessage {
  /** The message's own bytes in the body. */
  readonly raw: Buffer;
  /**
   * The message as it is kept and compared: without marks that move from call to call (`cache_control`), and a text alone
   * always in one form.
   */
  readonly value: JsonObject;
  /**
   * A hash of `value`, in 64 hexadecimal digits, the same for the same value in whatever bytes. That of a system message
   * leaves dates and times of day out, which some clients write anew for each request.
   */
  readonly hash: string;
}

/**
 * The purpose of a request: a `turn` of a conversation; a `side` request of the client's own, such as a title or a route;
 * `compaction`, in which the client has its history summarised.
 */
export type RequestKind = "turn" | "side" | "compaction";

/** The sender of a request, as it says itself. All of them are names that a client chose. */
export interface Claims {
  /** The program: `claude-code`, `codex`, `opencode`, `gemini-cli`, `pi`, or the first word of its user agent. */
  readonly client: string;
  /** The client's id of its session. Absent where it tells none: the messages themselves then decide. */
  readonly session?: string;
  /** The agent within the session; absent for the main one. */
  readonly agent?: string;
  /** The session whose agent started this one. */
  readonly parent?: string;
}

/** The facts of a request that carries a conversation. */
export interface WireRequest {
  readonly api: WireApi;
  readonly call: WireCall;
  readonly kind: RequestKind;
  readonly claims: Claims;
  readonly model?: string;
  /** The most tokens of the answer, where the request says it. */
  readonly maxOutput?: number;
  /** The system prompt as text, without what names the conversation (a billing header). It is counted, never sent. */
  readonly system?: string;
  /** Counted, never sent. */
  readonly tools: readonly ToolDefinition[];
  /** All messages, oldest first; system messages among them stand in their places. */
  readonly messages: readonly WireMessage[];
  /**
   * Why the request is never composed though its messages are kept: `previous_response_id`, `n > 1`. Absent for one that
   * may be.
   */
  readonly fixed?: string;
  /**
   * Whether its model takes reasoning behind any history, and refuses a turn of calls that does not begin with its own.
   * Default false: reasoning is good only behind what stood before it.
   */
  readonly keepsReasoning?: boolean;
}

/** A message of a body to write: one of the request's own, in its own bytes, or a new one in the API's shape. */
export type Written = WireMessage | { readonly made: JsonObject };

/** Reads a copy of an answer while it passes. Never throws. */
export interface AnswerReader {
  /**
   * Takes the next bytes, decoded.
   *
   * @returns whether the mark of its end came, so that the client may act on it
   */
  push(chunk: Buffer): boolean;
  /** The answer, once no more bytes come. */
  end(): Answer;
}

/** Old tool results that the provider is asked to clear. */
export interface Clearing {
  /** Tokens of a request, as the provider counts them, above which it clears. */
  readonly trigger: number;
  /** The newest tool uses, whose results stay. */
  readonly keep: number;
  /** Tools whose results stay and are not counted by `keep`. */
  readonly exclude: readonly string[];
}

/** A request that asks its provider for an edit: all else in it is the client's, byte for byte. */
export interface AskedRequest {
  readonly body: Buffer;
  /** Headers that the edit needs beside the client's. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Edits that a provider makes itself, to what its model reads. */
export interface ProviderEdits {
  /** Asks for old results to be cleared; undefined for a request that says so itself, or whose settings have another shape. */
  ask(request: WireRequest, clearing: Clearing): AskedRequest | undefined;
  /** Whether an error says that the provider does not take the question. */
  isRefusal(status: number, body: string): boolean;
}

/** One provider's API. Pure: it keeps nothing but what it remembers of bytes that it has seen. */
export interface WireApi {
  readonly name: WireApiName;
  /** The rules of what the provider accepts, with system messages in the middle where the API has them. */
  readonly profile: Profile;
  /** Reads `value` of messages as Windrow's, one for each, and writes Windrow's as the API takes them. */
  readonly adapter: Adapter<JsonObject>;
  /** Whether a request of this method and path carries a conversation. Anything else passes unread. */
  matches(method: string, path: string): boolean;
  /**
   * Reads a request.
   *
   * @returns undefined for a body of another shape: it then passes unread
   */
  read(call: WireCall): WireRequest | undefined;
  /** The request's body with other messages; all else stays as it was, byte for byte. */
  write(request: WireRequest, messages: readonly Written[]): Buffer;
  /** Absent for an API whose provider edits nothing. */
  readonly edits?: ProviderEdits;
  /** Reads the answer to a request, in whatever form its bytes are. */
  reader(request: WireRequest): AnswerReader;
  /**
   * Whether a message that a client sends back is the answer that it was given, also where it wrote it another way: the
   * same calls, and the same text but for white space.
   */
  isEcho(sent: JsonObject, answer: JsonObject): boolean;
  /** The message without reasoning; the same object where it has none. */
  withoutReasoning(message: JsonObject): JsonObject;
  /** Whether an error says that reasoning does not belong to the messages before it. */
  isPrefixFault(status: number, body: string): boolean;
  /**
   * The same messages; where the turn of calls at their end has lost its beginning, the reasoning of that stands at its
   * first message. Absent for an API that asks for none.
   */
  opened?(request: WireRequest, list: readonly Written[]): readonly Written[];
  /** Whether an error says that a turn of calls does not begin with its reasoning. */
  isUnopened?(status: number, body: string): boolean;
  /** Whether an error says that the request is longer than the model's contextWindow. */
  isOverflow(status: number, body: string): boolean;
  /** An error of the gateway's own, in the API's shape. */
  fault(status: number, message: string): { readonly contentType: string; readonly body: string };
}

/** Which bytes a request is sent with, and whoever waits for its answer. Nothing of it throws or rejects. */
export interface Sending {
  /** The bytes to send: the very buffer of the call where nothing is changed. */
  readonly body: Buffer;
  /** Headers to send beside the client's, such as a beta's name that an edit of the provider's needs. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The value of the response header `x-windrow`: `observed; session=ab12; line=main`. */
  readonly note: string;
  /** A body to try once more with after this error, which came before any content; undefined to pass the error on. */
  again(status: number, body: string): Promise<Buffer | undefined>;
  /**
   * Keeps the answer. It is called once, also where the client left or the upstream broke off; the last bytes of a
   * complete answer wait for it, for at most a quarter of a second.
   */
  keep(answer: SentAnswer): Promise<void>;
}

/** How an exchange went. */
export interface SentAnswer {
  /** 0 where the upstream could not be reached. */
  readonly status: number;
  readonly answer: Answer;
  /** Whether the client left before the end. */
  readonly isAborted: boolean;
  /** Whether the upstream refused, as well, the other body that was sent for a refused one. Default: false. */
  readonly isRefusedAgain?: boolean;
  /** Milliseconds from the request to the first byte of the answer, and to its last. */
  readonly firstByteMs: number;
  readonly totalMs: number;
  /** The upstream's id of the request, from its headers. */
  readonly requestId?: string;
}

/** Conversations as they are kept, and windows of them. */
export interface Lines {
  /**
   * Finds the line of a request, keeps what is new in it, and says which bytes are sent. It never rejects, and answers
   * within a second: where it could not, the request's own bytes are sent, and the note says why.
   *
   * @param tenant - a name that is made of the client's key
   */
  send(request: WireRequest, tenant: string): Promise<Sending>;
  /** Closes every session. */
  close(): Promise<void>;
}

/** How lines are composed. */
export interface ComposingOptions {
  /**
   * Tokens a request may use; with `auto` a window sizes itself, up to six tenths of the model's contextWindow. Absent: requests
   * are only observed.
   */
  readonly budget?: Budget;
  /**
   * The one who edits a request that grows beyond the budget. `windrow`, the default: the gateway, whatever the API.
   * `provider`: the request stays the client's, and its provider is asked to clear old tool results; where it cannot,
   * requests pass as they came. A conversation that Windrow edited before is edited by Windrow to its end.
   */
  readonly edits?: "windrow" | "provider";
  /**
   * How the model gets back what left its window: by a tool of its client (`mcp`), or by one that the gateway adds to the
   * conversations of clients that lack it (`tool`). Default `mcp` where a budget is given.
   */
  readonly recall?: "off" | "mcp" | "tool";
}
