/**
 * Spans and metrics of sessions for OpenTelemetry: a listener of events, by the conventions for generative AI where they
 * have a name. It needs the package `@opentelemetry/api`, which importing `windrow` does not load. No attribute holds text
 * of a message; docs/telemetry.md lists them all.
 */
import { metrics, trace } from "@opentelemetry/api";
import type { Attributes, MeterProvider, TracerProvider } from "@opentelemetry/api";
import { inform } from "../handed-in.ts";
import type { Listener } from "../session/events.ts";
import type { ModelPrices } from "../tokens/models.ts";
import { packageVersion } from "../version.ts";
import { checkGiven, kinds, withActions } from "../window/options.ts";
import type { Kind } from "../window/options.ts";
import { instrumentsOf } from "./instruments.ts";
import { Observer } from "./observer.ts";

export type { ModelPrices };

/** Options of {@link telemetry}. */
export interface TelemetryOptions {
  /** Makes the spans. Default: the global provider, which makes none until an SDK is registered. */
  readonly tracerProvider?: TracerProvider;
  /** Takes the measurements. Default: the global provider, which drops them until an SDK is registered. */
  readonly meterProvider?: MeterProvider;
  /** The model that is asked, for managers that name none. Default: the one that `endStep` is told. */
  readonly model?: string;
  /** `gen_ai.provider.name`. Default: by the model, else by the profile: `anthropic`, `openai`, `gcp.gemini` … */
  readonly provider?: string;
  /** Prices by the id of a model, in US dollars a million tokens; they go before the table's. */
  readonly prices?: Readonly<Record<string, ModelPrices>>;
  /** Attributes of every span and measurement, such as `gen_ai.agent.name`. Few distinct values: each makes a series. */
  readonly attributes?: Attributes;
  /** Hears every event first: a manager has one listener. If it throws, the process warns once. */
  readonly on?: Listener;
  /** The clock of spans and durations. Default: the system's. */
  readonly now?: () => Date;
}

const optionKinds = {
  tracerProvider: withActions("getTracer"),
  meterProvider: withActions("getMeter"),
  model: kinds.text,
  provider: kinds.text,
  prices: kinds.object,
  attributes: kinds.object,
  on: kinds.action,
  now: kinds.action,
} as const satisfies Record<keyof TelemetryOptions, Kind>;

/**
 * A listener that turns events into spans and metrics: `SessionManager.open({ on: telemetry() })`. One of them may serve
 * any number of managers and sessions at once. It never breaks a session, whatever its exporters do.
 *
 * @throws WindrowError `bad-option`
 */
export function telemetry(options: TelemetryOptions = {}): Listener {
  checkGiven("telemetry", options, optionKinds);
  const { tracerProvider = trace.getTracerProvider(), meterProvider = metrics.getMeterProvider(), on } = options;
  const version = packageVersion();
  const tracer = tracerProvider.getTracer("windrow", version);
  const instruments = instrumentsOf(meterProvider.getMeter("windrow", version));
  const observer = new Observer(tracer, instruments, options);
  return (event) => {
    inform(on, event, `the session event ${event.type}`);
    observer.hear(event);
  };
}
