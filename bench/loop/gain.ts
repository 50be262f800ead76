/** The gain of a managed window: whether it costs less than sending everything, said where it does not. */

/** A strategy's cost at a budget. */
export interface PricedRow {
  readonly name: string;
  /** Null for one that sends everything, and for rows of several budgets. */
  readonly budget: number | null;
  /** Million input-token equivalents. */
  readonly cost: number;
}

/** The price of sending everything, and its largest request. */
export interface WholePrice {
  readonly cost: number;
  readonly peak: number;
}

/**
 * A line for each row that managed windows and cost no less than sending everything. Empty where all of them gained, or
 * the whole history fitted the budget, so that there was nothing to manage.
 */
export function withoutGain(rows: readonly PricedRow[], whole: WholePrice | undefined): readonly string[] {
  if (!whole) return [];
  const peak = whole.peak.toLocaleString("en-US");
  return rows.flatMap(({ name, budget, cost }) => {
    if (budget === null || budget >= whole.peak || cost < whole.cost) return [];
    const at = `${name} at ${budget.toLocaleString("en-US")} tokens costs ${cost.toFixed(2)}`;
    return [
      `${at}, no less than sending everything (${whole.cost.toFixed(2)}): where the model takes ${peak} tokens, it does not pay.`,
    ];
  });
}
