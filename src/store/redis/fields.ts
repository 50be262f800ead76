/** The hash of a session in Redis, and the entries of its streams, as what they say. */
import type { Head, PlacedLine } from "../engine.ts";
import { parseDocument } from "../format/documents.ts";
import { headOfRow } from "../shared/head-row.ts";
import { ownerNamed } from "../shared/rules.ts";

/** The fields that are read of a session's hash. */
export const fieldNames: readonly string[] = [
  ...["metadata", "state", "mark", "owner", "status", "hidden", "aside_of", "holder"],
  ...["created_ms", "made", "revision", "origin", "generation", "beat"],
];

/** The last moment that a date can say, in milliseconds since 1970. */
const lastMs = 8.64e15;

/** Fields of a hash, to be written. */
export type Fields = Readonly<Record<string, string | number>>;

/**
 * A session; undefined where there is none.
 *
 * @param values - of {@link fieldNames}
 * @param now - the time by the clock that heartbeats go by, in milliseconds since 1970
 */
export async function headOf(
  id: string,
  values: readonly (string | null)[],
  now: () => Promise<number>,
): Promise<Head | undefined> {
  const field = (name: string): string => values[fieldNames.indexOf(name)] ?? "";
  if (Number(field("revision")) === 0) return undefined;
  const said = Number(field("beat"));
  const beat = said >= 0 && said <= lastMs ? said : 0;
  const row = {
    ...Object.fromEntries(fieldNames.map((name) => [name, field(name)])),
    ...ownerNamed(parseDocument(field("owner")) ?? {}),
    id,
    hidden: field("hidden") === "1",
    aside_of: field("aside_of") || undefined,
  };
  return headOfRow(row, new Date(beat).toISOString(), field("holder") === "" ? 0 : (await now()) - beat);
}

/** The fields by which a session is listed. */
export function listedFields({ tenant, user, status, createdMs, isHidden, asideOf = "" }: Head["listing"]): Fields {
  const owner = JSON.stringify({ tenant, user });
  return { owner, status, created_ms: createdMs, hidden: isHidden ? 1 : 0, aside_of: asideOf };
}

/** The entries of a stream. */
export function linesOf(reply: unknown): readonly (PlacedLine & { readonly pos: number })[] {
  return (reply as readonly (readonly [string, readonly string[]])[]).map(
    ([id, [, line = "", , pos = placeIn(line)]]) => {
      const [seq = 0, row = 0] = id.split("-").map(Number);
      return { seq, row, pos: Number(pos), line };
    },
  );
}

/** The place that a line of another program says. */
function placeIn(line: string): string {
  return /"pos":(\d{1,15})/.exec(line)?.[1] ?? "0";
}

/** The id of an entry. */
export function idOf({ seq, row }: Pick<PlacedLine, "seq" | "row">): string {
  return `${seq}-${row}`;
}
