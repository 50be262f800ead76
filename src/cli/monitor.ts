/** `windrow monitor`: ends the sessions whose process died or whose time is up. */
import type { Command } from "commander";
import { WindrowError } from "../errors.ts";
import { logTo } from "../ops/logs.ts";
import { defaultMonitorInterval, monitor } from "../ops/monitor.ts";
import type { MonitorEvent } from "../ops/monitor.ts";
import { openStore } from "../store/open.ts";
import type { Scope } from "../store/store.ts";
import { exitStatus } from "./command.ts";
import type { CliIo, ExitStatus } from "./command.ts";

/** The environment variable that sets the interval, in seconds; `--interval` goes before it. */
export const intervalVariable = "WINDROW_MONITOR_INTERVAL";

interface MonitorFlags {
  readonly store: string;
  readonly once?: boolean;
  readonly interval?: string;
  readonly timeout?: string;
  readonly stale?: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

/** Adds the command to a program. */
export function addMonitor(
  program: Command,
  io: CliIo,
  finish: (status: ExitStatus) => void,
  signal?: AbortSignal,
): void {
  program
    .command("monitor")
    .summary("end sessions whose process died or whose time is up")
    .description(
      "Looks at every session that is not finished. One whose process died becomes `failed`, one that ran\n" +
        "longer than its config's task_timeout (seconds) becomes `timeout`; both move to completed/. A session\n" +
        "that was closed to be resumed later, and one that a live process writes, is left alone. Any number\n" +
        "of monitors may run at once.",
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
    .option("--json", "one JSON document on stdout; without --once one a line for each event")
    .action(async (flags: MonitorFlags) => finish(await runMonitor(flags, io, signal)));
}

async function runMonitor(flags: MonitorFlags, io: CliIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const interval = secondsOf("--interval", flags.interval) ?? secondsOf(intervalVariable, io.env[intervalVariable]);
  const staleAfter = secondsOf("--stale", flags.stale);
  const taskTimeout = secondsOf("--timeout", flags.timeout);
  const scope: Scope = flags.tenant === undefined ? {} : { tenant: flags.tenant };
  const events: object[] = [];
  const log = logTo((line) => io.stdout.write(`${line}\n`));
  const onEvent = (event: MonitorEvent): void => {
    if (flags.json !== true) return log(event);
    if (flags.once === true) events.push(plainEvent(event));
    else io.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), ...plainEvent(event) })}\n`);
  };
  const store = await openStore(flags.store);
  try {
    const last = await monitor(store, {
      scope,
      onEvent,
      once: flags.once === true,
      ...(interval !== undefined && { interval }),
      ...(staleAfter !== undefined && { staleAfter }),
      ...(taskTimeout !== undefined && { taskTimeout }),
      ...(signal && { signal }),
    });
    if (flags.once !== true) return exitStatus.done;
    const { looked, failed, timedOut, overdue, moved, errors } = last;
    const found = events.filter((event) => !("looked" in event));
    if (flags.json) io.stdout.write(`${JSON.stringify({ ...last, events: found }, null, 2)}\n`);
    else {
      const told = `${failed} failed, ${timedOut} timed out, ${overdue} overdue, ${moved} moved, ${errors} unreadable`;
      io.stdout.write(`${looked} not finished: ${told}\n`);
    }
    return errors === 0 ? exitStatus.done : exitStatus.failed;
  } finally {
    await store.close();
  }
}

/** Seconds as written, in milliseconds. */
function secondsOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const seconds = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && Number.isFinite(seconds)) return 1_000 * seconds;
  const message = `${name} is a number of seconds from 0, for example 300, not "${text}".`;
  throw new WindrowError("bad-option", message, { name, value: text });
}

/** An error says its message in JSON, and nothing else of it is for reading. */
function plainEvent(event: MonitorEvent): object {
  if (event.type !== "monitor-failed") return event;
  return { ...event, error: event.error.message };
}
