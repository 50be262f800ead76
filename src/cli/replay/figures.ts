/** Figures as text. */

/** A number with a fixed number of digits behind the point. */
export function decimals(value: number, digits: number): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Per cent, rounded down to a tenth, so that 100 is said of nothing less; a dash for null. */
export function percent(value: number | null): string {
  return value === null ? "–" : value === 100 ? "100" : decimals(Math.floor(10 * value) / 10, 1);
}
