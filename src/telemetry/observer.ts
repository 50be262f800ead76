/**
 * Turns the events of sessions into spans and measurements. Attributes have the names of OpenTelemetry's conventions for
 * generative AI, and `windrow.*` for what they have no name for. docs/telemetry.md has the tables.
 */
import type { Attributes, Tracer } from "@opentelemetry/api";
import { defined } from "../message/json.ts";
import type { Usage } from "../message/message.ts";
import type { SessionEvent } from "../session/events.ts";
import { findModel, priceOf } from "../tokens/models.ts";
import type { ModelPrices } from "../tokens/models.ts";
import type { Instruments } from "./instruments.ts";
import { SessionSpans } from "./session-spans.ts";
import type { EndedCall } from "./session-spans.ts";

/** The options of an observer; {@link TelemetryOptions} says what each is. */
export interface ObserverOptions {
  readonly model?: string;
  readonly provider?: string;
  readonly prices?: Readonly<Record<string, ModelPrices>>;
  readonly attributes?: Attributes;
  readonly now?: () => Date;
}

type Event<Type extends SessionEvent["type"]> = Extract<SessionEvent, { readonly type: Type }>;

/** A session that is open. */
interface Observed {
  readonly spans: SessionSpans;
  /** The epoch that was counted last; a commit with several summaries tells each of them. */
  counted: number;
  /** The model and the profile of the newest window. */
  model?: string | undefined;
  profile?: string;
}

/** Hears events, and keeps of each open session what is under way. */
export class Observer {
  readonly #tracer: Tracer;
  readonly #instruments: Instruments;
  readonly #options: ObserverOptions;
  readonly #attributes: Attributes;
  readonly #now: () => Date;
  readonly #sessions = new Map<string, Observed>();

  constructor(tracer: Tracer, instruments: Instruments, options: ObserverOptions) {
    this.#tracer = tracer;
    this.#instruments = instruments;
    this.#options = options;
    this.#attributes = options.attributes ?? {};
    this.#now = options.now ?? (() => new Date());
  }

  /** Takes an event. */
  hear(event: SessionEvent): void {
    const { messages, summaries, sessions, sessionsOpened, storeFailures } = this.#instruments;
    // A view beside the session that is written would be a second one of the same id.
    if (event.readOnly) return;
    const time = this.#now();
    switch (event.type) {
      case "session-opened":
        // A manager that lost its lock may have left spans open.
        this.#cut(event.sessionId, "session-resumed", time);
        return sessionsOpened.add(1, this.#with({ "windrow.session.resumed": event.resumed }));
      case "message-appended":
        if (event.role === "assistant") this.#of(event.sessionId).spans.answered(time);
        return messages.add(1, this.#with({ "windrow.message.role": event.role }));
      case "window-composed":
        return this.#composed(event, time);
      case "usage-recorded":
        return this.#used(event, time);
      case "tool-started":
        return this.#of(event.sessionId).spans.toolStarted(event.callId, event.toolName, time);
      case "tool-finished":
        return this.#toolFinished(event, time);
      case "epoch-opened":
        return this.#epoch(event.sessionId, event.report.epoch, event.report.opened?.reason ?? "first");
      case "epoch-undone":
        return this.#epoch(event.sessionId, event.epoch, "undo");
      case "summary-committed":
        this.#epoch(event.sessionId, event.epoch, "summary");
        return summaries.add(1, this.#with({ "windrow.summary.outcome": "committed" }));
      case "summary-failed":
        return summaries.add(1, this.#with({ "windrow.summary.outcome": "failed" }));
      case "append-failed": {
        const about = { "error.type": event.error.code };
        this.#sessions.get(event.sessionId)?.spans.note("windrow.append-failed", about, time);
        return storeFailures.add(1, this.#with(about));
      }
      case "session-closed":
        return this.#cut(event.sessionId, "session-closed", time);
      case "session-finished":
        this.#cut(event.sessionId, `session-${event.status}`, time);
        return sessions.add(1, this.#with({ "windrow.session.status": event.status }));
    }
  }

  #composed(event: Event<"window-composed">, time: Date): void {
    const { sessionId, report } = event;
    const session = this.#of(sessionId);
    session.model = this.#options.model ?? event.model;
    session.profile = report.profile;
    const about = this.#about(session, session.model);
    const before = session.spans.composed(event, session.model, about, time);
    if (before) this.#timed(session, before);
    this.#instruments.windowTokens.record(report.tokens, this.#with(about));
  }

  #used({ sessionId, purpose, usage, model }: Event<"usage-recorded">, time: Date): void {
    const session = this.#of(sessionId);
    const isTurn = purpose === "turn";
    const asked = isTurn ? (session.model ?? model) : model;
    const about = { ...this.#about(session, asked), "gen_ai.response.model": model };
    const cost = this.#measure(usage, model ?? asked, { ...about, "windrow.purpose": purpose });
    if (!isTurn) return;
    const attributes = { ...about, ...usageAttributes(usage), "windrow.cost": cost };
    const ended = session.spans.used(defined(attributes), model, time);
    if (ended) this.#timed(session, ended, about);
  }

  /** Measures a call's tokens and money, and answers the money where the model has a price. */
  #measure(usage: Usage, model: string | undefined, about: Attributes): number | undefined {
    const { tokenUsage, cacheReadTokens, cacheWriteTokens, cacheShare, cost } = this.#instruments;
    const { input, output, cacheRead, cacheWrite } = usage;
    const labels = this.#with(about);
    if (input !== undefined) tokenUsage.record(input, { ...labels, "gen_ai.token.type": "input" });
    if (output !== undefined) tokenUsage.record(output, { ...labels, "gen_ai.token.type": "output" });
    if (cacheRead !== undefined) cacheReadTokens.add(cacheRead, labels);
    if (cacheWrite !== undefined) cacheWriteTokens.add(cacheWrite, labels);
    const share = shareOf(usage);
    if (share !== undefined) cacheShare.record(share, labels);
    const prices = model === undefined ? undefined : (this.#options.prices?.[model] ?? findModel(model)?.prices);
    if (!prices || (input === undefined && output === undefined)) return undefined;
    const dollars = priceOf(usage, prices);
    cost.add(dollars, labels);
    return dollars;
  }

  #toolFinished(event: Event<"tool-finished">, time: Date): void {
    const { sessionId, callId, toolName, isError, durationMs } = event;
    this.#of(sessionId).spans.toolFinished(callId, isError, time);
    const about = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": toolName,
      "error.type": isError ? "tool-error" : undefined,
    };
    this.#instruments.toolDuration.record(durationMs / 1_000, this.#with(about));
  }

  #epoch(sessionId: string, epoch: number, reason: string): void {
    const session = this.#of(sessionId);
    if (session.counted === epoch) return;
    session.counted = epoch;
    this.#instruments.epochs.add(1, this.#with({ "windrow.epoch.reason": reason }));
  }

  #timed(session: Observed, call: EndedCall, about: Attributes = this.#about(session, call.model)): void {
    this.#instruments.operationDuration.record(call.seconds, this.#with(about));
  }

  /** Ends what is under way in a session, and forgets the session. */
  #cut(sessionId: string, errorType: string, time: Date): void {
    const session = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    const call = session?.spans.cut(errorType, time);
    if (!session || !call) return;
    const failed = call.answered ? {} : { "error.type": errorType };
    this.#timed(session, call, { ...this.#about(session, call.model), ...failed });
  }

  #of(sessionId: string): Observed {
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const base = this.#with({ "gen_ai.conversation.id": sessionId });
    const session = { spans: new SessionSpans(this.#tracer, base), counted: -1 };
    this.#sessions.set(sessionId, session);
    return session;
  }

  /** The attributes that spans and measurements of a model call share. */
  #about({ profile }: Observed, model: string | undefined): Attributes {
    return defined({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": this.#options.provider ?? providerOf(model, profile),
      "gen_ai.request.model": model,
    });
  }

  #with(attributes: Attributes): Attributes {
    return defined({ ...this.#attributes, ...attributes });
  }
}

function usageAttributes(usage: Usage): Attributes {
  return {
    "gen_ai.usage.input_tokens": usage.input,
    "gen_ai.usage.output_tokens": usage.output,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheRead,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWrite,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
    "windrow.cache.share": shareOf(usage),
  };
}

/** The share of the input that the cache served, 0 to 1; undefined where the provider did not say. */
function shareOf({ input, cacheRead }: Usage): number | undefined {
  if (!input || cacheRead === undefined) return undefined;
  return Math.min(1, cacheRead / input);
}

/** The conventions' names of providers, by the table of models and by the profiles of their APIs. */
const providers: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  deepseek: "deepseek",
  google: "gcp.gemini",
  gemini: "gcp.gemini",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  kimi: "moonshot_ai",
  xai: "x_ai",
};

/** The conventions' name of a model's provider: the table's, or that of the API its profile describes, else `openai`. */
function providerOf(model: string | undefined, profile: string | undefined): string {
  const known = model === undefined ? undefined : findModel(model)?.provider;
  if (known !== undefined) return providers[known] ?? known;
  return providers[profile?.split("/", 1)[0] ?? ""] ?? "openai";
}
