/** The coverage of a log by a window: checks that summaries leave no gap and do not overlap. */
import { WindrowError } from "../../errors.ts";
import { recallId } from "../stub/stub.ts";
import type { Summary } from "./summary.ts";

/** The log and the summaries of a window. */
export interface CoverageInput {
  /** Messages in the log. */
  readonly length: number;
  /** The messages that stand in the window as themselves, whole or with results cut to stubs, by `seq`. */
  readonly verbatim: Iterable<number>;
  /** The summaries that stand in the window. */
  readonly summaries: readonly Pick<Summary, "from" | "to" | "kept">[];
  /** Stretches that left for another reason. */
  readonly dropped: readonly { readonly from: number; readonly to: number; readonly reason: string }[];
}

/** A stretch of the log that is not covered as it should be. */
export interface CoverageFault {
  readonly from: number;
  readonly to: number;
  /** `lost`: nothing stands for it; `twice`: more than one thing does; `no-reason`: it was dropped and nobody says why. */
  readonly problem: "lost" | "twice" | "no-reason";
  readonly message: string;
}

/** Every message counted once, and what is wrong. */
export interface Coverage {
  readonly verbatim: number;
  readonly summarised: number;
  readonly dropped: number;
  /** Empty for a good window. */
  readonly faults: readonly CoverageFault[];
}

/** Checks that every message is verbatim, under exactly one live summary, or dropped with a reason. */
export function coverageOf(input: CoverageInput): Coverage {
  if (!Number.isSafeInteger(input?.length) || ![input.summaries, input.dropped].every(Array.isArray)) {
    throw new WindrowError(
      "bad-option",
      "coverageOf takes { length, verbatim, summaries, dropped }, as its type says.",
    );
  }
  const { length, verbatim, summaries, dropped } = input;
  const times = new Uint8Array(length + 1);
  const named = new Uint8Array(length + 1).fill(1);
  const counts = { verbatim: 0, summarised: 0, dropped: 0 };
  const mark = (what: keyof typeof counts, seq: number): void => {
    if (seq < 1 || seq > length) return;
    times[seq] = Math.min(2, (times[seq] ?? 0) + 1);
    counts[what]++;
  };
  for (const seq of new Set(verbatim)) mark("verbatim", seq);
  for (const { from, to, kept } of summaries) {
    const out = new Set(kept);
    for (let seq = from; seq <= to; seq++) if (!out.has(seq)) mark("summarised", seq);
  }
  for (const { from, to, reason } of dropped) {
    for (let seq = from; seq <= to; seq++) {
      mark("dropped", seq);
      if (reason.trim() === "") named[seq] = 0;
    }
  }
  return { ...counts, faults: faultsOf(length, (seq) => problemOf(times[seq] ?? 0, named[seq] === 1)) };
}

function problemOf(times: number, named: boolean): CoverageFault["problem"] | undefined {
  if (times === 0) return "lost";
  if (times > 1) return "twice";
  return named ? undefined : "no-reason";
}

const explanations: Readonly<Record<CoverageFault["problem"], string>> = {
  "lost": "stands neither in the window nor under a summary, and was not dropped",
  "twice": "is accounted for more than once",
  "no-reason": "was dropped without a reason",
};

function faultsOf(
  length: number,
  problemAt: (seq: number) => CoverageFault["problem"] | undefined,
): readonly CoverageFault[] {
  const faults: CoverageFault[] = [];
  for (let seq = 1; seq <= length; seq++) {
    const problem = problemAt(seq);
    if (problem === undefined) continue;
    const last = faults.at(-1);
    const from = last?.problem === problem && last.to === seq - 1 ? last.from : seq;
    if (last && from !== seq) faults.pop();
    faults.push({ from, to: seq, problem, message: `${recallId(from, seq)} ${explanations[problem]}.` });
  }
  return faults;
}
