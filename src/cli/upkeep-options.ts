/** What the commands of upkeep share: ages as people write them, sizes, and the store they work on. */
import { WindrowError } from "../errors.ts";
import { openStore } from "../store/open.ts";
import type { Scope, Store } from "../store/store.ts";

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * An age in milliseconds: `30d`, `24h`, `90m`, `2w`; a number alone is days.
 *
 * @throws WindrowError `bad-option`
 */
export function ageOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, number, unit = "d"] = /^(\d+(?:\.\d+)?)([mhdw])?$/.exec(text) ?? [];
  const milliseconds = Number(number) * (units[unit] ?? Number.NaN);
  if (Number.isFinite(milliseconds)) return milliseconds;
  const message = `${name} is an age, for example 30d, 24h or 90m, not "${text}".`;
  throw new WindrowError("bad-option", message, { name, value: text });
}

/** Bytes as people read them: `1.2 MB`. */
export function bytesLabel(bytes: number): string {
  const names = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(names.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, Math.abs(bytes))) / 3)));
  const value = bytes / 1_000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${names[power]}`;
}

/** Runs work on a store that is there already, and closes it. */
export async function onStore<T>(
  { store: target, tenant }: { readonly store: string; readonly tenant?: string },
  work: (store: Store, scope: Scope) => Promise<T>,
): Promise<T> {
  const store = await openStore(target, { create: false });
  try {
    return await work(store, tenant === undefined ? {} : { tenant });
  } finally {
    await store.close();
  }
}
