/** Sums of what sessions used, by day, project and model: calls, tokens, money. */
import { findModel, priceOf } from "../../tokens/models.ts";
import type { ModelPrices } from "../../tokens/models.ts";
import type { CallUsage } from "../../transcript/usage/usage.ts";
import { getOrMake, plusKnown } from "../look/sum.ts";

/** The parts that usage is added up by. */
export const usageParts = ["day", "project", "model"] as const;

/** One of {@link usageParts}. */
export type UsagePart = (typeof usageParts)[number];

/** The usage of some calls, added up. */
export interface UsageSum {
  /** The day (UTC), the project's folder or the model's id; empty where sessions do not say. */
  readonly name: string;
  readonly calls: number;
  /** Input tokens, cached ones included. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Tokens of the largest request. */
  readonly peak: number;
  /** Input and output at list prices, in US dollars; null where no call's model has a price. */
  readonly dollars: number | null;
  /** Calls whose model has no price; they are not in the money. */
  readonly unpriced: number;
}

/** The overview of some sessions. */
export interface UsageOverview {
  readonly total: UsageSum;
  readonly by: Readonly<Record<UsagePart, readonly UsageSum[]>>;
  /** Models that no price is known for, as the sessions write them. */
  readonly unpricedModels: readonly string[];
  /** Calls that are copies of another file's, left out: of a session that was resumed or forked. */
  readonly copies: number;
}

/** Options of {@link usageOverview}. */
export interface OverviewOptions {
  /** Only calls from then on, in milliseconds since 1970; calls without a time are left out then. */
  readonly since?: number;
}

/**
 * Adds up calls. Each is counted once, also where several files hold it.
 *
 * @param files - the calls of each file, in their order; where files share a call, it counts in the first of them
 */
export function usageOverview(files: Iterable<readonly CallUsage[]>, { since }: OverviewOptions = {}): UsageOverview {
  const seen = new Set<number>();
  const total = noUsage("");
  const sums: Readonly<Record<UsagePart, Map<string, Sum>>> = { day: new Map(), project: new Map(), model: new Map() };
  const unpricedModels = new Set<string>();
  let copies = 0;
  for (const calls of files) {
    for (const call of calls) {
      if (seen.has(call.key)) {
        copies += 1;
        continue;
      }
      seen.add(call.key);
      if (since !== undefined && (call.time ?? 0) < since) continue;
      const model = modelNamed(call.model);
      if (!model.prices) unpricedModels.add(call.model);
      const names = { day: dayOf(call.time), project: call.project, model: model.name };
      const used = usageOf(call, model.prices);
      add(total, used);
      for (const part of usageParts)
        add(
          getOrMake(sums[part], names[part], () => noUsage(names[part])),
          used,
        );
    }
  }
  const by = Object.fromEntries(usageParts.map((part) => [part, sorted(part, [...sums[part].values()])]));
  return {
    total,
    by: by as Record<UsagePart, readonly UsageSum[]>,
    unpricedModels: [...unpricedModels].sort(),
    copies,
  };
}

/** The day (UTC) of a time; empty for none. */
function dayOf(time: number | undefined): string {
  return time === undefined ? "" : new Date(time).toISOString().slice(0, 10);
}

/** Several sums as one, under a name. */
export function merged(name: string, sums: readonly UsageSum[]): UsageSum {
  const all = noUsage(name);
  for (const sum of sums) add(all, sum);
  return all;
}

type Sum = { -readonly [name in keyof UsageSum]: UsageSum[name] };

function noUsage(name: string): Sum {
  const numbers = { calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, peak: 0, unpriced: 0 };
  return { name, ...numbers, dollars: null };
}

function usageOf(call: CallUsage, prices: ModelPrices | undefined): Omit<UsageSum, "name"> {
  const { input, output, cacheRead, cacheWrite } = call;
  return {
    ...{ calls: 1, input, output, cacheRead, cacheWrite, peak: input },
    dollars: prices ? priceOf(call, prices) : null,
    unpriced: prices ? 0 : 1,
  };
}

const counts = ["calls", "input", "output", "cacheRead", "cacheWrite", "unpriced"] as const;

function add(sum: Sum, more: Omit<UsageSum, "name">): void {
  for (const name of counts) sum[name] += more[name];
  sum.peak = Math.max(sum.peak, more.peak);
  sum.dollars = plusKnown(sum.dollars, more.dollars);
}

/** Days newest first; projects and models by money, then by tokens. */
function sorted(part: UsagePart, all: readonly UsageSum[]): readonly UsageSum[] {
  if (part === "day") return all.toSorted((left, right) => right.name.localeCompare(left.name));
  return all.toSorted(
    (left, right) =>
      (right.dollars ?? 0) - (left.dollars ?? 0) || right.input - left.input || left.name.localeCompare(right.name),
  );
}

interface NamedModel {
  readonly name: string;
  readonly prices: ModelPrices | undefined;
}

const known = new Map<string, NamedModel>();

/** A model under the table's id, so that its dated ids are one. */
function modelNamed(id: string): NamedModel {
  return getOrMake(known, id, () => {
    const facts = findModel(id);
    return { name: facts?.id ?? id, prices: facts?.prices };
  });
}
