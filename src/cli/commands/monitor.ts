/** `windrow monitor`: ends the sessions whose process died or whose time is up. */
import type { Command } from "commander";
import { alertsOf, AlertWatch } from "../../ops/monitor/alerts.ts";
import type { Alert, AlertEvent, AlertLimits } from "../../ops/monitor/alerts.ts";
import { logEntries, logTo } from "../../ops/logs/logs.ts";
import { defaultMonitorInterval, monitor } from "../../ops/monitor/monitor.ts";
import { measureHealth } from "../../ops/monitor/metrics.ts";
import type { MonitorEvent } from "../../ops/monitor/monitor.ts";
import type { Scope, Store } from "../../store/store.ts";
import { exitStatus } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { intervalOf, numberOf, secondsOf } from "../values.ts";

/** The environment variable that sets the interval, in seconds; `--interval` goes before it. */
export const intervalVariable = "WINDROW_MONITOR_INTERVAL";

interface MonitorFlags {
  readonly store: string;
  readonly once?: boolean;
  readonly alerts: boolean;
  readonly diskWarning?: string;
  readonly diskCritical?: string;
  readonly failures?: string;
  readonly stuck?: string;
  readonly long?: string;
  readonly interval?: string;
  readonly timeout?: string;
  readonly stale?: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addMonitor(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Looks at every session that is not finished. One whose process died becomes `failed`, one that ran\n" +
        "longer than its config's task_timeout (seconds) becomes `timeout`; both move to completed/. A session\n" +
        "that was closed to be resumed later, and one that a live process writes, is left alone. Any\n" +
        "number of monitors may run at once.\n" +
        "Then it looks at limits: disk, failed sessions, how many run and for how long. What is over one is told in\n" +
        "the log, and with --once by status 1.",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--once", "look once and end")
    .option(
      "--interval <seconds>",
      `seconds between two looks (default: ${intervalVariable}, else ${defaultMonitorInterval})`,
    )
    .option("--timeout <seconds>", "for sessions that set no task_timeout (default: none)")
    .option("--stale <seconds>", "how long a dead process must have been silent (default: 60)")
    .option("--tenant <name>", "the tenant whose sessions are looked at (default: those of none)")
    .option("--disk-warning <GB>", "warn of more on disk (default: 10)")
    .option("--disk-critical <GB>", "critical from there on (default: 50)")
    .option("--failures <percent>", "warn where more of the ended sessions failed (default: 10)")
    .option("--stuck <n>", "warn where more sessions have not ended (default: 100)")
    .option("--long <hours>", "warn of sessions that run this long (default: 6)")
    .option("--no-alerts", "only end sessions; look at no limits")
    .option("--json", "one JSON document on stdout; without --once one a line for each event")
    .addHelpText("after", "\nExamples:\n  windrow monitor\n  windrow monitor --once --disk-warning 20\n")
    .action(async (flags: MonitorFlags) => finish(await runMonitor(flags, io, signal)));
}

async function runMonitor(flags: MonitorFlags, io: CommandIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const interval = intervalOf("--interval", flags.interval) ?? intervalOf(intervalVariable, io.env[intervalVariable]);
  const staleAfter = secondsOf("--stale", flags.stale);
  const taskTimeout = secondsOf("--timeout", flags.timeout);
  const limits = limitsOf(flags);
  const hours = numberOf("--long", "hours", flags.long);
  const scope: Scope = flags.tenant === undefined ? {} : { tenant: flags.tenant };
  const events: object[] = [];
  const log = logTo((line) => io.stdout.write(`${line}\n`));
  const onEvent = (event: MonitorEvent | AlertEvent): void => {
    // What the log has is not told again on stderr.
    if (flags.json === true || logEntries(event, new Date(), "INFO").length === 0) io.log(event);
    if (flags.json !== true) return log(event);
    if (flags.once === true) events.push(plainEvent(event));
    else io.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), ...plainEvent(event) })}\n`);
  };
  const watch = new AlertWatch();
  let alerts: readonly Alert[] = [];
  let store: Store | undefined;
  try {
    const opened = (store = await io.openStore(flags.store, { create: flags.once !== true }));
    const last = await monitor(opened, {
      scope,
      onEvent,
      once: flags.once === true,
      afterScan: async () => {
        if (!flags.alerts) return;
        const longRunning = hours === undefined ? {} : { longRunning: 3_600_000 * hours };
        alerts = alertsOf(await measureHealth(opened, { scope, ...longRunning }), limits);
        watch.update(alerts).forEach(onEvent);
      },
      ...(interval !== undefined && { interval }),
      ...(staleAfter !== undefined && { staleAfter }),
      ...(taskTimeout !== undefined && { taskTimeout }),
      ...(signal && { signal }),
    });
    if (flags.once !== true) return exitStatus.done;
    const { looked, failed, timedOut, overdue, moved, errors } = last;
    const found = events.filter((event) => !("looked" in event || "limit" in event));
    if (flags.json) io.stdout.write(`${JSON.stringify({ ...last, alerts, events: found }, null, 2)}\n`);
    else {
      const told = `${failed} failed, ${timedOut} timed out, ${overdue} overdue, ${moved} moved, `;
      io.stdout.write(`${looked} not finished: ${told}${errors} unreadable\n`);
    }
    return errors === 0 && alerts.length === 0 ? exitStatus.done : exitStatus.failed;
  } finally {
    await store?.close();
  }
}

/** An error says its message in JSON, and nothing else of it is for reading. */
function plainEvent(event: MonitorEvent | AlertEvent): object {
  if (event.type !== "monitor-failed") return event;
  return { ...event, error: event.error.message };
}

function limitsOf(flags: MonitorFlags): AlertLimits {
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
