/** The figures of a monitor for Prometheus: `GET /metrics` on this machine. */
import { serveHttp } from "../../http/http.ts";
import type { Gauge as GaugeMetric } from "prom-client";
import { withPackage } from "../../peer.ts";
import type { Alert } from "./alerts.ts";
import type { Health, Work } from "./metrics.ts";
import type { MonitorScan } from "./monitor.ts";
import type { Used } from "./used.ts";

/** The address at which the metrics are served. */
export interface MetricsServerOptions {
  /** 0 for any that is free. */
  readonly port: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Host names by which a scraper may call beside those of this machine. */
  readonly allowedHosts?: readonly string[];
  /** Hears what went wrong with a request. */
  readonly onError?: (error: Error) => void;
}

/** A server of metrics. */
export interface MetricsServer {
  /** `http://127.0.0.1:9464/metrics` */
  readonly url: string;
  /** Takes the figures of the newest scan. */
  update(health: Health, alerts: readonly Alert[], scan?: MonitorScan): void;
  /** Takes the tokens of the stored sessions, which take longer to read. */
  updateUsed(used: Used): void;
  close(): Promise<void>;
}

const alertNames: readonly Alert["name"][] = ["disk", "failures", "stuck", "long-running"];
const alertLevels: readonly Alert["level"][] = ["warning", "critical"];

/**
 * Serves metrics, on 127.0.0.1 unless another address is named.
 *
 * @throws WindrowError `store-unavailable` where the port cannot be had; `package-missing` without prom-client
 */
export async function serveMetrics(options: MetricsServerOptions): Promise<MetricsServer> {
  const { Counter, Gauge, Registry } = await withPackage("prom-client", "Serving metrics", () => import("prom-client"));
  const registry = new Registry();
  const gauge = (name: string, labels: readonly string[], help: string): GaugeMetric =>
    new Gauge({ name: `windrow_${name}`, help, labelNames: [...labels], registers: [registry] });
  const sessions = gauge("sessions", ["status"], "Sessions, by status.");
  const running = gauge("sessions_running", [], "Sessions that have neither ended nor been put to rest.");
  const long = gauge("sessions_long_running", [], "Sessions that run longer than is usual.");
  const disk = gauge("disk_bytes", ["folder"], "Bytes of sessions, by folder.");
  const failed = gauge("sessions_failed_ratio", [], "Failed sessions, of those that ended.");
  const duration = gauge("session_duration_seconds", [], "Average time from start to end of ended sessions.");
  const work = {
    windowTokens: gauge("stored_window_tokens", ["status"], "Tokens of the newest windows, by their sessions' status."),
    modelCalls: gauge("stored_model_calls", ["status"], "Model calls of the stored sessions, by status."),
    toolCalls: gauge("stored_tool_calls", ["status"], "Tool runs of the stored sessions, by status."),
    epochs: gauge("stored_epochs", ["status"], "Epochs of the stored sessions, by status."),
    summaries: gauge("stored_summaries", ["status"], "Summaries in the stored sessions, by status."),
  };
  const tokensHelp = "Tokens that the stored sessions used, by model and type; input includes cached and cache_write.";
  const tokens = gauge("stored_tokens", ["model", "type"], tokensHelp);
  const costHelp = "List price of the stored sessions' calls, where it is known, by model.";
  const cost = gauge("stored_cost_dollars", ["model"], costHelp);
  const unpriced = gauge("stored_unpriced_calls", [], "Calls of the stored sessions whose model has no known price.");
  const alerts = gauge("alert", ["name", "level"], "1 where a limit is exceeded.");
  const scanned = gauge("monitor_scan_timestamp_seconds", [], "When the monitor looked last.");
  const ended = new Counter({
    name: "windrow_monitor_ended_total",
    help: "Sessions that this monitor ended, by what became of them.",
    labelNames: ["outcome"],
    registers: [registry],
  });

  const server = await serveHttp({
    ...options,
    methods: ["GET", "HEAD"],
    async handle({ request, response, url }) {
      if (url.pathname !== "/metrics") {
        response.writeHead(404).end("Only /metrics is here.\n");
        return;
      }
      const text = await registry.metrics();
      const headers = { "content-type": registry.contentType, "content-length": Buffer.byteLength(text) };
      response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : text);
    },
  });
  return {
    url: `${server.url}/metrics`,
    update(health, active, scan) {
      fill(sessions, "status", health.byStatus);
      running.set(health.running);
      long.set(health.longRunning);
      fill(disk, "folder", health.disk ?? {});
      for (const [name, metric] of Object.entries(work)) {
        const sums = Object.entries(health.work).map(([status, sum]) => [status, sum[name as keyof Work]] as const);
        fill(metric, "status", Object.fromEntries(sums));
      }
      failed.set(health.failedShare ?? Number.NaN);
      duration.set((health.averageDurationMs ?? Number.NaN) / 1_000);
      for (const name of alertNames) for (const level of alertLevels) alerts.set({ name, level }, 0);
      for (const { name, level } of active) alerts.set({ name, level }, 1);
      ended.inc({ outcome: "failed" }, scan?.failed ?? 0);
      ended.inc({ outcome: "timeout" }, scan?.timedOut ?? 0);
      scanned.set(Date.parse(health.time) / 1_000);
    },
    updateUsed({ models, unpriced: calls }) {
      tokens.reset();
      cost.reset();
      for (const { model, dollars, input, output, cacheRead, cacheWrite } of models) {
        for (const [type, count] of Object.entries({ input, output, cached: cacheRead, cache_write: cacheWrite })) {
          tokens.set({ model, type }, count);
        }
        if (dollars !== null) cost.set({ model }, dollars);
      }
      unpriced.set(calls);
    },
    close: () => server.close(),
  };
}

/** Sets a metric for each name of a record; names that are gone leave it. */
function fill(metric: GaugeMetric, label: string, values: Readonly<Record<string, number>>): void {
  metric.reset();
  for (const [name, value] of Object.entries(values)) metric.set({ [label]: name }, value);
}
