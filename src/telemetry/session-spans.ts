/** The spans of one session: the model call that is under way, and the tools that run. */
import { SpanKind, SpanStatusCode, context, trace } from "@opentelemetry/api";
import type { Attributes, Context, Span, SpanContext, Tracer } from "@opentelemetry/api";
import type { SessionEvent } from "../session/events.ts";
import type { Report } from "../window/window.ts";
import { attribute, operation } from "./names.ts";

type Composed = Extract<SessionEvent, { readonly type: "window-composed" }>;

/** A model call that is under way, or has just ended. */
export interface ChatCall {
  readonly span: Span;
  readonly started: Date;
  /** The model that was asked, as far as it is known before the answer. */
  readonly model: string | undefined;
  readonly profile: string;
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

  /** The profile of the call under way. */
  get chat(): ChatCall | undefined {
    return this.#chat;
  }

  /**
   * Begins a model call at the window it is made with.
   *
   * @returns the call before it, where that had an answer and nobody told its usage
   */
  composed(event: Composed, model: string | undefined, about: Attributes, time: Date): EndedCall | undefined {
    const before = this.#supersede(time);
    const { report, call, messages } = event;
    const name = model === undefined ? operation.chat : `${operation.chat} ${model}`;
    const attributes = {
      ...this.#base,
      ...about,
      [attribute.call]: call,
      [attribute.windowTokens]: report.tokens,
      [attribute.windowBudget]: report.budget,
      [attribute.windowMessages]: messages,
      [attribute.epoch]: report.epoch,
      [attribute.strategy]: report.strategy,
    };
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, startTime: time }, context.active());
    span.addEvent("windrow.compose", composeAttributes(report), time);
    if (report.opened) span.addEvent("windrow.epoch", epochAttributes(report), time);
    this.#chat = { span, started: time, model, profile: report.profile };
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
    if (chat.model === undefined && model !== undefined) chat.span.updateName(`${operation.chat} ${model}`);
    return this.#end(chat, time);
  }

  /** Begins the run of a tool. Its parent is the active span, or else the model call that asked for it. */
  toolStarted(callId: string, toolName: string, time: Date): void {
    this.answered(time);
    this.#tools.get(callId)?.end(time);
    const attributes = {
      ...this.#base,
      [attribute.operation]: operation.tool,
      [attribute.toolName]: toolName,
      [attribute.toolCallId]: callId,
      [attribute.toolType]: "function",
    };
    const options = { kind: SpanKind.INTERNAL, attributes, startTime: time };
    this.#tools.set(callId, this.#tracer.startSpan(`${operation.tool} ${toolName}`, options, this.#parent()));
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
    chat.span.setAttribute(attribute.isSuperseded, true);
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
  span.setAttribute(attribute.errorType, errorType);
  span.setStatus({ code: SpanStatusCode.ERROR, message: errorType });
}

function composeAttributes({ tokens, budget, epoch, cost, windowHash, counts }: Report): Attributes {
  return {
    [attribute.windowTokens]: tokens,
    [attribute.windowBudget]: budget,
    [attribute.windowCached]: cost.cached,
    [attribute.windowHash]: windowHash,
    [attribute.epoch]: epoch,
    [attribute.kept]: counts.kept,
    [attribute.stubbed]: counts.stubbed,
    [attribute.replaced]: counts.replaced,
    [attribute.dropped]: counts.dropped,
  };
}

function epochAttributes({ epoch, opened }: Report): Attributes {
  return {
    [attribute.epoch]: epoch,
    ...(opened && {
      [attribute.epochReason]: opened.reason,
      [attribute.tokensBefore]: opened.tokensBefore,
      [attribute.tokensAfter]: opened.tokensAfter,
      [attribute.edits]: opened.edits.length,
    }),
  };
}
