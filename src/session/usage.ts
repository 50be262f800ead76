/** Usage of model calls: predicted and actual costs, and how counts compare with what a provider reports. */
import type { JsonObject, JsonValue, Usage } from "../message/message.ts";
import type { UsageRecord, UsedWindow } from "../message/record.ts";
import { priceOf } from "../tokens/models.ts";
import { correct, countFor, initialCalibration, observe } from "../tokens/calibrate.ts";
import type { CalibrationState, CorrectedCount } from "../tokens/calibrate.ts";
import { hashName } from "../message/hash.ts";
import { hashMessages } from "../window/hash.ts";
import { givenTail } from "../window/pinned.ts";
import type { Profile } from "../window/provider/profile.ts";
import type { Composed } from "../window/window.ts";

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
    const { epoch, cost, windowHash, blocks } = report;
    const before = givenTail(messages) && hashName(hashMessages(messages, 0, 0, messages.length - 1));
    const tail = before === undefined ? {} : { tail: { tokens: blocks.dynamic, before } };
    const window = { epoch, last, tokens, cached: cost.cached, hash: windowHash, ...tail };
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
    const { calls, predicted } = this.#cost;
    this.#cost = {
      calls: calls + 1,
      predicted: predicted + last.equivalents,
      actual: Math.round(this.#cost.actual + actual),
    };
    return undefined;
  }

  /** Calibrates by usages that an earlier process recorded behind its newest epoch; their costs are that process's. */
  resumed(records: readonly Pick<UsageRecord, "usage" | "window">[]): void {
    for (const { usage, window } of records) if (window) this.#observe(window, usage);
  }

  #observe({ tokens }: UsedWindow, { input }: Usage): string | undefined {
    if (input === undefined) return undefined;
    const contextWindow = this.#contextWindow;
    const { state, warning } = observe(this.#calibration, {
      estimated: tokens,
      reported: input,
      ...(contextWindow !== undefined && { contextWindow }),
    });
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

  /** Restores the calibration from an epoch record. */
  restore(data: JsonValue): void {
    const told = data as Partial<CalibrationState> | null;
    if (told?.version === 1) this.#calibration = { ...initialCalibration, ...told };
  }
}
