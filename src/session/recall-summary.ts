/** From a summary to what it is made of: its children by their ids, and the range of messages behind it. */
import { WindrowError } from "../errors.ts";
import { quoteText } from "../message/quote.ts";
import type { StoredRecordOf } from "../message/record.ts";
import type { Scope, Store } from "../store/store.ts";
import { recallNotice } from "../window/recall/text.ts";
import { recallTokens } from "../window/recall/recall.ts";
import type { Recalled, RecallLimits } from "../window/recall/recall.ts";
import { recallId } from "../window/recall/stub.ts";

type Record = StoredRecordOf<"summary">;

/** The number in a summary's id (`s3`), or undefined where the id is none. */
export function summaryNumber(id: string | undefined): number | undefined {
  const match = /^s(\d{1,9})$/.exec(typeof id === "string" ? id.trim() : "");
  return match ? Number(match[1]) : undefined;
}

/**
 * A summary under a line that names its children and the messages it stands for.
 *
 * @throws WindrowError `not-found` where there is no such summary
 */
export async function recallSummary(
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
export async function summaryTitle(
  store: Store,
  scope: Scope,
  id: string,
  range: { readonly from: number; readonly to: number },
): Promise<string> {
  const all = await summariesOf(store, scope, id);
  const found = all.findLast((record) => fromOf(record) === range.from && record.endSeq === range.to);
  return found ? titleOf(found, all) : "";
}

async function summariesOf(store: Store, scope: Scope, id: string): Promise<readonly Record[]> {
  const records: Record[] = [];
  for await (const record of store.read(scope, id, { kind: "summary" })) records.push(record);
  return records;
}

function titleOf(record: Record, all: readonly Record[]): string {
  const numbers = Array.isArray(record.data?.["children"]) ? record.data["children"] : [];
  const children = all.filter(({ seq }) => numbers.includes(seq)).map((child) => `s${child.seq} (${rangeOf(child)})`);
  const parts = children.length === 0 ? "" : `, made of ${children.join(", ")}`;
  return `[s${record.seq}: summary of messages ${rangeOf(record)}${parts}]`;
}

function rangeOf(record: Record): string {
  return recallId(fromOf(record), record.endSeq);
}

function fromOf({ startSeq, data }: Record): number {
  return typeof data?.["from"] === "number" ? data["from"] : startSeq;
}
