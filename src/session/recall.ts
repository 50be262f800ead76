/** Recall from a session's log: reads the range that is asked for, message by message, or one summary. */
import { isWindrowError, WindrowError } from "../errors.ts";
import { defined } from "../message/json.ts";
import type { JsonObject } from "../message/message.ts";
import { quoteText } from "../message/quote.ts";
import type { StoredRecordOf } from "../message/record.ts";
import type { Scope, Store } from "../store/store.ts";
import { Turns } from "../turns.ts";
import { checkTypes, fromZero } from "../window/options.ts";
import { checkQuery, recallRange } from "../window/recall/query.ts";
import { answerTokens, Recalling } from "../window/recall/recalling.ts";
import type { CountedLimits, Recalled, RecallLimits, RecallQuery } from "../window/recall/query.ts";
import { recallId } from "../window/stub/stub.ts";
import { recallNotice } from "../window/stub/recalled.ts";
import type { SessionContext } from "./context.ts";

/** A summary as the log has it. */
type SummaryRecord = StoredRecordOf<"summary">;

/** Characters of a query that its record keeps at most. */
const keptCharacters = 1_024;

/** How much a session's recall brings back; `budget` is that of its last window. */
interface SessionLimits extends Pick<RecallLimits, "maxTokens"> {
  readonly budget: number | undefined;
}

/**
 * As {@link recallFromStore}; a record says what was asked and which messages came back, or that there are none. Its failure is
 * an event of the session and nobody's else.
 */
export async function recallOnRecord(
  context: SessionContext,
  length: number,
  query: RecallQuery,
  { budget, ...given }: SessionLimits,
  signal?: AbortSignal,
): Promise<Recalled> {
  checkQuery(query);
  checkTypes("recall", given, { maxTokens: fromZero });
  const { counter, mask, recallTools } = context.composer;
  const known = defined({ recallTools, budget: budget ?? context.budget });
  const limits = { ...known, ...given, counter, mask };
  const record = async (outcome: JsonObject): Promise<void> => {
    const { id, query: words, from, to } = query;
    const asked = defined({ id, query: words?.slice(0, keptCharacters).toWellFormed(), from, to });
    const data = { ...asked, ...outcome };
    const timestamp = context.now().toISOString();
    try {
      await context.inTurn(() => context.write([{ kind: "edit", type: "recall", data, timestamp }]));
    } catch {
      // The writer told it already, and the answer needs no record.
    }
  };
  try {
    const found = await recallFromStore(context, length, query, limits, signal);
    await record({ tokens: found.tokens, seqs: found.seqs, more: found.more });
    return found;
  } catch (error) {
    if (isWindrowError(error, "not-found")) await record({ error: error.code });
    throw error;
  }
}

/**
 * Brings back messages of a session; `s3` is its third summary, with the ids of the summaries it was made of. Gives the
 * event loop turns while it reads.
 *
 * @param length - messages in the log
 * @throws WindrowError `not-found`, `bad-option`, `aborted`
 */
async function recallFromStore(
  { id, store, scope }: SessionContext,
  length: number,
  query: RecallQuery,
  limits: CountedLimits,
  signal?: AbortSignal,
): Promise<Recalled> {
  if (signal?.aborted) throw new WindrowError("aborted", "The recall was aborted before anything was read.");
  const number = summaryNumber(query.id);
  if (number !== undefined) return recallSummary(store, scope, id, number, limits);
  const range = recallRange(query, length);
  const { from, to } = range;
  const title = query.id !== undefined && to > from ? await summaryTitle(store, scope, id, range) : "";
  const taken = title === "" ? 0 : limits.counter.count(title) + 1;
  const maxTokens = Math.max(1, answerTokens(limits) - taken);
  const recalling = new Recalling(query, range, { ...limits, maxTokens });
  const turns = new Turns(signal);
  for await (const numbered of store.read(scope, id, { kind: "message", originals: true, from: recalling.first, to })) {
    if (!(await turns.run(recalling.take(numbered)))) break;
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
  limits: Pick<CountedLimits, "counter" | "maxTokens" | "budget">,
): Promise<Recalled> {
  const all = await summariesOf(store, scope, id);
  const found = all.find(({ seq }) => seq === number);
  if (!found) throw new WindrowError("not-found", `There is no summary s${number}.`, { id: `s${number}` });
  const text = [recallNotice(answerTokens(limits)), titleOf(found, all), quoteText(found.summary)].join("\n");
  return { text, tokens: limits.counter.count(text), seqs: [], more: false };
}

/** The line of the newest summary that stands for exactly this range, where it is made of others; else empty. */
async function summaryTitle(
  store: Store,
  scope: Scope,
  id: string,
  range: { readonly from: number; readonly to: number },
): Promise<string> {
  const all = await summariesOf(store, scope, id);
  const found = all.findLast((record) => fromOf(record) === range.from && toOf(record) === range.to);
  return found ? titleOf(found, all) : "";
}

async function summariesOf(store: Store, scope: Scope, id: string): Promise<readonly SummaryRecord[]> {
  const records: SummaryRecord[] = [];
  for await (const record of store.read(scope, id, { kind: "summary", originals: true })) records.push(record);
  return records;
}

function titleOf(record: SummaryRecord, all: readonly SummaryRecord[]): string {
  const numbers = Array.isArray(record.data?.["children"]) ? record.data["children"] : [];
  const children = all.filter(({ seq }) => numbers.includes(seq)).map((child) => `s${child.seq} (${rangeOf(child)})`);
  const parts = children.length === 0 ? "" : `, made of ${children.join(", ")}`;
  return `[s${record.seq}: summary of messages ${rangeOf(record)}${parts}]`;
}

function rangeOf(record: SummaryRecord): string {
  return recallId(fromOf(record), toOf(record));
}

function toOf({ endSeq, data }: SummaryRecord): number {
  return typeof data?.["to"] === "number" ? data["to"] : endSeq;
}

function fromOf({ startSeq, data }: SummaryRecord): number {
  return typeof data?.["from"] === "number" ? data["from"] : startSeq;
}
