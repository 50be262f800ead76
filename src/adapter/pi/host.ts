/** pi as its adapter reads it: the shapes of its agent, its messages in and out, and which agent feeds which session. */
import { WindrowError } from "../../errors.ts";
import type { Message } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import type { Adapter } from "../adapter.ts";
import { hostMessages } from "../../shape/host-fields.ts";
import type { JournalHost } from "../host/journal.ts";
import { fromPi, isCutOff, toPi } from "./message.ts";
import type { PiMessage } from "./message.ts";

/** A tool as pi declares it: the fields that are sent to the model. */
export interface PiTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema. */
  readonly parameters?: unknown;
}

/** The fields that are read of a model of pi: tokens; 0 where pi does not know them. */
export interface PiModel {
  readonly contextWindow?: number;
  readonly maxTokens?: number;
}

/** The fields that are read of pi's `Agent`. */
export interface PiAgent {
  readonly state: {
    readonly messages: readonly PiMessage[];
    readonly systemPrompt?: string;
    readonly tools?: readonly PiTool[];
    readonly model?: PiModel;
  };
  /** Calls the listener for every event and awaits it; returns what ends the subscription. */
  subscribe(listener: (event: PiAgentEvent) => Promise<void>): () => unknown;
}

/** The fields that are read of pi's agent events. */
export interface PiAgentEvent {
  readonly type: string;
  readonly message?: PiMessage;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly args?: unknown;
}

/** Decoded messages by the host's object, with the place they were decoded for. */
const decoded = new WeakMap<PiMessage, { readonly index: number; readonly message: Message }>();
const sources = new WeakMap<Message, PiMessage>();

/**
 * pi's messages in and out. Messages of a host application's own roles are carried whole. `encode` gives back the very
 * object `decode` was given for a message that nothing changed; after a resume, from disk, a deeply equal one. A message
 * object is taken to stay as it is once it was decoded.
 */
export const piAdapter: Adapter<PiMessage> = {
  name: "pi",
  decode(messages) {
    return hostMessages(messages, "piAdapter.decode").map((host, index) => {
      const known = typeof host === "object" && host !== null ? decoded.get(host) : undefined;
      if (known?.index === index) return known.message;
      const read = fromPi(host);
      if (!read) {
        throw new WindrowError("bad-message", `Message ${index} is no message of pi: it needs a role.`, { index });
      }
      const message: Message = { ...read, id: `m${index + 1}` };
      decoded.set(host, { index, message });
      sources.set(message, host);
      return message;
    });
  },
  encode(messages) {
    return messages.map((message) => sources.get(message) ?? toPi(message));
  },
};

/** How a journal reads pi. */
export const piHost: JournalHost<PiMessage> = { adapter: piAdapter, optional: isCutOff };

const agentKey = Symbol("windrow:pi-agent");

/** The agent that journals into a session, where there is one: it knows the system prompt and the tools. */
export function agentSlot(session: Session): { agent?: PiAgent | undefined } {
  return session.attach(agentKey, () => ({}));
}
