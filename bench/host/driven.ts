/** What every driven host has in common. */
import type { Adapter } from "../../src/adapter/adapter.ts";
import type { Message } from "../../src/message/message.ts";
import type { SessionManager } from "../../src/session/manager/manager.ts";
import type { Session } from "../../src/session/session.ts";
import { callsOf } from "./kit.ts";

/** One conversation of a host that goes on. */
export interface Drive {
  /** What the model would get for a history of the host's. */
  readonly send: (history: readonly Loose[]) => Promise<unknown>;
  /** Tells what the host tells of an answer and of its tools. */
  readonly answered?: (history: readonly Loose[], answer: Message) => Promise<void>;
  readonly recall: (query: { readonly id?: string; readonly query?: string }) => Promise<unknown>;
  /** The messages as the host's door gives them back. */
  readonly kept?: () => Promise<unknown>;
}

/** A host's object. */
export type Loose = Readonly<Record<string, unknown>>;

/** A host that can be driven. */
export interface Driven {
  readonly name: string;
  readonly profile: string;
  readonly adapter: Adapter<never>;
  /** Puts reasoning in front of a host's answer. */
  readonly think: (answer: Loose, at: number) => readonly Loose[];
  /** Whether it works without a session too. */
  readonly isFree: boolean;
  readonly open: (session: Session | undefined, manager: SessionManager) => Drive;
}

/** Tokens of a window without a session. */
export const budget = 6_000;
/** What a call of a model used. */
export const usage = { inputTokens: 900, outputTokens: 40, cachedInputTokens: 300, reasoningTokens: 4 };
/** The calls of an answer as the AI SDK tells them. */
export const started = (
  answer: Message,
): readonly { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }[] =>
  callsOf(answer).map(({ callId, name, args }) => ({ toolCallId: callId, toolName: name, input: args }));
/** The blocks of a content behind another one. */
export const first = (content: unknown, part: Loose): readonly unknown[] => {
  const blocks = typeof content === "string" ? (content === "" ? [] : [{ type: "text", text: content }]) : content;
  return [part, ...(blocks as readonly unknown[])];
};
/** Options of a host with a session, or with none. */
export const optionsOf = (session: Session | undefined): { readonly session: Session } | { readonly budget: number } =>
  session ? { session } : { budget };
