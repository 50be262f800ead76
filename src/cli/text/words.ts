/** The words of what commands print for people: the contract that each language's file fulfils. */
import type { GoalName } from "../../ops/stats/goals.ts";

/** Labels and phrases of one language. Values of fields (statuses, names of tools) stay as they are in every language. */
export interface Words {
  /** Milliseconds: `15 min 23 s`, `15分23秒`. */
  readonly duration: (milliseconds: number) => string;
  /** Texts of `windrow view`. */
  readonly view: {
    readonly uuid: string;
    readonly status: string;
    readonly repository: string;
    readonly task: string;
    readonly started: string;
    readonly completed: string;
    readonly notYet: string;
    readonly duration: string;
    readonly soFar: (duration: string) => string;
    readonly location: string;
    readonly error: string;
    readonly damaged: string;
    readonly damagedSpans: (spans: string) => string;
    readonly missing: string;
    readonly missingRecords: (records: string) => string;
    readonly inDoubt: string;
    readonly inDoubtWhy: (calls: string, running: boolean) => string;
    readonly since: (time: string) => string;
    readonly statistics: string;
    readonly llmCalls: string;
    readonly toolCalls: string;
    readonly totalTokens: string;
    readonly compressions: string;
    readonly messages: string;
    readonly summaries: string;
    readonly tools: string;
    readonly epochs: string;
    readonly showingLast: (count: string) => string;
    readonly success: string;
    readonly failure: string;
    readonly epoch: (reason: string, message: number, before: string, after: string, edits: string) => string;
    readonly noEdits: string;
    readonly window: string;
    readonly windowSize: (messages: string, tokens: string, budget: string | undefined, epoch: number) => string;
    readonly opensEpoch: (reason: string) => string;
    readonly notCounted: (what: string) => string;
  };
  /** Texts of `windrow stats`. */
  readonly stats: {
    readonly title: string;
    readonly filter: string;
    readonly total: string;
    readonly running: string;
    readonly completed: string;
    readonly disk: string;
    readonly noDisk: string;
    readonly compressed: (size: string) => string;
    readonly perTask: string;
    readonly largest: string;
    readonly byDay: string;
    readonly byMonth: string;
    readonly sessions: (count: string) => string;
    readonly average: string;
    readonly messages: string;
    readonly tokens: string;
    readonly duration: string;
    readonly compressions: string;
    readonly byUser: string;
    readonly noUser: string;
    readonly tasks: (count: string, percent: string) => string;
    readonly userTokens: (tokens: string) => string;
    readonly userDuration: (duration: string) => string;
    readonly more: (count: string) => string;
    readonly results: string;
    readonly failedShare: string;
    readonly summarySuccess: string;
    readonly of: (part: string, whole: string) => string;
    readonly goals: string;
    readonly goalNames: Readonly<Record<GoalName, string>>;
    readonly target: (target: string) => string;
    readonly met: string;
    readonly missed: string;
    readonly unknown: Readonly<Record<GoalName, string>>;
  };
  /** Texts of `windrow top`. */
  readonly top: {
    readonly head: readonly string[];
    readonly totals: (running: string, tokens: string, time: string) => string;
    readonly none: string;
    readonly more: (count: string) => string;
    readonly holders: Readonly<Record<"held" | "gone" | "none", string>>;
    readonly ago: (duration: string) => string;
  };
  /** Texts of `windrow doctor`. */
  readonly doctor: {
    readonly states: Readonly<Record<"notice" | "mended" | "damage", string>>;
    readonly keptAs: (path: string) => string;
    readonly place: (offset: number, length: number | undefined) => string;
    readonly more: (count: string) => string;
    readonly before: string;
    readonly after: string;
    /** Mending took nothing away, and nothing was missing before. */
    readonly nothingLost: string;
    readonly lost: string;
    /** Records that were missing before anything was mended. */
    readonly records: (count: string) => string;
    /** The last line: damage that is open, by what helps. */
    readonly open: (open: string, toMend: string, toRestore: string, byHand: string) => string;
    /** Advice against each; `command` is one to copy. */
    readonly runMend: (command: string) => string;
    readonly beingWritten: (command: string) => string;
    readonly runRestore: (command: string) => string;
    readonly byHand: string;
    readonly noDamage: string;
    readonly nothingWrong: string;
    readonly counted: (sessions: string, records: string, good: string, bad: string) => string;
  };
}
