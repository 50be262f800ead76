/** A real OpenTelemetry SDK in memory, and sessions that it observes. */
import { AsyncLocalStorage } from "node:async_hooks";
import { ROOT_CONTEXT, context } from "@opentelemetry/api";
import type { Attributes, Context, ContextManager } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";

/** A point of a metric: a counter's sum, or the count and sum of a histogram. */
export interface Point {
  readonly attributes: Attributes;
  readonly value: number;
  readonly count?: number;
}

/** Providers whose spans and measurements a test reads. */
export interface Sdk {
  readonly tracerProvider: BasicTracerProvider;
  readonly meterProvider: MeterProvider;
  /** The spans that ended, in the order of their ends. */
  spans(): readonly ReadableSpan[];
  /** The points of a metric so far. */
  points(name: string): Promise<readonly Point[]>;
  /** The sum of a metric's points with these attributes. */
  sum(name: string, attributes?: Attributes): Promise<number>;
  /** The names of all metrics that have a point. */
  names(): Promise<readonly string[]>;
}

/** Makes an SDK. */
export function sdk(): Sdk {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 1e9 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const newest = async (): Promise<readonly { readonly name: string; readonly points: readonly Point[] }[]> => {
    await meterProvider.forceFlush();
    const scopes = measured.getMetrics().at(-1)?.scopeMetrics ?? [];
    return scopes.flatMap(({ metrics }) =>
      metrics.map(({ descriptor, dataPoints }) => ({
        name: descriptor.name,
        points: dataPoints.map(({ attributes, value }) =>
          typeof value === "number"
            ? { attributes, value }
            : { attributes, value: "sum" in value ? (value.sum ?? 0) : 0, count: value.count },
        ),
      })),
    );
  };
  const points = async (name: string): Promise<readonly Point[]> =>
    (await newest()).filter((metric) => metric.name === name).flatMap((metric) => metric.points);
  return {
    tracerProvider,
    meterProvider,
    spans: () => exporter.getFinishedSpans(),
    points,
    names: async () => (await newest()).map(({ name }) => name),
    async sum(name, attributes = {}) {
      const found = (await points(name)).filter((point) =>
        Object.entries(attributes).every(([key, value]) => point.attributes[key] === value),
      );
      return found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

/** Keeps the active context across awaits, as the context manager of OpenTelemetry for Node does. */
export function useContexts(): void {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...values) => storage.run(active, () => work.apply(self, values)),
    bind: (active, target) =>
      typeof target === "function"
        ? (((...values: unknown[]) => storage.run(active, () => target(...values))) as typeof target)
        : target,
    enable: () => manager,
    disable: () => manager,
  };
  context.setGlobalContextManager(manager);
}
