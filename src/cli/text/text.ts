/** Text for a terminal: numbers, times, one-line excerpts. */
import { printable } from "../../printable.ts";

/** A number with thousands parted: `45,678`. */
export function count(value: number): string {
  // Not toLocaleString: its first call loads the languages, which takes as long as a small command.
  return String(Math.round(value)).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** A time as people read it, UTC: `2024-01-15 10:30:00 UTC`. */
export function timeLabel(timestamp: string): string {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime())
    ? printable(timestamp)
    : `${time.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** A duration: `15 min 23 s`, `2 h 5 min`, `0.4 s`. */
export function durationLabel(milliseconds: number): string {
  const seconds = milliseconds / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/** As {@link durationLabel}, in a language that writes no space between a number and its unit. */
export function durationIn(units: {
  readonly hours: string;
  readonly minutes: string;
  readonly seconds: string;
}): (milliseconds: number) => string {
  return (milliseconds) => {
    const seconds = Math.floor(milliseconds / 1_000);
    if (seconds < 10) return `${(milliseconds / 1_000).toFixed(1)}${units.seconds}`;
    if (seconds < 60) return `${seconds}${units.seconds}`;
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60) return `${minutes}${units.minutes}${seconds % 60}${units.seconds}`;
    return `${Math.floor(minutes / 60)}${units.hours}${minutes % 60}${units.minutes}`;
  };
}

/** Bytes as people read them, decimal: `120 MB`, `5.4 GB`. */
export function sizeLabel(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 999.5 && unit < sizeUnits.length - 1) [value, unit] = [value / 1_000, unit + 1];
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${sizeUnits[unit]}`;
}

const sizeUnits: readonly string[] = ["bytes", "kB", "MB", "GB", "TB"];

/** US dollars without their sign: `1,204.50`, `<0.01`; `–` where they are not known. */
export function moneyLabel(dollars: number | null): string {
  if (dollars === null) return "–";
  if (dollars > 0 && dollars < 0.005) return "<0.01";
  const [whole = "", cents] = dollars.toFixed(2).split(".");
  return `${count(Number(whole))}.${cents}`;
}

/** One line of a text, at most so many characters. */
export function oneLine(text: string, length: number): string {
  const line = printable(
    text
      .slice(0, 4 * length)
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
  const points = [...line];
  return points.length > length || text.length > 4 * length ? `${points.slice(0, length - 1).join("")}…` : line;
}
