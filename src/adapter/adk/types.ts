/** Google ADK's objects, as far as they are read: its own types fit these. ADK itself is never imported. */
import type { GeminiContent } from "../../shape/gemini/gemini.ts";

/** The three names of a session of ADK. */
export interface AdkSessionKey {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** An event of ADK's session history. Other fields pass through. */
export interface AdkEvent {
  id: string;
  timestamp: number;
  readonly author?: string;
  readonly content?: GeminiContent;
  readonly partial?: boolean;
  /** Set on ADK's CompactedEvent, which stands for the events before it. */
  readonly isCompacted?: boolean;
  readonly actions?: { stateDelta?: Record<string, unknown> };
}

/** A session of ADK. */
export interface AdkSession {
  id: string;
  appName: string;
  userId: string;
  state: Record<string, unknown>;
  events: AdkEvent[];
  /** Milliseconds since 1970. */
  lastUpdateTime: number;
}

/** ADK's InvocationContext, as far as it is read. */
export interface AdkInvocation {
  readonly session: AdkSession;
  readonly branch?: string;
  readonly agent?: { readonly name: string };
}

/** ADK's Context, which callbacks and tools are given. */
export interface AdkContext {
  readonly invocationContext: AdkInvocation;
  /** The id of the call that a tool answers. */
  readonly functionCallId?: string;
}

/** ADK's LlmRequest, as far as it is read. */
export interface AdkRequest {
  readonly model?: string;
  contents: GeminiContent[];
  readonly config?: {
    readonly systemInstruction?: unknown;
    readonly tools?: unknown;
    readonly maxOutputTokens?: number;
  };
}

/** ADK's LlmResponse, as far as it is read. */
export interface AdkResponse {
  readonly partial?: boolean;
  readonly modelVersion?: string;
  readonly usageMetadata?: {
    readonly promptTokenCount?: number;
    readonly candidatesTokenCount?: number;
    readonly thoughtsTokenCount?: number;
    readonly cachedContentTokenCount?: number;
  };
}
