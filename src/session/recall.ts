/** Recall from a session's log: reads the range that is asked for, message by message, or one summary. */
import { isWindrowError, WindrowError } from "../errors.ts";
import { defined } from "../message/json.ts";
import { quoteText } from "../message/quote.ts";
import type { JsonObject } from "../message/message.ts";
import type { StoredRecordOf } from "../message/record.ts";
import { Turns } from "../turns.ts";
import { checkGiven, fromZero } from "../window/options.ts";
import { checkQuery, recallRange } from "../window/recall/query.ts";
import { answerTokens, Recalling } from "../window/recall/recall.ts";
import type { CountedLimits, Recalled, RecallLimits, RecallQuery } from "../window/recall/query.ts";
import { recallId } from "../window/stub/stub.ts";
import { recallNotice } from "../window/stub/recalled.ts";
import type { SessionContext } from "./context.ts";
import { recordsOf } from "./log.ts";
import type { SessionPlace } from "./log.ts";

/** A summary as the log has it. */
type SummaryRecord = StoredRecordOf<"summary">;

/** Characters of a query that its record keeps at most. */
const keptCharacters = 1_024;

/** Options of {@link Session.recall}; `budget` is by default that of the last window. */
export type RecallOptions = Pick<RecallLimits, "maxTokens" | "budget">;

/**
 * Brings back messages of a session; `s3` is its third summary, with the ids of the summaries it was made of. A record says
 * what was asked and which messages came back, or that there are none; if it cannot be written, an event says so.
 *
 * @param length - messages in the log
 * @throws WindrowError `not-found`, `bad-option`, `aborted`
 */
export async function recallOnRecord(
  context: SessionContext,
  length: number,
  query: RecallQuery,
  options: RecallOptions,
  signal?: AbortSignal,
): Promise<Recalled> {
  checkQuery(query);
  checkGiven("recall", options, { maxTokens: fromZero, budget: fromZero });
  const { counter, mask, recallTools } = context.composer;
  const limits = {
    ...defined({ recallTools, ...options, budget: options.budget ?? context.meter.numbers?.budget ?? context.budget }),
    counter,
    mask,
  };
  const record = async (outcome: JsonObject): Promise<void> => {
    const asked = defined({ ...query, query: query.query?.slice(0, keptCharacters).toWellFormed() });
    const timestamp = context.now().toISOString();
    const line = { kind: "edit", type: "recall", data: { ...asked, ...outcome }, timestamp } as const;
    // The writer tells of a refusal, and the answer needs no record.
    await context.inTurn(() => context.write([line])).catch(() => undefined);
  };
  try {
    const found = await recallFrom(context, length, query, limits, signal);
    await record({ tokens: found.tokens, seqs: found.seqs, more: found.more });
    return found;
  } catch (error) {
    if (isWindrowError(error, "not-found")) await record({ error: error.code });
    throw error;
  }
}

/** Gives the event loop turns while it reads. */
async function recallFrom(
  log: SessionPlace,
  length: number,
  query: RecallQuery,
  limits: CountedLimits,
  signal?: AbortSignal,
): Promise<Recalled> {
  if (signal?.aborted) throw new WindrowError("aborted", "The recall was aborted before anything was read.");
  const number = summaryNumber(query.id);
  if (number !== undefined) return recallSummary(log, number, limits);
  const range = recallRange(query, length);
  const title = query.id !== undefined && range.to > range.from ? await summaryTitle(log, range) : "";
  const taken = title === "" ? 0 : limits.counter.count(title) + 1;
  const maxTokens = Math.max(1, answerTokens(limits) - taken);
  const recalling = new Recalling(query, range, { ...limits, maxTokens });
  const turns = new Turns(signal);
  const { store, scope, id } = log;
  const read = { kind: "message", originals: true, from: recalling.first, to: range.to } as const;
  for await (const numbered of store.read(scope, id, read)) {
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
async function recallSummary(log: SessionPlace, number: number, limits: CountedLimits): Promise<Recalled> {
  const all = await summariesOf(log);
  const found = all.find(({ seq }) => seq === number);
  if (!found) throw new WindrowError("not-found", `There is no summary s${number}.`, { id: `s${number}` });
  const text = [recallNotice(answerTokens(limits)), titleOf(found, all), quoteText(found.summary)].join("\n");
  return { text, tokens: limits.counter.count(text), seqs: [], more: false };
}

/** The line of the newest summary that stands for exactly this range, where it is made of others; else empty. */
async function summaryTitle(
  log: SessionPlace,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<string> {
  const all = await summariesOf(log);
  const found = all.findLast((record) => fromOf(record) === from && toOf(record) === to);
  return found ? titleOf(found, all) : "";
}

function summariesOf(log: SessionPlace): Promise<readonly SummaryRecord[]> {
  return recordsOf(log, { kind: "summary", originals: true });
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
