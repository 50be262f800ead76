/** The work of `windrow monitor` after each scan: alerts go to the log and a webhook, figures to Prometheus. */
import { WindrowError } from "../../errors.ts";
import { AlertWatch, alertsOf } from "../../ops/monitor/alerts.ts";
import type { Alert, AlertEvent, AlertLimits } from "../../ops/monitor/alerts.ts";
import type { MetricsServer } from "../../ops/monitor/metrics-server.ts";
import { measureHealth } from "../../ops/monitor/metrics.ts";
import { UsedTokens } from "../../ops/monitor/used.ts";
import type { MonitorScan } from "../../ops/monitor/monitor.ts";
import { Webhook } from "../../ops/monitor/webhook.ts";
import type { Scope, Store } from "../../store/store.ts";
import type { CommandIo } from "../command.ts";
import { numberOf, portOf } from "../values.ts";

/** The environment variable that names the webhook; `--webhook` goes before it. */
export const webhookVariable = "WINDROW_MONITOR_WEBHOOK";

/** The events that the watch reports. */
export type WatchEvent = AlertEvent | { readonly type: "webhook-failed"; readonly error: string };

/** Looks at limits after each scan. */
export interface Watch {
  /** The alerts there were at the last look. */
  readonly alerts: readonly Alert[];
  look(store: Store, scan: MonitorScan): Promise<void>;
  close(): Promise<void>;
}

/** The flags, as they are written. */
export interface WatchFlags {
  readonly once?: boolean;
  readonly alerts: boolean;
  readonly diskWarning?: string;
  readonly diskCritical?: string;
  readonly failures?: string;
  readonly stuck?: string;
  readonly long?: string;
  readonly webhook?: string;
  readonly metrics?: string;
  readonly host?: string;
  readonly allowHost?: readonly string[];
}

/** The watch that the flags ask for; undefined with `--no-alerts`. */
export async function watchOf(
  flags: WatchFlags,
  io: CommandIo,
  scope: Scope,
  tell: (event: WatchEvent) => void,
  signal: AbortSignal | undefined,
): Promise<Watch | undefined> {
  const limits = limitsOf(flags);
  const hours = numberOf("--long", "hours", flags.long);
  const url = flags.webhook ?? (io.env[webhookVariable] || undefined);
  const port = flags.metrics === undefined ? undefined : portOf("--metrics", flags.metrics);
  if (port !== undefined && flags.once) {
    throw new WindrowError("bad-option", "--metrics goes without --once: nothing would be there to ask.", { port });
  }
  if (port === undefined && (flags.host !== undefined || flags.allowHost)) {
    const option = flags.host === undefined ? "--allow-host" : "--host";
    throw new WindrowError("bad-option", `${option} is about --metrics; name its port.`, { option });
  }
  if (!flags.alerts) {
    const other = flags.webhook !== undefined ? "--webhook" : port !== undefined ? "--metrics" : undefined;
    if (other === undefined) return undefined;
    throw new WindrowError(
      "bad-option",
      `${other} tells of limits, and --no-alerts looks at none; leave one of them out.`,
    );
  }
  const webhook = url === undefined ? undefined : new Webhook({ url });
  const watch = new AlertWatch();
  const server = port === undefined ? undefined : await serverOf(port, flags, io);
  if (server) io.stderr.write(`windrow: metrics on ${server.url}\n`);
  const used = server && { server, tokens: new UsedTokens() };
  let alerts: readonly Alert[] = [];
  return {
    get alerts() {
      return alerts;
    },
    async look(store, scan) {
      const health = await measureHealth(store, {
        scope,
        ...(hours !== undefined && { longRunning: 3_600_000 * hours }),
      });
      alerts = alertsOf(health, limits);
      const events = watch.update(alerts);
      // The figures are there before anybody hears of them.
      server?.update(health, alerts, scan);
      events.forEach(tell);
      if (used) used.server.updateUsed(await used.tokens.measure(store, scope));
      const error = await webhook?.send(events, new Date(), signal);
      if (error !== undefined) tell({ type: "webhook-failed", error });
    },
    close: async () => server?.close(),
  };
}

async function serverOf(port: number, { host, allowHost }: WatchFlags, io: CommandIo): Promise<MetricsServer> {
  const { serveMetrics } = await import("../../ops/monitor/metrics-server.ts");
  return serveMetrics({
    port,
    ...(host !== undefined && { host }),
    ...(allowHost && { allowedHosts: allowHost }),
    onError: (error) => void io.stderr.write(`windrow: ${error.message}\n`),
  });
}

function limitsOf(flags: WatchFlags): AlertLimits {
  const warning = numberOf("--disk-warning", "GB", flags.diskWarning);
  const critical = numberOf("--disk-critical", "GB", flags.diskCritical);
  const failures = numberOf("--failures", "percent", flags.failures, 100);
  const stuck = numberOf("--stuck", "sessions", flags.stuck);
  return {
    ...(warning !== undefined && { diskWarning: 1e9 * warning }),
    ...(critical !== undefined && { diskCritical: 1e9 * critical }),
    ...(failures !== undefined && { failedShare: failures / 100 }),
    ...(stuck !== undefined && { stuck }),
  };
}
