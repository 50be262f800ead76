/** The words of what commands print for people: the contract that each language's file fulfils. */
import type { GoalName } from "../../ops/stats/goals.ts";

/** Labels and phrases of one language. Values of fields (statuses, names of tools) stay as they are in every language. */
export interface Words {
  /** Milliseconds: `15 min 23 s`, `15分23秒`. */
  readonly duration: (milliseconds: number) => string;
  /** Texts of `windrow view`. */
  readonly view: {
    readonly session: string;
    readonly status: string;
    readonly model: string;
    readonly strategy: string;
    readonly profile: (name: string) => string;
    readonly budget: (tokens: string) => string;
    readonly task: string;
    readonly user: string;
    readonly started: string;
    readonly ended: string;
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
    readonly modelCalls: string;
    readonly toolCalls: string;
    readonly historyTokens: string;
    readonly usage: string;
    readonly messages: string;
    readonly summaries: string;
    readonly tools: string;
    readonly epochs: string;
    readonly showingLast: (count: string) => string;
    readonly success: string;
    readonly failure: string;
    /** The end of a tool call whose result no message holds. */
    readonly noResult: string;
    readonly epoch: (reason: string, message: number, before: string, after: string, edits: string) => string;
    readonly noEdits: string;
    readonly window: string;
    readonly windowSize: (messages: string, tokens: string, budget: string | undefined, epoch: number) => string;
    readonly opensEpoch: (reason: string) => string;
    readonly notCounted: (what: string) => string;
  };
  /** Tokens and money of model calls. */
  readonly usage: {
    /** No call reports any. */
    readonly none: string;
    readonly input: (tokens: string, cached: string) => string;
    readonly output: (tokens: string) => string;
    /** Calls that are not in the money, by their models; `models` is empty where none has a name. */
    readonly unpriced: (calls: string, models: string) => string;
  };
  /** Texts of `windrow view --layout coding-agent` that differ. */
  readonly codingAgentView: {
    readonly uuid: string;
    readonly repository: string;
    readonly completed: string;
    readonly llmCalls: string;
    readonly totalTokens: string;
    readonly compressions: string;
  };
  /** Texts of `windrow stats`. */
  readonly stats: {
    readonly sessions: string;
    /** How sessions stand that have not ended; the others have the names of their statuses. */
    readonly standings: Readonly<Record<"running" | "died" | "closed", string>>;
    readonly disk: string;
    readonly perSession: string;
    readonly sessionCount: (count: string) => string;
    readonly average: string;
    readonly historyTokens: string;
    readonly modelCalls: string;
    readonly toolCalls: string;
    readonly epochs: string;
    readonly summaries: string;
    readonly usage: string;
    readonly input: string;
    readonly cached: (share: string) => string;
    readonly output: string;
    readonly money: string;
    readonly listPrices: string;
    /** The sessions whose usage or price is not known, in one line. */
    readonly memories: string;
    readonly due: (due: string, failing: string | undefined) => string;
    readonly lacking: (withoutUsage: string | undefined, unpriced: string | undefined, models: string) => string;
    readonly userSessions: (count: string, percent: string) => string;
    readonly userTokens: (tokens: string) => string;
  };
  /** Texts of `windrow stats --layout coding-agent`. */
  readonly codingAgentStats: {
    readonly title: string;
    readonly filter: string;
    readonly total: string;
    readonly running: string;
    readonly closed: string;
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
    readonly totals: (
      running: string,
      died: string | undefined,
      closed: string | undefined,
      tokens: string,
      time: string,
    ) => string;
    readonly none: string;
    readonly more: (count: string) => string;
    /** Names of columns for which the terminal has no room. */
    readonly narrow: (names: string) => string;
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
    /** Mending took nothing away. */
    readonly nothingLost: string;
    readonly lost: string;
    /** Records that were missing before anything was mended. */
    readonly records: (count: string) => string;
    /** The last line: damage that is open, by what helps, and the command to run next. */
    readonly open: (
      open: string,
      toMend: string,
      toRestore: string,
      byHand: string,
      next: string | undefined,
    ) => string;
    /** Advice against each; `command` is one to copy. */
    readonly beingWritten: (command: string) => string;
    readonly runRestore: (command: string) => string;
    readonly byHand: string;
    readonly noDamage: string;
    readonly nothingWrong: string;
    readonly counted: (sessions: string, records: string, good: string, bad: string) => string;
  };
}
