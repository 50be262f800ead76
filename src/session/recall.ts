/** Recall from a session's log: reads the range that is asked for, message by message, or one summary. */
import { WindrowError } from "../errors.ts";
import { quoteText } from "../message/quote.ts";
import type { StoredRecordOf } from "../message/record.ts";
import type { Scope, Store } from "../store/store.ts";
import { Turns } from "../turns.ts";
import { Recalling, recallRange, recallTokens } from "../window/recall/recall.ts";
import type { Recalled, RecallLimits, RecallQuery } from "../window/recall/recall.ts";
import { recallId } from "../window/recall/stub.ts";
import { recallNotice } from "../window/recall/text.ts";
import type { SessionContext } from "./context.ts";

/** A summary as the log has it. */
type SummaryRecord = StoredRecordOf<"summary">;

/** Messages in a range below which recall shows all of it where it fits, also messages without any of the words. */
const shortRange = 400;

/**
 * Brings back messages of a session; `s3` is its third summary, with the ids of the summaries it was made of. Gives the
 * event loop turns while it reads.
 *
 * @param length - messages in the log
 * @throws WindrowError `not-found`, `bad-option`, `aborted`
 */
export async function recallFromStore(
  { id, store, scope }: SessionContext,
  length: number,
  query: RecallQuery,
  limits: RecallLimits,
  signal?: AbortSignal,
): Promise<Recalled> {
  if (signal?.aborted) throw new WindrowError("aborted", "The recall was aborted before anything was read.");
  const number = summaryNumber(query.id);
  if (number !== undefined) return recallSummary(store, scope, id, number, limits);
  const { from, to } = recallRange(query, length);
  const title = query.id !== undefined && to > from ? await summaryTitle(store, scope, id, { from, to }) : "";
  const taken = title === "" ? 0 : limits.counter.count(title) + 1;
  const maxTokens = Math.max(1, (limits.maxTokens ?? recallTokens) - taken);
  const recalling = new Recalling(query.query, { ...limits, maxTokens }, to - from < shortRange);
  const turns = new Turns(signal);
  for await (const { seq, message } of store.read(scope, id, { kind: "message", originals: true, from, to })) {
    if (!(await turns.run(recalling.take({ seq, message })))) break;
    await turns.turn();
  }
  return turns.run(recalling.result(title));
}

/** The number in a summary's id (`s3`), or undefined where the id is none. */
function summaryNumber(id: string | undefined): number | undefined {
  const match = /^s(\d{1,9})$/.exec(typeof id === "string" ? id.trim() : "");
  return match ? Number(match[1]) : undefined;
}

/**
 * A summary under a line that names its children and the messages it stands for.
 *
 * @throws WindrowError `not-found` where there is no such summary
 */
async function recallSummary(
  store: Store,
  scope: Scope,
  id: string,
  number: number,
  { counter }: Pick<RecallLimits, "counter">,
): Promise<Recalled> {
  const all = await summariesOf(store, scope, id);
  const found = all.find(({ seq }) => seq === number);
  if (!found) throw new WindrowError("not-found", `There is no summary s${number}.`, { id: `s${number}` });
  const text = [recallNotice(recallTokens), titleOf(found, all), quoteText(found.summary)].join("\n");
  return { text, tokens: counter.count(text), seqs: [], more: false };
}

/** The line of the newest summary that stands for exactly this range, where it is made of others; else empty. */
async function summaryTitle(
  store: Store,
  scope: Scope,
  id: string,
  range: { readonly from: number; readonly to: number },
): Promise<string> {
  const all = await summariesOf(store, scope, id);
  const found = all.findLast((record) => fromOf(record) === range.from && record.endSeq === range.to);
  return found ? titleOf(found, all) : "";
}

async function summariesOf(store: Store, scope: Scope, id: string): Promise<readonly SummaryRecord[]> {
  const records: SummaryRecord[] = [];
  for await (const record of store.read(scope, id, { kind: "summary" })) records.push(record);
  return records;
}

function titleOf(record: SummaryRecord, all: readonly SummaryRecord[]): string {
  const numbers = Array.isArray(record.data?.["children"]) ? record.data["children"] : [];
  const children = all.filter(({ seq }) => numbers.includes(seq)).map((child) => `s${child.seq} (${rangeOf(child)})`);
  const parts = children.length === 0 ? "" : `, made of ${children.join(", ")}`;
  return `[s${record.seq}: summary of messages ${rangeOf(record)}${parts}]`;
}

function rangeOf(record: SummaryRecord): string {
  return recallId(fromOf(record), record.endSeq);
}

function fromOf({ startSeq, data }: SummaryRecord): number {
  return typeof data?.["from"] === "number" ? data["from"] : startSeq;
}
