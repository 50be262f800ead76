/**
 * The cache of what sessions used: one file in the user's cache folder, with the calls of each place by its size and
 * time of change. It holds counts, models and folders, no text of a session. Places that are gone leave it.
 */
import { join } from "node:path";
import { largestCache, readCache, writeCache } from "./cache-file.ts";
import type { CallUsage, FoundUsage } from "../../transcript/usage/usage.ts";

/** The fields of a call that the cache keeps, in the order of a row. */
const fields = "time model project input output cacheRead cacheWrite cacheWriteHour chain key".split(
  " ",
) as readonly (keyof Omit<CallUsage, "others">)[];
/** Those that repeat: a row has their place in a list of names. */
const named: ReadonlySet<string> = new Set(["model", "project", "chain"]);

interface Entry {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly names: readonly string[];
  readonly rows: readonly (readonly (number | null)[])[];
}

/** The calls of places that did not change since they were read. */
export class UsageCache {
  readonly #file: string;
  readonly #entries: Map<string, Entry>;
  #changed = false;

  private constructor(file: string, entries: Map<string, Entry>) {
    this.#file = file;
    this.#entries = entries;
  }

  /** The cache in a folder. One that is missing, damaged or of another version is empty. */
  static async open(folder: string): Promise<UsageCache> {
    const file = join(folder, "usage.jsonl");
    return new UsageCache(file, entriesOf(await readCache(file)));
  }

  /** The calls of a place as it is now; undefined where it is not known, or has changed. */
  get({ path, bytes, modifiedMs }: FoundUsage): readonly CallUsage[] | undefined {
    const entry = this.#entries.get(path);
    return entry?.bytes === bytes && entry.modifiedMs === modifiedMs ? callsOf(entry) : undefined;
  }

  /** Notes the calls of a place. */
  set({ path, bytes, modifiedMs }: FoundUsage, calls: readonly CallUsage[]): void {
    this.#entries.set(path, { path, bytes, modifiedMs, ...packed(calls) });
    this.#changed = true;
  }

  /**
   * Writes the cache where it changed, without the places that are not there any more. A folder that cannot be written
   * makes no difference but time.
   */
  async save(found: readonly FoundUsage[]): Promise<void> {
    const there = new Set(found.map(({ path }) => path));
    const kept = [...this.#entries.values()].filter(({ path }) => there.has(path));
    if (!this.#changed && kept.length === this.#entries.size) return;
    const lines: string[] = [];
    let room = largestCache;
    for (const entry of kept) {
      const line = `${JSON.stringify(entry)}\n`;
      room -= Buffer.byteLength(line);
      if (room > 0) lines.push(line);
    }
    await writeCache(this.#file, lines.join(""));
  }
}

function entriesOf(body: string): Map<string, Entry> {
  // The hash says that this version wrote it, so its shape is known.
  const entries = body.split("\n").filter((line) => line !== "");
  return new Map(entries.map((line) => JSON.parse(line) as Entry).map((entry) => [entry.path, entry]));
}

function packed(calls: readonly CallUsage[]): Pick<Entry, "names" | "rows"> {
  const names = new Map<string, number>();
  const placeOf = (name: string): number => {
    const place = names.get(name) ?? names.size;
    names.set(name, place);
    return place;
  };
  const rows = calls.map((call) =>
    fields.map((field) => {
      const value = call[field] ?? null;
      return typeof value === "string" ? placeOf(value) : value;
    }),
  );
  return { names: [...names.keys()], rows };
}

function callsOf({ names, rows }: Entry): readonly CallUsage[] {
  return rows.map((row) => {
    const values = fields.map((field, place) => {
      const value = row[place] ?? undefined;
      return [field, named.has(field) ? names[value ?? -1] : value] as const;
    });
    return Object.fromEntries(values) as unknown as CallUsage;
  });
}
