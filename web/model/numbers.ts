/** Numbers, money and times as the page writes them. Unknown is written as unknown, never as zero. */

const grouped = new Intl.NumberFormat("en-US");

/** A whole number with its thousands apart. */
export function count(value: number): string {
  return grouped.format(Math.round(value));
}

/** A number in at most four characters or so: `812`, `12.4k`, `3.1M`. */
export function compact(value: number): string {
  const size = Math.abs(value);
  if (size < 1_000) return String(Math.round(value));
  const [scaled, unit] = size < 999_500 ? [value / 1_000, "k"] : [value / 1_000_000, "M"];
  return `${Math.abs(scaled) < 99.95 ? scaled.toFixed(1).replace(/\.0$/, "") : String(Math.round(scaled))}${unit}`;
}

/** Tokens, or a dash where they are not known. */
export function tokens(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : count(value);
}

/** Dollars with as many digits as small sums need. */
export function dollars(value: number | null | undefined): string {
  if (value === null || value === undefined) return "unknown";
  if (value === 0) return "$0";
  return `$${value < 0.01 ? value.toFixed(5) : value < 1 ? value.toFixed(4) : value.toFixed(2)}`;
}

/** A share of a whole in percent; empty for a whole of nothing. */
export function percent(part: number, whole: number): string {
  if (whole <= 0) return "";
  const value = (100 * part) / whole;
  return `${value > 0 && value < 1 ? "<1" : String(Math.round(value))}%`;
}

/** A length of time in its largest unit. */
export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1_000;
  if (seconds < 1) return `${Math.round(milliseconds)} ms`;
  if (seconds < 90) return `${seconds < 10 ? seconds.toFixed(1) : String(Math.round(seconds))} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${(seconds / 3_600).toFixed(1)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** A time of the log to the second, in UTC. */
export function moment(timestamp: string | null | undefined): string {
  if (!timestamp) return "–";
  return timestamp.slice(0, 19).replace("T", " ");
}

/** A noun with its number. */
export function several(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}
