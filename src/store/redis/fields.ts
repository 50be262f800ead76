/** The hash of a session in Redis, and the entries of its streams, as what they say. */
import type { Head, PlacedLine } from "../engine.ts";
import { parseDocument } from "../format/documents.ts";
import { ownerNamed } from "../shared/rules.ts";
import type { Taker } from "../shared/holder.ts";

const texts = ["metadata", "state", "mark", "owner", "status", "hidden", "aside_of", "holder"] as const;
const numbers = ["created_ms", "made", "revision", "origin", "generation", "beat"] as const;

/** The fields that are read of a session's hash. */
export const fieldNames: readonly string[] = [...texts, ...numbers];

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
  const text = (name: (typeof texts)[number]): string => values[fieldNames.indexOf(name)] ?? "";
  const number = (name: (typeof numbers)[number]): number => Number(values[fieldNames.indexOf(name)] ?? 0);
  if (number("revision") === 0) return undefined;
  const taker = text("holder") === "" ? undefined : (parseDocument(text("holder")) as unknown as Taker | undefined);
  const beat = number("beat");
  return {
    id,
    documents: { metadata: text("metadata"), state: text("state"), mark: text("mark") },
    listing: {
      ...ownerNamed(parseDocument(text("owner")) ?? {}),
      ...{ status: text("status"), createdMs: number("created_ms"), isHidden: text("hidden") === "1" },
      ...(text("aside_of") !== "" && { asideOf: text("aside_of") }),
    },
    ...{ made: number("made"), revision: number("revision"), origin: number("origin") },
    generation: number("generation"),
    holder: taker && { ...taker, heartbeatAt: new Date(beat).toISOString() },
    silentMs: taker ? (await now()) - beat : 0,
  };
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
