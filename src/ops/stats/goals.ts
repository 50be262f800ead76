/** Goals for the sessions of a store, beside the figures that it reached. */

/** The names of the goals. */
export type GoalName = "memory-reduction" | "disk-per-month" | "failed-share" | "summary-success" | "run-time-increase";

/** A goal and how it stands. */
export interface Goal {
  readonly name: GoalName;
  /** The value lies on this side of the target. */
  readonly side: "at-least" | "above" | "below";
  /** A share from 0 to 1; of `disk-per-month` bytes. */
  readonly target: number;
  /** Null where it cannot be known from a store, or there is nothing to take it from. */
  readonly value: number | null;
  /** Null where the value is. */
  readonly met: boolean | null;
}

/** The values that the goals are compared with; one that is not known is absent. */
export type GoalValues = Readonly<Partial<Record<GoalName, number | undefined>>>;

const targets: readonly Pick<Goal, "name" | "side" | "target">[] = [
  { name: "memory-reduction", side: "at-least", target: 0.8 },
  { name: "disk-per-month", side: "below", target: 5e9 },
  { name: "failed-share", side: "below", target: 0.05 },
  { name: "summary-success", side: "above", target: 0.95 },
  { name: "run-time-increase", side: "below", target: 0.1 },
];

/** Each goal beside its value. */
export function goalsOf(values: GoalValues): readonly Goal[] {
  return targets.map(({ name, side, target }) => {
    const value = values[name] ?? null;
    return { name, side, target, value, met: value === null ? null : isMet(side, value, target) };
  });
}

function isMet(side: Goal["side"], value: number, target: number): boolean {
  if (side === "at-least") return value >= target;
  return side === "above" ? value > target : value < target;
}
