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
export interface AlertEvent extends Alert {
  readonly type: "alert-raised" | "alert-cleared";
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
  const { disk, failedShare, running, longRunning, longest } = health;
  const bytes = disk ? disk.running + disk.completed : 0;
  const isCritical = bytes > limits.diskCritical;
  const most = isCritical ? limits.diskCritical : limits.diskWarning;
  const sizes = disk ? `running ${gigabytes(disk.running)}, completed ${gigabytes(disk.completed)}` : "";
  const some = longest.slice(0, 3).map((id) => id.slice(0, 8));
  const ids = `${some.join(", ")}${longRunning > some.length ? " …" : ""}`;
  const alert = (name: AlertName, value: number, limit: number, message: string): Alert => {
    return { name, level: name === "disk" && isCritical ? "critical" : "warning", value, limit, message };
  };
  const diskMessage =
    `Sessions take ${gigabytes(bytes)} (${sizes}), more than ${gigabytes(most)}. Compress or delete old ones with ` +
    "`windrow cleanup`.";
  const failedMessage =
    `${percent(failedShare ?? 0)} of the ended sessions failed, more than ${percent(limits.failedShare)}. ` +
    "`windrow stats --status failed` counts them, `windrow logs --level ERROR` says why.";
  const stuckMessage =
    `${running} sessions have not ended, more than ${limits.stuck}. \`windrow top\` shows them; \`windrow finish\` ends ` +
    "one, and `windrow cleanup` puts to rest what was closed long ago.";
  const longMessage = `${longRunning} ${longRunning === 1 ? "session runs" : "sessions run"} long: ${ids}.`;
  return [
    alert("disk", bytes, most, diskMessage),
    alert("failures", failedShare ?? 0, limits.failedShare, failedMessage),
    alert("stuck", running, limits.stuck, stuckMessage),
    alert("long-running", longRunning, limits.longRunning, longMessage),
  ].filter(({ value, limit }) => value > limit);
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
