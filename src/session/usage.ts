/** Usage of model calls: what a step reports, and how counts compare with what a provider reports. */
import { WindrowError } from "../errors.ts";
import { foreignUsageHint } from "../message/foreign.ts";
import { defined } from "../message/json.ts";
import type { JsonObject, JsonValue, Usage } from "../message/message.ts";
import type { UsageRecord, UsedWindow } from "../message/record.ts";
import { correct, countFor, initialCalibration, observe } from "../tokens/calibrate.ts";
import type { CalibrationState, CorrectedCount } from "../tokens/calibrate.ts";
import { hashName } from "../message/hash.ts";
import { hashMessages } from "../window/hash.ts";
import { givenTail } from "../window/pinned.ts";
import { checkGiven, kinds, usageReport, whole } from "../window/options.ts";
import type { Kind } from "../window/options.ts";
import type { Composed } from "../window/window.ts";

/** The report of a model call that `endStep` takes. */
export interface StepUsed {
  /** The usage that the provider reported. Default: none. */
  readonly usage?: Usage;
  /** The model's id. */
  readonly model?: string;
  /** The provider's id of the answer, and that of its request, by which `windrow usage` knows a call that other files hold. */
  readonly answerId?: string;
  readonly requestId?: string;
  /** Tool calls of the answer that somebody else runs, so that `session.startTool` is called for none. Default 0. */
  readonly toolCalls?: number;
}

const stepKinds = {
  usage: usageReport,
  model: kinds.text,
  answerId: kinds.text,
  requestId: kinds.text,
  toolCalls: whole(0),
} as const satisfies Record<keyof StepUsed, Kind>;

/**
 * Checks the report of a model call.
 *
 * @throws WindrowError `bad-option`
 */
export function checkStep(used: StepUsed): void {
  const unwrapped = foreignUsageHint(used);
  if (unwrapped !== "") {
    throw new WindrowError("bad-option", `endStep takes { usage, model }.${unwrapped}`, { option: "usage" });
  }
  checkGiven("endStep", used, stepKinds);
}

/** The numbers of a window; a calibrated one was composed to another budget than the host's. */
export interface WindowNumbers {
  readonly tokens: number;
  readonly budget: number;
  /** Tokens that the budget left for its history. */
  readonly room: number;
}

/** Compares the windows of one session with the usage that the provider reports of them. */
export class UsageMeter {
  readonly #contextWindow: number | undefined;
  #calibration: CalibrationState = initialCalibration;
  /** The window that the next usage reports on; undefined where none was composed since the last usage. */
  window: UsedWindow | undefined;
  /** The numbers of the last window; undefined before the first. */
  numbers: WindowNumbers | undefined;
  /** Windows that were composed since the last usage. */
  unanswered = 0;

  constructor(contextWindow: number | undefined) {
    this.#contextWindow = contextWindow;
  }

  /**
   * Notes the window that the next usage reports on.
   *
   * @param budget - the host's
   * @param last - the newest message in it, by `seq`
   */
  composed({ messages, tokens, report }: Composed, budget: number, last: number): void {
    const { epoch, cost, windowHash: hash, blocks } = report;
    const before = givenTail(messages) && hashName(hashMessages(messages, 0, 0, messages.length - 1));
    const tail = before === undefined ? undefined : { tokens: blocks.dynamic, before };
    this.window = { epoch, last, tokens, cached: cost.cached, hash, ...defined({ tail }) };
    this.numbers = { tokens, budget, room: report.budget - (tokens - blocks.notes - blocks.history) };
    this.unanswered++;
  }

  /**
   * Notes the usage that a provider reported for the last window.
   *
   * @returns a warning where the figure cannot be true; it is ignored
   */
  used(usage: Usage): string | undefined {
    const window = this.window;
    this.window = undefined;
    this.unanswered = 0;
    return window && this.#observe(window, usage);
  }

  /**
   * Calibrates as an earlier process did: from its epoch record, and by the usages that were recorded behind it. Their
   * costs are that process's.
   */
  resumed(calibration: JsonValue | undefined, records: readonly Pick<UsageRecord, "usage" | "window">[]): void {
    const known = calibration as Partial<CalibrationState> | null | undefined;
    if (known?.version === 1) this.#calibration = { ...initialCalibration, ...known };
    for (const { usage, window } of records) if (window) this.#observe(window, usage);
  }

  #observe({ tokens }: UsedWindow, { input }: Usage): string | undefined {
    if (input === undefined) return undefined;
    const seen = { estimated: tokens, reported: input, ...defined({ contextWindow: this.#contextWindow }) };
    const { state, warning } = observe(this.#calibration, seen);
    this.#calibration = state;
    return warning;
  }

  /** The tokens a provider will report for the last window, with the band they should stand in. */
  get corrected(): CorrectedCount {
    return correct(this.#calibration, this.numbers?.tokens ?? 0);
  }

  /** The count a window may have so that the provider sees at most `budget` tokens. */
  countFor(budget: number): number {
    return Number.isFinite(budget) ? Math.max(1, countFor(this.#calibration, budget)) : budget;
  }

  /** The calibration as JSON, for an epoch record. */
  toJSON(): JsonObject {
    return { ...this.#calibration };
  }
}
