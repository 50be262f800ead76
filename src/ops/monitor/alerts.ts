/** Alerts: the limits that a store is over, each reported once. docs/operations.md describes them. */
import type { Health } from "./metrics.ts";

/** The subject of an alert. */
export type AlertName = "disk" | "failures" | "stuck" | "long-running";

/** A limit that a store is over. */
export interface Alert {
  readonly name: AlertName;
  readonly level: "warning" | "critical";
  /** Bytes, a share from 0 to 1, or a number of sessions. */
  readonly value: number;
  readonly limit: number;
  /** The problem and what to do, for people. */
  readonly message: string;
}

/** From where on there is an alert; a value at its limit is none. */
export interface AlertLimits {
  /** Bytes of all sessions. Default 10 GB. */
  readonly diskWarning?: number;
  /** Bytes of all sessions. Default 50 GB. */
  readonly diskCritical?: number;
  /** Share of failed sessions among those that ended. Default 0.1. */
  readonly failedShare?: number;
  /** Sessions that have neither ended nor been put to rest. Default 100. */
  readonly stuck?: number;
  /** Sessions that run long. Default 0. */
  readonly longRunning?: number;
}

/** An alert that began, changed its level, or is over. */
export interface AlertEvent {
  readonly type: "alert-raised" | "alert-cleared";
  readonly name: AlertName;
  readonly level: Alert["level"];
  readonly value: number;
  readonly limit: number;
  readonly message: string;
}

/** The limits of alerts where none is given. */
export const defaultLimits: Required<AlertLimits> = {
  diskWarning: 10e9,
  diskCritical: 50e9,
  failedShare: 0.1,
  stuck: 100,
  longRunning: 0,
};

/** The limits that a store is over. */
export function alertsOf(health: Health, given: AlertLimits = {}): readonly Alert[] {
  const limits = { ...defaultLimits, ...given };
  const alerts: Alert[] = [];
  const bytes = health.disk ? health.disk.running + health.disk.completed : 0;
  const [level, limit] =
    bytes > limits.diskCritical
      ? (["critical", limits.diskCritical] as const)
      : (["warning", limits.diskWarning] as const);
  if (health.disk && bytes > limit) {
    const { running, completed } = health.disk;
    const message =
      `Sessions take ${gigabytes(bytes)} (running ${gigabytes(running)}, completed ${gigabytes(completed)}), more than ` +
      `${gigabytes(limit)}. Compress or delete old ones with \`windrow cleanup\`.`;
    alerts.push({ name: "disk", level, value: bytes, limit, message });
  }
  const { failedShare, running, longRunning, longest } = health;
  if (failedShare !== null && failedShare > limits.failedShare) {
    const message =
      `${percent(failedShare)} of the ended sessions failed, more than ${percent(limits.failedShare)}. ` +
      "`windrow stats --status failed` counts them, `windrow logs --level ERROR` says why.";
    alerts.push({ name: "failures", level: "warning", value: failedShare, limit: limits.failedShare, message });
  }
  if (running > limits.stuck) {
    const message =
      `${running} sessions have not ended, more than ${limits.stuck}. \`windrow top\` shows them; \`windrow finish\` ends ` +
      "one, and `windrow cleanup` puts to rest what was closed long ago.";
    alerts.push({ name: "stuck", level: "warning", value: running, limit: limits.stuck, message });
  }
  if (longRunning > limits.longRunning) {
    const some = longest.slice(0, 3).map((id) => id.slice(0, 8));
    const ids = `${some.join(", ")}${longRunning > some.length ? " …" : ""}`;
    const message = `${longRunning} ${longRunning === 1 ? "session runs" : "sessions run"} long: ${ids}.`;
    alerts.push({ name: "long-running", level: "warning", value: longRunning, limit: limits.longRunning, message });
  }
  return alerts;
}

/** Remembers which alerts there are, so that each is told when it begins, changes its level, and is over. */
export class AlertWatch {
  #last: readonly Alert[] = [];

  /** The alerts that began or ended since the last call. */
  update(alerts: readonly Alert[]): readonly AlertEvent[] {
    const before = this.#last;
    this.#last = alerts;
    const raised = alerts.filter(({ name, level }) => !before.some((old) => old.name === name && old.level === level));
    const cleared = before.filter(({ name }) => !alerts.some((alert) => alert.name === name));
    return [
      ...raised.map((alert): AlertEvent => ({ type: "alert-raised", ...alert })),
      ...cleared.map((alert): AlertEvent => ({ type: "alert-cleared", ...alert })),
    ];
  }
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

function percent(share: number): string {
  return `${Math.round(1_000 * share) / 10} %`;
}
