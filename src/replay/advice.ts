/** The budget that pays for recorded sessions: the cheapest one whose windows hold or bring back what calls came back to. */
import type { Budget } from "../window/options.ts";
import type { RecordedUse } from "./recorded.ts";
import type { ReplayTotal } from "./totals.ts";

/** The strategies that advice is made from: one that manages windows, and one that sends everything. */
export const adviceStrategies = ["adaptive", "none"] as const;

/** The budgets that are compared: 16,000 tokens and on, each larger by the square root of two, and one that sizes itself. */
export const adviceBudgets: readonly Budget[] = [
  ...Array.from({ length: 8 }, (_, step) => 1_000 * Math.round(16 * Math.SQRT2 ** step)),
  "auto",
];

/** The share of what calls referred back to that has to be in view or one recall away, in per cent. */
export const enoughShare = 97;

/** A window is worth managing where it costs less than this share of what the sessions cost without it. */
const worthwhile = 0.95;

/** The advice on some sessions. */
export interface Advice {
  /** What the sessions cost without a managed window: as recorded, else with everything sent. */
  readonly before: Pick<ReplayTotal, "cost" | "tokens">;
  /** Every budget, and everything sent at last. */
  readonly rows: readonly ReplayTotal[];
  /** The row to take; undefined where no window pays. */
  readonly advised: ReplayTotal | undefined;
  /** Why none pays: no row keeps enough, or none that does is cheaper. */
  readonly reason?: "keeps-too-little" | "saves-too-little";
}

/**
 * Advice by a rule: of the budgets at which {@link enoughShare} per cent of what calls referred back to is in view or one recall
 * away, and at which no request is refused, the cheapest; none where it saves less than a twentieth, or leaves nothing out.
 *
 * @param totals - of `adaptive` and `none` at {@link adviceBudgets}, or at some of them
 * @param recorded - the usage that the sessions report, where they do
 */
export function adviseOn(totals: readonly ReplayTotal[], recorded: RecordedUse | undefined): Advice {
  const managed = totals.filter(({ strategy }) => strategy !== "none");
  const whole = totals.filter(({ strategy }) => strategy === "none").slice(0, 1);
  const before = recorded ?? whole[0] ?? { cost: { equivalents: Infinity, dollars: null }, tokens: noTokens };
  const isPriced = [before, ...managed].every(({ cost }) => cost.dollars !== null);
  const price = ({ cost }: Pick<ReplayTotal, "cost">): number => (isPriced ? cost.dollars! : cost.equivalents);
  const keeping = managed.filter(
    ({ lookback, refused, broken }) => (lookback.oneHop ?? 100) >= enoughShare && refused + broken === 0,
  );
  const [cheapest] = keeping.toSorted((left, right) => price(left) - price(right));
  const rows = [...managed, ...whole];
  if (!cheapest) return { before, rows, advised: undefined, reason: "keeps-too-little" };
  // Without an epoch its windows are what was sent: a difference to the record is one of counting.
  const pays = cheapest.epochs > 0 && price(cheapest) < worthwhile * price(before);
  return pays ? { before, rows, advised: cheapest } : { before, rows, advised: undefined, reason: "saves-too-little" };
}

const noTokens = { total: 0, average: 0, peak: 0 };
