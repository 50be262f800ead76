/** Appending messages: each is checked, completed, counted and written, and then feeds the session's windows and state. */
import { randomUUID } from "node:crypto";
import { isObject, jsonFault } from "../message/json.ts";
import { withParts } from "../message/message.ts";
import type { GivenMessage, GivenPart, Message, NewMessage } from "../message/message.ts";
import type { NewRecord, StoredRecord, StoredRecordOf } from "../message/record.ts";
import { countOnce } from "../tokens/counter.ts";
import type { SessionContext } from "./context.ts";
import type { Epochs } from "./epochs.ts";
import { tell } from "./events.ts";
import type { ConversationState } from "./state/state.ts";
import type { SessionWriter } from "./writer.ts";

/** The end of a session's log, where messages are added. */
export class Appender {
  readonly #context: SessionContext;
  readonly #writer: SessionWriter;
  readonly #epochs: Epochs;
  readonly #state: ConversationState;
  readonly #check: (message: unknown) => NewMessage;
  #messages = 0;
  #tokens = 0;

  /** @param check - checks a message that was not typed; throws `bad-message` */
  constructor(
    context: SessionContext,
    writer: SessionWriter,
    epochs: Epochs,
    state: ConversationState,
    check: (message: unknown) => NewMessage,
  ) {
    this.#context = context;
    this.#writer = writer;
    this.#epochs = epochs;
    this.#state = state;
    this.#check = check;
  }

  /** Messages in the log. */
  get messages(): number {
    return this.#messages;
  }

  /** Tokens of all messages in the log. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Counts messages that the log already has, up to `seq`. */
  counted(seq: number, tokens: number): void {
    this.#messages = Math.max(this.#messages, seq);
    this.#tokens += tokens;
  }

  /**
   * The message with an id and a timestamp, checked. A result that names its call as a window shows it gets the log's id.
   *
   * @throws WindrowError `bad-message`
   */
  complete(given: GivenMessage): Message {
    const message = this.#check(filled(given));
    const timestamp = message.timestamp ?? this.#context.now().toISOString();
    const parts = message.parts.map((part) => {
      if (part.type !== "tool-result") return part;
      const callId = this.hostIdOf(part.callId);
      return callId === part.callId ? part : { ...part, callId };
    });
    return withParts({ ...message, id: message.id ?? randomUUID(), timestamp }, parts);
  }

  /** The log's id of a call that windows show under `callId`; `callId` itself where they show none. */
  hostIdOf(callId: string): string {
    return this.#epochs.composer.hostIdOf(callId);
  }

  /** Writes complete messages, and other records behind them. */
  append(messages: readonly Message[], others: readonly NewRecord[] = [], signal?: AbortSignal): Promise<void> {
    const records = [...messages.map((message) => this.#recordOf(message)), ...others];
    return this.#writer.write(records, (stored) => this.#take(stored, messages), signal);
  }

  /** Writes a message behind everything under way, with records that name it by its number. */
  async appendLast(message: Message, recordsOf: (seq: number) => readonly NewRecord[]): Promise<void> {
    await this.#writer.settled();
    await this.append([message], recordsOf(this.#messages + 1));
  }

  #recordOf(message: Message): NewRecord {
    const timestamp = message.timestamp ?? this.#context.now().toISOString();
    return { kind: "message", message, tokenCount: countOnce(this.#context.composer.counter, message), timestamp };
  }

  #take(stored: readonly StoredRecord[], messages: readonly Message[]): void {
    const { id, store, on } = this.#context;
    for (const [index, record] of stored.filter(({ kind }) => kind === "message").entries()) {
      const { seq, tokenCount, message } = record as StoredRecordOf<"message">;
      // The window shows the host's own message unless the store masks live windows too.
      const shown = store.capabilities.liveMask ? message : (messages[index] as Message);
      this.#state.masked(message.masks);
      this.#state.push(seq, shown);
      this.#epochs.push(seq, shown, message);
      this.counted(seq, tokenCount);
      tell(on, { type: "message-appended", sessionId: id, seq, role: message.role, tokens: tokenCount });
    }
  }
}

/** A message, which a text of the user's becomes. */
export function spoken(given: string | GivenMessage): GivenMessage {
  return typeof given === "string" ? { role: "user", parts: [{ type: "text", text: given }] } : given;
}

/** A message as a host may give it: a call without an id gets one, and a result may be any JSON value. */
function filled(given: GivenMessage): unknown {
  const { parts } = (given ?? {}) as { readonly parts?: unknown };
  if (!Array.isArray(parts)) return given;
  const full = (parts as readonly GivenPart[]).map((part): unknown => {
    if (part?.type === "tool-call") return part.callId === undefined ? { ...part, callId: randomUUID() } : part;
    return part?.type === "tool-result" ? { ...part, content: resultText(part.content) } : part;
  });
  return { ...given, parts: full };
}

/** The content of a result: a text, or parts, as they are; any other JSON value as its text. */
function resultText(content: unknown): unknown {
  if (content === undefined || typeof content === "string" || jsonFault(content) !== undefined) return content;
  const isParts = Array.isArray(content) && content.every((item) => isObject(item) && typeof item["type"] === "string");
  return isParts ? content : JSON.stringify(content);
}
