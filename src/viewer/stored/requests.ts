/** The requests that passed a gateway, as rows: one for each record of them in the log of their line. */
import { asArray, asName, asObject } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { StoredRecordOf } from "../../message/record.ts";
import type { GatewayLine, RequestPage, RequestRow } from "../requests.ts";
import type { EpochIndex, Place } from "./epoch-index.ts";
import type { UsageLine } from "./usage-index.ts";

/** The type of a request's record in `edits.jsonl`. */
export const requestType = "request";

/** The line of a gateway that a session keeps, by its task's key; undefined for any other session. */
export function gatewayLine(taskKey: JsonObject): GatewayLine | undefined {
  const [client, line] = [asName(taskKey["client"]), asName(taskKey["line"])];
  if (taskKey["gateway"] !== 1 || client === undefined || line === undefined) return undefined;
  const [session, agent, parent] = [asName(taskKey["session"]), asName(taskKey["agent"]), asObject(taskKey["parent"])];
  const [id, reason] = [asName(parent?.["uuid"]), asName(parent?.["reason"]) ?? ""];
  return {
    client,
    line,
    ...(session !== undefined && { session }),
    ...(agent !== undefined && { agent }),
    ...(id !== undefined && { parent: { id, reason } }),
  };
}

/** The requests from one number to another, each with the usage that was recorded behind it. */
export async function requestRows(
  place: Place,
  { requests }: EpochIndex,
  from: number,
  to: number,
): Promise<RequestPage> {
  const total = requests.length;
  const asked = requests.slice(Math.max(1, from) - 1, Math.max(0, to));
  const [first, last] = [asked[0], asked.at(-1)];
  if (!first || !last) return { total, requests: [] };
  const { store, scope, id } = place;
  const end = requests[Math.max(1, from) - 1 + asked.length]?.pos ?? Infinity;
  const used = await usagesBetween(place, first.pos, end);
  const numbers = new Map(asked.map(({ seq }, index) => [seq, Math.max(1, from) + index]));
  const rows: RequestRow[] = [];
  let next = 0;
  for await (const record of store.read(scope, id, { kind: "edit", from: first.seq, to: last.seq })) {
    const number = record.type === requestType ? numbers.get(record.seq) : undefined;
    if (number === undefined) continue;
    const before = requests[number]?.pos ?? Infinity;
    while ((used[next]?.pos ?? Infinity) < record.pos) next++;
    const usage = (used[next]?.pos ?? Infinity) < before ? used[next] : undefined;
    rows.push(rowOf(number, record, usage));
  }
  return { total, requests: rows };
}

/** The lines of `usage.jsonl` between two places among all records. */
async function usagesBetween({ store, scope, id }: Place, from: number, to: number): Promise<readonly UsageLine[]> {
  const found: UsageLine[] = [];
  const enough = (record: { readonly pos: number }): boolean => record.pos < from;
  for (let last = 64; ; last *= 16) {
    found.length = 0;
    for await (const line of store.read(scope, id, { kind: "usage", last, enough })) found.push(line);
    if (found.length < last || (found[0]?.pos ?? 0) < from) break;
  }
  return found.filter(({ pos }) => pos > from && pos < to);
}

function rowOf(request: number, { data, timestamp }: StoredRecordOf<"edit">, used: UsageLine | undefined): RequestRow {
  const number = (name: string): number | null => (typeof data[name] === "number" ? data[name] : null);
  const text = (name: string): string | null => asName(data[name]) ?? null;
  const { type, message } = asObject(data["error"]) ?? {};
  const error = [type, message].filter((value): value is string => typeof value === "string" && value !== "");
  return {
    request,
    at: text("time") ?? timestamp,
    kind: text("kind") ?? "turn",
    attempt: number("attempt") ?? 1,
    status: number("status"),
    firstByteMs: number("first_byte_ms"),
    totalMs: number("total_ms"),
    bytesIn: number("bytes_in"),
    bytesOut: number("bytes_out"),
    model: text("model"),
    note: text("note") ?? "",
    bypassed: text("bypassed"),
    fixed: text("fixed"),
    stop: text("stop"),
    error: error.length > 0 ? error.join(": ") : null,
    mends: texts(data["mends"]),
    isAborted: data["aborted"] === true,
    isIncomplete: data["incomplete"] === true,
    call: used?.seq ?? null,
    tokens: used?.window?.tokens ?? null,
    predictedCached: used?.window?.cached ?? null,
    usage: used?.usage ?? null,
  };
}

function texts(value: JsonValue | undefined): readonly string[] {
  return (asArray(value) ?? []).flatMap((one) => asName(one) ?? []);
}
