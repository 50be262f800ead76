/** The requests that passed a gateway, as rows: one for each record of them in the log of their line. */
import { asArray, asCount, asName, asObject, objectsOf } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { StoredRecordOf } from "../../message/record.ts";
import type { SessionMetadata } from "../../store/store.ts";
import { recallId } from "../../window/stub/stub.ts";
import type { GatewayLine, RequestPage, RequestRow } from "../requests.ts";
import { newestSeq } from "./calls.ts";
import type { EpochIndex, Place } from "./epoch-index.ts";
import type { AnsweredCall } from "./log-columns.ts";
import type { UsageLine } from "./usage-index.ts";

/** The type of a request's record in `edits.jsonl`. */
export const requestType = "request";

/**
 * The line of a gateway that a session keeps, by its task's key; undefined for any other session. A fork has the key of the
 * line that it was forked from, and goes on from that one.
 */
export function gatewayLine(taskKey: JsonObject, fork?: SessionMetadata["forkedFrom"]): GatewayLine | undefined {
  const [client, line] = [asName(taskKey["client"]), asName(taskKey["line"])];
  if (taskKey["gateway"] !== 1 || client === undefined || line === undefined) return undefined;
  const [session, agent, parent] = [asName(taskKey["session"]), asName(taskKey["agent"]), asObject(taskKey["parent"])];
  const [id, reason] = fork
    ? [fork.uuid, `forked at ${recallId(fork.at)}`]
    : [asName(parent?.["uuid"]), asName(parent?.["reason"]) ?? ""];
  return {
    client,
    line,
    ...(session !== undefined && { session }),
    ...(agent !== undefined && { agent }),
    ...(id !== undefined && { parent: { id, reason } }),
  };
}

/**
 * The requests from one number to another, each with the usage that was recorded behind it.
 *
 * @param answers - the calls of a session whose calls name no window; undefined where a call is a line of usage
 */
export async function requestRows(
  place: Place,
  { requests }: EpochIndex,
  { from, to }: { readonly from: number; readonly to: number },
  answers?: readonly AnsweredCall[],
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
    const row = rowOf(number, record, usage);
    rows.push(
      answers && row.call !== null ? { ...row, call: isKept(row) ? answerBeside(answers, record.pos) : null } : row,
    );
  }
  return { total, requests: rows };
}

/** Records between that of a request and its answer in the log, at most: they are written together, in any order. */
const mostBetween = 2;

/** Whether a request's answer became a message of the log. */
function isKept({ kind, status, error, isIncomplete }: RequestRow): boolean {
  return kind === "turn" && status !== null && status >= 200 && status < 300 && error === null && !isIncomplete;
}

/** The call whose answer was written beside a place of the log; null where none was. */
function answerBeside(answers: readonly AnsweredCall[], pos: number): number | null {
  let low = 0;
  let high = answers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((answers[middle]?.pos ?? 0) < pos) low = middle + 1;
    else high = middle;
  }
  const before = pos - (answers[low - 1]?.pos ?? -Infinity);
  const behind = (answers[low]?.pos ?? Infinity) - pos;
  if (before === 1) return low;
  if (behind <= mostBetween) return low + 1;
  return before <= mostBetween ? low : null;
}

/** The lines of `usage.jsonl` between two places among all records: the first is looked for, and no other line is kept. */
async function usagesBetween(place: Place, from: number, to: number): Promise<readonly UsageLine[]> {
  const { store, scope, id } = place;
  let low = 1;
  let high = await newestSeq(place, "usage");
  while (low < high) {
    const middle = (low + high) >> 1;
    let pos = Infinity;
    for await (const line of store.read(scope, id, { kind: "usage", from: middle, limit: 1 })) pos = line.pos;
    if (pos > from) high = middle;
    else low = middle + 1;
  }
  const found: UsageLine[] = [];
  for await (const line of store.read(scope, id, { kind: "usage", from: low })) {
    if (line.pos >= to) break;
    if (line.pos > from) found.push(line);
  }
  return found;
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
    clearedTokens: clearedTokens(data["applied_edits"]),
    mends: texts(data["mends"]),
    isAborted: data["aborted"] === true,
    isIncomplete: data["incomplete"] === true,
    call: used?.seq ?? null,
    tokens: used?.window?.tokens ?? null,
    predictedCached: used?.window?.cached ?? null,
    usage: used?.usage ?? null,
  };
}

function clearedTokens(applied: JsonValue | undefined): number | null {
  const counts = objectsOf(applied).flatMap((edit) => asCount(edit["cleared_input_tokens"]) ?? []);
  return counts.length > 0 ? counts.reduce((sum, count) => sum + count, 0) : null;
}

function texts(value: JsonValue | undefined): readonly string[] {
  return (asArray(value) ?? []).flatMap((one) => asName(one) ?? []);
}
