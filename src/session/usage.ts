/** Usage of model calls: predicted and actual costs, and how counts compare with what a provider reports. */
import { WindrowError } from "../errors.ts";
import { foreignUsageHint } from "../message/foreign-usage.ts";
import { defined } from "../message/json.ts";
import type { JsonObject, JsonValue, Usage } from "../message/message.ts";
import type { UsageRecord, UsedWindow } from "../message/record.ts";
import { priceOf } from "../tokens/price.ts";
import { correct, countFor, initialCalibration, observe } from "../tokens/calibrate.ts";
import type { CalibrationState, CorrectedCount } from "../tokens/calibrate.ts";
import { hashName } from "../message/hash.ts";
import { hashMessages } from "../window/hash.ts";
import { givenTail } from "../window/pinned.ts";
import type { Profile } from "../window/provider/profile.ts";
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

/** Costs in equivalents of uncached input tokens, by the profile's cache prices, since this process opened the session. */
export interface CostTotals {
  /** Calls whose usage was reported. */
  readonly calls: number;
  readonly predicted: number;
  readonly actual: number;
}

/** Compares the windows of one session with the usage that the provider reports of them. */
export class UsageMeter {
  readonly #profile: Profile;
  readonly #contextWindow: number | undefined;
  #calibration: CalibrationState = initialCalibration;
  #last: { readonly window: UsedWindow; readonly equivalents: number } | undefined;
  #unanswered = 0;
  #cost: CostTotals = { calls: 0, predicted: 0, actual: 0 };

  constructor(profile: Profile, contextWindow?: number) {
    this.#profile = profile;
    this.#contextWindow = contextWindow;
  }

  /**
   * Notes the window that the next usage reports on.
   *
   * @param last - the newest message in it, by `seq`
   */
  composed({ messages, tokens, report }: Composed, last: number): void {
    const { epoch, cost, windowHash: hash, blocks } = report;
    const before = givenTail(messages) && hashName(hashMessages(messages, 0, 0, messages.length - 1));
    const tail = before === undefined ? undefined : { tokens: blocks.dynamic, before };
    const window = { epoch, last, tokens, cached: cost.cached, hash, ...defined({ tail }) };
    this.#last = { window, equivalents: cost.equivalents };
    this.#unanswered++;
  }

  /** Windows that were composed since the last usage. */
  get unanswered(): number {
    return this.#unanswered;
  }

  /** The window that the next usage reports on; undefined where none was composed since the last usage. */
  get window(): UsedWindow | undefined {
    return this.#last?.window;
  }

  /**
   * Notes the usage that a provider reported for the last window.
   *
   * @returns a warning where the figure cannot be true; it is ignored
   */
  used(usage: Usage): string | undefined {
    const last = this.#last;
    this.#last = undefined;
    this.#unanswered = 0;
    if (usage.input === undefined || !last) return undefined;
    const warning = this.#observe(last.window, usage);
    if (warning !== undefined) return warning;
    const { read, write } = this.#profile.cache;
    const actual = 1e6 * priceOf(usage, { input: 1, output: 0, cacheRead: read, cacheWrite: write });
    const { calls, predicted, actual: before } = this.#cost;
    const sums = { predicted: predicted + last.equivalents, actual: Math.round(before + actual) };
    this.#cost = { calls: calls + 1, ...sums };
    return undefined;
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

  /** The costs of all calls so far. */
  get cost(): CostTotals {
    return this.#cost;
  }

  /** The tokens a provider will report for a count, with the band they should stand in. */
  corrected(tokens: number): CorrectedCount {
    return correct(this.#calibration, tokens);
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
