/** Which old tool results a provider is asked to clear, so that a request stays within its budget as the provider counts it. */
import type { JsonObject, Message, Usage } from "../../message/message.ts";
import { asCount } from "../../message/json.ts";
import { toolCalls, toolResults } from "../../message/message.ts";
import { correct, initialCalibration, observe } from "../../tokens/calibrate.ts";
import type { CalibrationState, CorrectedCount } from "../../tokens/calibrate.ts";
import { countOnce, countResultOnce, countTools } from "../../tokens/counter.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Answer } from "../../shape/shape.ts";
import type { Clearing, WireRequest } from "../gateway.ts";

/** The share of the budget that is left where results are cleared: each time the provider's cache is written anew behind it. */
const lowWater = 0.5;

/** Tokens of what the provider puts in the place of a result. */
const placeholder = 20;

/** A request as it is counted here. */
export interface Tally {
  /** Tokens of the client's own request. */
  readonly counted: number;
  /** Those of them that are cleared. */
  readonly saved: number;
  /** Tokens that the provider should count of what is left. */
  readonly left: number;
}

/** The question that goes with a request. */
export interface ClearingPlan {
  readonly tally: Tally;
  /** How many of the oldest results are cleared; 0 where the request fits as it is. */
  readonly cleared: number;
  readonly asked: Clearing;
}

/** How the counts of one line compare with what its provider reports. */
export class Tallied {
  #calibration: CalibrationState = initialCalibration;
  /** Tokens that the provider said it cleared for each one counted. */
  #clearedRate: number | undefined;

  /** Whether the provider has told a figure. */
  get isKnown(): boolean {
    return this.#calibration.observations > 0;
  }

  /** The tokens that the provider should count of a request, without edits. */
  expected(counted: number): CorrectedCount {
    return correct(this.#calibration, counted);
  }

  /** The tokens that the provider gains by clearing those that are counted here; rather too few than too many. */
  gained(saved: number, rate: number): number {
    return saved * (this.#clearedRate ?? Math.min(1, rate));
  }

  /** Takes what the provider said of a request: what it read, and what it cleared before. */
  observe({ counted, saved }: Tally, usage: Usage | undefined, applied: Answer["appliedEdits"] = []): void {
    if (usage?.input === undefined) return;
    const cleared = applied.reduce((sum, edit) => sum + (asCount(edit["cleared_input_tokens"]) ?? 0), 0);
    const tools = applied.find((edit) => (asCount(edit["cleared_tool_uses"]) ?? 0) > 0);
    const gained = asCount(tools?.["cleared_input_tokens"]);
    if (saved > 0 && gained !== undefined && gained > 0) this.#clearedRate = gained / saved;
    this.#calibration = observe(this.#calibration, { estimated: counted, reported: usage.input + cleared }).state;
  }
}

/** The settings of a plan. */
export interface ClearingSettings {
  /** Tokens that the request may have. */
  readonly budget: number;
  readonly counter: TokenCounter;
  /** The results that were cleared for the answer before: those stay cleared, so that the prefix stays. */
  readonly held: number;
  /** Whether a tool's results always stay. */
  readonly isExcluded: (tool: string) => boolean;
}

/**
 * Plans what a provider is asked to clear. More is cleared only where the request would grow beyond its budget, and then down
 * to half of it; until then each request keeps the same results cleared. The newest step's results always stay.
 */
export function clearingOf(
  request: WireRequest,
  tallied: Tallied,
  { budget, counter, held, isExcluded }: ClearingSettings,
): ClearingPlan {
  const { counted, uses, newest, excluded } = sizesOf(request, counter, isExcluded);
  const most = Math.max(0, uses.length - newest);
  const { tokens, high } = tallied.expected(counted);
  // Where nothing was reported yet, a guess does not move what was cleared by figures.
  const expected = held > 0 && !tallied.isKnown ? tokens : high;
  let cleared = Math.min(held, most);
  let saved = uses.slice(0, cleared).reduce((sum, size) => sum + size, 0);
  const left = (): number => expected - tallied.gained(saved, counted === 0 ? 1 : tokens / counted);
  if (left() > budget) {
    for (; cleared < most && left() > budget * lowWater; cleared++) saved += uses[cleared] ?? 0;
  }
  return {
    cleared,
    tally: { counted, saved, left: Math.round(left()) },
    asked: { trigger: Math.max(1, Math.floor(budget)), keep: uses.length - cleared, exclude: excluded },
  };
}

interface Sizes {
  readonly counted: number;
  /** Tokens that clearing saves, by result, oldest first. */
  readonly uses: readonly number[];
  /** How many of them the model has not answered to. */
  readonly newest: number;
  /** The tools whose results stay. */
  readonly excluded: readonly string[];
}

function sizesOf(request: WireRequest, counter: TokenCounter, isExcluded: ClearingSettings["isExcluded"]): Sizes {
  const { api, messages, system = "", tools } = request;
  const excluded = new Set(tools.map(({ name }) => name).filter(isExcluded));
  const names = new Map<string, string>();
  const uses: number[] = [];
  let newest = 0;
  let counted = counter.count(system) + (tools.length > 0 ? countTools(counter, tools) : 0);
  for (const { value } of messages) {
    for (const message of decodedOf(value, api.adapter)) {
      counted += countOnce(counter, message);
      if (message.role === "assistant") {
        newest = 0;
        for (const { callId, name } of toolCalls(message)) names.set(callId, name);
        continue;
      }
      for (const result of toolResults(message)) {
        const name = names.get(result.callId) ?? result.name ?? "";
        if (isExcluded(name)) {
          excluded.add(name);
          continue;
        }
        uses.push(Math.max(0, countResultOnce(counter, result) - placeholder));
        newest++;
      }
    }
  }
  return { counted, uses, newest, excluded: [...excluded].toSorted() };
}

const decoded = new WeakMap<JsonObject, readonly Message[]>();

function decodedOf(value: JsonObject, adapter: WireRequest["api"]["adapter"]): readonly Message[] {
  let messages = decoded.get(value);
  if (!messages) decoded.set(value, (messages = adapter.decode([value])));
  return messages;
}
