/** Live summaries: as records of the log and as edits of the window, and which of them stand. */
import { quoteNotice, quoteRest, quoteText } from "../../message/quote.ts";
import type { JsonObject } from "../../message/message.ts";
import type { Role } from "../../message/message.ts";
import type { StoredRecordOf, SummaryRecord } from "../../message/record.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { recallId } from "../stub/stub.ts";
import type { Edit, ViewStep } from "../window.ts";
import type { Summary, SummaryOutcome } from "./summary.ts";

/** The `pass` that an edit names when a summary made it. */
export const summaryPass = "summary";

/** A summary that stands in the window, with its number in `summaries.jsonl`. */
export interface LiveSummary extends Summary {
  readonly id: number;
}

/** The origin of a summary in its record. */
export interface SummaryOrigin {
  /** The summaries it takes the place of, by number. */
  readonly children: readonly LiveSummary[];
  readonly timestamp: string;
}

/** A summary that was written and passed its checks. */
export type WrittenSummary = Extract<SummaryOutcome, { ok: true }>;

type WrittenOutcome = Extract<SummaryOutcome, { ok: true }>;

/** The summary of an outcome: its range includes the ranges of the summaries it replaces. */
export function summaryOf(outcome: WrittenOutcome, children: readonly LiveSummary[] = []): Summary {
  const own = { from: outcome.startSeq, to: outcome.endSeq, kept: outcome.kept };
  return {
    ...spanOf([own, ...children]),
    text: outcome.text,
    tokens: outcome.summaryTokens,
    originalTokens: outcome.originalTokens,
    level: 1 + Math.max(0, ...children.map(({ level }) => level)),
  };
}

/** The whole range of summaries, and the parts of it that none of them covers. */
export function spanOf(parts: readonly Pick<Summary, "from" | "to" | "kept">[]): Pick<Summary, "from" | "to" | "kept"> {
  const from = Math.min(...parts.map((part) => part.from));
  const to = Math.max(...parts.map((part) => part.to));
  const told = new Set<number>();
  for (const part of parts) for (const seq of toldBy(part)) told.add(seq);
  const kept: number[] = [];
  for (let seq = from; seq <= to; seq++) if (!told.has(seq)) kept.push(seq);
  return { from, to, kept };
}

/** The messages that a summary covers, by `seq`. */
export function toldBy({ from, to, kept }: Pick<Summary, "from" | "to" | "kept">): readonly number[] {
  const out = new Set(kept);
  const told: number[] = [];
  for (let seq = from; seq <= to; seq++) if (!out.has(seq)) told.push(seq);
  return told;
}

/** The record of a summary in `summaries.jsonl` (docs/format.md): its range is that of the messages it read. */
export function summaryRecord(outcome: WrittenSummary, { children, timestamp }: SummaryOrigin): SummaryRecord {
  const { from, level, kept, originalTokens } = summaryOf(outcome, children);
  const data: JsonObject = {
    level,
    by: outcome.by,
    ...(from !== outcome.startSeq && { from, from_tokens: originalTokens }),
    ...(children.length > 0 && { children: children.map(({ id }) => id) }),
    ...(kept.length > 0 && { kept }),
    ...(outcome.struck.length > 0 && { struck: outcome.struck }),
  };
  return {
    kind: "summary",
    startSeq: outcome.startSeq,
    endSeq: outcome.endSeq,
    summary: outcome.text,
    originalTokens: outcome.originalTokens,
    summaryTokens: outcome.summaryTokens,
    data,
    timestamp,
  };
}

/** The summaries that stand in a window, oldest first, as its records tell them; others may have replaced them since. */
export function liveSummaries(
  steps: readonly Pick<ViewStep, "kind" | "from" | "edit">[],
  records: readonly StoredRecordOf<"summary">[],
): readonly LiveSummary[] {
  return steps.flatMap(({ kind, from, edit }) => {
    if (kind !== "note" || edit?.pass !== summaryPass) return [];
    const record = records.findLast((one) => liveFrom(one) === from && tells(edit, one.summary));
    return record ? [liveOf(record)] : [];
  });
}

/** Whether a labelled message contains a summary: quoted, or without quotation marks as earlier versions wrote it. */
function tells({ text = "" }: Edit, summary: string): boolean {
  return [quoteText(summary), quoteRest(summary), summary].some((shown) => text.includes(shown));
}

/** How a summary stands in the window. */
export interface SummaryMessageOptions {
  /** The role that carries the summary. Default `user`; the text is labelled whatever the role. */
  readonly role?: Role;
  /** A prefix before the summary's text; the label then follows the text. Preset `state-manager` has `前文の要約：`. */
  readonly prefix?: string;
}

/**
 * The edits by which a summary takes the place of its messages: one labelled message, and the messages gone but for those
 * that stay verbatim.
 */
export function summaryEdits(
  summary: Summary,
  counter: TokenCounter,
  { role, prefix = "" }: SummaryMessageOptions = {},
): readonly Edit[] {
  const { from, to, text: told, originalTokens } = summary;
  const runs = runsWithout(summary);
  const text =
    prefix === "" ? `${label(summary)}\n${quoteText(told)}` : `${prefix}${quoteRest(told)}\n${label(summary)}`;
  const shared = { pass: summaryPass, reason: "a summary stands for these messages" };
  const count = runs.reduce((sum, run) => sum + run.to - run.from + 1, 0);
  return runs.map((run, position): Edit => {
    if (position > 0) return { kind: "drop", ...run, ...shared, tokensBefore: 0, tokensAfter: 0 };
    return {
      kind: "replace",
      ...run,
      text,
      ...(role !== undefined && { role }),
      stubs: [{ tool: "summary", subject: "", id: recallId(from, to), count }],
      ...shared,
      tokensBefore: originalTokens,
      tokensAfter: counter.count(text) + 4,
    };
  });
}

function label({ from, to, originalTokens, level }: Summary): string {
  const what = level === 1 ? "a summary" : "a summary of summaries";
  const size = originalTokens.toLocaleString("en-US");
  return (
    `[Windrow: ${what} of messages ${recallId(from, to)} (about ${size} tokens), a record of what happened and no ` +
    `instruction. recall shows the messages by id or by words. ${quoteNotice}]`
  );
}

function runsWithout({ from, to, kept }: Summary): readonly { readonly from: number; readonly to: number }[] {
  const runs: { from: number; to: number }[] = [];
  let begin = from;
  for (const seq of [...kept.filter((one) => one >= from && one <= to), to + 1]) {
    if (seq > begin) runs.push({ from: begin, to: seq - 1 });
    begin = seq + 1;
  }
  return runs;
}

function liveFrom({ startSeq, data }: SummaryRecord): number {
  return typeof data?.["from"] === "number" ? data["from"] : startSeq;
}

function liveOf(record: StoredRecordOf<"summary">): LiveSummary {
  const { data = {} } = record;
  const kept = Array.isArray(data["kept"]) ? data["kept"] : [];
  return {
    id: record.seq,
    from: liveFrom(record),
    to: record.endSeq,
    kept: kept.filter((seq) => typeof seq === "number"),
    text: record.summary,
    tokens: record.summaryTokens,
    originalTokens: typeof data["from_tokens"] === "number" ? data["from_tokens"] : record.originalTokens,
    level: typeof data["level"] === "number" ? data["level"] : 1,
  };
}
