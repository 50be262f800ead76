/** The spans of one session: the model call that is under way, and the tools that run. */
import { SpanKind, SpanStatusCode, context, trace } from "@opentelemetry/api";
import type { Attributes, Context, Span, SpanContext, Tracer } from "@opentelemetry/api";
import type { SessionEvent } from "../session/events.ts";
import type { Report } from "../window/window.ts";

type Composed = Extract<SessionEvent, { readonly type: "window-composed" }>;

/** A model call that is under way, or has just ended. */
export interface ChatCall {
  readonly span: Span;
  readonly started: Date;
  /** The model that was asked, as far as it is known before the answer. */
  readonly model: string | undefined;
  /** The time when its answer was seen: a message of the assistant's, or a tool that runs. */
  answered?: Date;
}

/** A call that has ended. */
export interface EndedCall extends ChatCall {
  readonly seconds: number;
}

/** The spans of one session that have not ended. */
export class SessionSpans {
  readonly #tracer: Tracer;
  readonly #base: Attributes;
  readonly #tools = new Map<string, Span>();
  #chat: ChatCall | undefined;
  /** The newest model call: its tools belong to it where no span is active. */
  #newest: SpanContext | undefined;

  /** @param base - attributes of every span, the session's id among them */
  constructor(tracer: Tracer, base: Attributes) {
    this.#tracer = tracer;
    this.#base = base;
  }

  /**
   * Begins a model call at the window it is made with.
   *
   * @returns the call before it, where that had an answer and nobody told its usage
   */
  composed(event: Composed, model: string | undefined, about: Attributes, time: Date): EndedCall | undefined {
    const before = this.#supersede(time);
    const { report, call, messages } = event;
    const name = model === undefined ? "chat" : `chat ${model}`;
    const attributes = {
      ...this.#base,
      ...about,
      "windrow.call": call,
      "windrow.window.tokens": report.tokens,
      "windrow.window.budget": report.budget,
      "windrow.window.messages": messages,
      "windrow.epoch": report.epoch,
      "windrow.strategy": report.strategy,
    };
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, startTime: time }, context.active());
    span.addEvent("windrow.compose", composeAttributes(report), time);
    if (report.opened) {
      const { reason, tokensBefore, tokensAfter, edits } = report.opened;
      const opened = {
        "windrow.epoch": report.epoch,
        "windrow.epoch.reason": reason,
        "windrow.epoch.tokens_before": tokensBefore,
        "windrow.epoch.tokens_after": tokensAfter,
        "windrow.epoch.edits": edits.length,
      };
      span.addEvent("windrow.epoch", opened, time);
    }
    this.#chat = { span, started: time, model };
    this.#newest = span.spanContext();
    return before;
  }

  /** Notes that the model answered. */
  answered(time: Date): void {
    if (this.#chat) this.#chat.answered ??= time;
  }

  /** Ends the model call with what its provider reported; undefined where no call is under way. */
  used(attributes: Attributes, model: string | undefined, time: Date): EndedCall | undefined {
    const chat = this.#chat;
    if (!chat) return undefined;
    chat.span.setAttributes(attributes);
    if (chat.model === undefined && model !== undefined) chat.span.updateName(`chat ${model}`);
    return this.#end(chat, time);
  }

  /** Begins the run of a tool. Its parent is the active span, or else the model call that asked for it. */
  toolStarted(callId: string, toolName: string, time: Date): void {
    this.answered(time);
    this.#tools.get(callId)?.end(time);
    const attributes = {
      ...this.#base,
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": toolName,
      "gen_ai.tool.call.id": callId,
      "gen_ai.tool.type": "function",
    };
    const options = { kind: SpanKind.INTERNAL, attributes, startTime: time };
    this.#tools.set(callId, this.#tracer.startSpan(`execute_tool ${toolName}`, options, this.#parent()));
  }

  /** Ends the run of a tool. */
  toolFinished(callId: string, isError: boolean, time: Date): void {
    const span = this.#tools.get(callId);
    if (!span) return;
    this.#tools.delete(callId);
    if (isError) failed(span, "tool-error");
    span.end(time);
  }

  /** Adds an event to the call under way. */
  note(name: string, attributes: Attributes, time: Date): void {
    this.#chat?.span.addEvent(name, attributes, time);
  }

  /**
   * Ends all that is under way, as failed: the session ended first. A model call that was answered has not failed.
   *
   * @param errorType - why, in few distinct words
   * @returns the model call, where one was under way
   */
  cut(errorType: string, time: Date): EndedCall | undefined {
    for (const span of this.#tools.values()) {
      failed(span, errorType);
      span.end(time);
    }
    this.#tools.clear();
    const chat = this.#chat;
    if (!chat) return undefined;
    if (!chat.answered) failed(chat.span, errorType);
    return this.#end(chat, time);
  }

  /** Ends a call behind which another window was composed: answered without a usage, or never made with that window. */
  #supersede(time: Date): EndedCall | undefined {
    const chat = this.#chat;
    if (!chat) return undefined;
    if (chat.answered) return this.#end(chat, time);
    chat.span.setAttribute("windrow.window.superseded", true);
    this.#end(chat, time);
    return undefined;
  }

  #end(chat: ChatCall, time: Date): EndedCall {
    this.#chat = undefined;
    const ended = chat.answered ?? time;
    chat.span.end(ended);
    return { ...chat, seconds: Math.max(0, ended.getTime() - chat.started.getTime()) / 1_000 };
  }

  #parent(): Context {
    const active = context.active();
    if (trace.getSpanContext(active) || !this.#newest) return active;
    return trace.setSpanContext(active, this.#newest);
  }
}

function failed(span: Span, errorType: string): void {
  span.setAttribute("error.type", errorType);
  span.setStatus({ code: SpanStatusCode.ERROR, message: errorType });
}

function composeAttributes({ tokens, budget, epoch, cost, windowHash, counts }: Report): Attributes {
  return {
    "windrow.window.tokens": tokens,
    "windrow.window.budget": budget,
    "windrow.window.cached_tokens": cost.cached,
    "windrow.window.hash": windowHash,
    "windrow.epoch": epoch,
    "windrow.messages.kept": counts.kept,
    "windrow.messages.stubbed": counts.stubbed,
    "windrow.messages.replaced": counts.replaced,
    "windrow.messages.dropped": counts.dropped,
  };
}
