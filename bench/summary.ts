/**
 * What of a long conversation a question finds in the window: evidence recall on LoCoMo (../shared/data/open/locomo), for
 * the newest messages, for an extract of the older ones beside the newest, and for recall by the question's words.
 */
import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { fillByRank, LexicalIndex, shownMessage } from "../src/memory/lexical.ts";
import type { NumberedMessage } from "../src/message/step.ts";
import type { TokenCounter } from "../src/tokens/counter.ts";
import { loadCounter } from "../src/tokens/exact.ts";
import { defaultMask } from "../src/window/stub/cut.ts";
import { extractSummary } from "../src/window/summary/extract.ts";
import type { BenchReport, BenchRow } from "./bench.ts";

const file = "../shared/data/open/locomo/conversations.jsonl.gz";
const budgets = [2_000, 4_000, 8_000];
/** Share of the budget that the extract gets beside the newest messages. */
const extractShare = 0.5;
/** Candidates that recall weighs for one question. */
const mostHits = 400;

interface Conversation {
  readonly messages: readonly {
    readonly id: string;
    readonly role: "user" | "assistant";
    readonly speaker: string;
    readonly content: string;
  }[];
  readonly questions: readonly { readonly q: string; readonly evidence: readonly string[] }[];
}

/** A conversation made ready: its messages as a window shows them. */
interface Told {
  readonly messages: readonly NumberedMessage[];
  readonly shown: readonly string[];
  readonly index: LexicalIndex;
  readonly questions: readonly { readonly q: string; readonly evidence: readonly number[] }[];
}

/** One row a budget: mean share of a question's evidence messages that stand in the window, in per cent. */
export async function benchSummary(): Promise<BenchReport> {
  if (!existsSync(file)) return { name: "summary", rows: [], note: `${file} is absent; nothing was measured.` };
  const counter = await loadCounter("o200k");
  const lines = gunzipSync(readFileSync(file)).toString().trim().split("\n");
  const conversations = lines.map((line) => tell(JSON.parse(line) as Conversation));
  const rows = budgets.map((budget) => row(budget, conversations, counter));
  return {
    name: "summary",
    rows,
    note:
      "LoCoMo, evidence recall in %; tokens by o200k, each message with a label. An extracted message counts `whole` when " +
      "all of it is there, `half` when at least half of its text is. Goals with the question known: 84 / 89 / 93.",
  };
}

function row(budget: number, conversations: readonly Told[], counter: TokenCounter): BenchRow {
  const shares = { "recency": [], "extract whole": [], "extract half": [], "recall by query": [] } as Record<
    string,
    number[]
  >;
  let extracting = 0;
  let searching = 0;
  for (const { messages, shown, index, questions } of conversations) {
    const recent = newest(shown, budget, counter);
    const beside = newest(shown, budget * (1 - extractShare), counter);
    const older = messages.slice(0, messages.length - beside.size);
    const started = performance.now();
    const { sentences } = extractSummary(older, budget * extractShare, counter);
    extracting += performance.now() - started;
    const parts = new Map<number, number>();
    for (const { seq, text } of sentences) parts.set(seq, (parts.get(seq) ?? 0) + text.length);
    const holds = (seq: number, share: number): boolean => {
      const length = (shown[seq - 1] ?? "").length;
      return beside.has(seq) || (parts.get(seq) ?? 0) >= share * (length - headLength(seq, messages));
    };
    for (const { q, evidence } of questions) {
      const asked = performance.now();
      const hits = index.search(q, mostHits);
      const taken = fillByRank(
        hits.map(({ seq }) => ({ seq, text: shown[seq - 1] ?? "" })),
        budget,
        counter,
      );
      searching += performance.now() - asked;
      const recalled = new Set(taken.map(({ seq }) => seq));
      const add = (name: string, present: (seq: number) => boolean): void => {
        shares[name]?.push(evidence.filter(present).length / evidence.length);
      };
      add("recency", (seq) => recent.has(seq));
      add("extract whole", (seq) => holds(seq, 0.9));
      add("extract half", (seq) => holds(seq, 0.5));
      add("recall by query", (seq) => recalled.has(seq));
    }
  }
  const questions = shares["recency"]?.length ?? 0;
  const columns = Object.entries(shares).map(([name, values]) => [`${name} %`, mean(values)] as const);
  return {
    "budget": budget,
    "questions": questions,
    ...Object.fromEntries(columns),
    "ms per extract": Math.round(extracting / conversations.length),
    "ms per recall": Number((searching / questions).toFixed(2)),
  };
}

function tell({ messages, questions }: Conversation): Told {
  const index = new LexicalIndex();
  const told = messages.map(({ id, role, speaker, content }, at): NumberedMessage => {
    const message = { id, role, parts: [{ type: "text" as const, text: `${speaker}: ${content}` }] };
    index.add("", at + 1, message);
    return { seq: at + 1, message };
  });
  const places = new Map(messages.map(({ id }, at) => [id, at + 1]));
  return {
    messages: told,
    shown: told.map(({ seq, message }) => shownMessage("", seq, message, defaultMask)),
    index,
    questions: questions.map(({ q, evidence }) => ({ q, evidence: evidence.flatMap((id) => places.get(id) ?? []) })),
  };
}

/** The newest messages that fit, by `seq`. */
function newest(shown: readonly string[], budget: number, counter: TokenCounter): ReadonlySet<number> {
  const kept = new Set<number>();
  let left = budget;
  for (let seq = shown.length; seq > 0; seq--) {
    left -= counter.count(shown[seq - 1] ?? "") + 1;
    if (left < 0) break;
    kept.add(seq);
  }
  return kept;
}

function headLength(seq: number, messages: readonly NumberedMessage[]): number {
  return `[m${seq} ${messages[seq - 1]?.message.role ?? ""}] `.length;
}

function mean(values: readonly number[]): number {
  return Number(((100 * values.reduce((sum, value) => sum + value, 0)) / Math.max(1, values.length)).toFixed(1));
}
