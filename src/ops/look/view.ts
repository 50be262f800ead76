/** One session as its store has it: state, messages, tool runs, epochs. Nothing is locked and nothing written. */
import type { JsonObject } from "../../message/message.ts";
import type { Recovered, Scope, SessionStatus, Store } from "../../store/store.ts";
import { outlineOf } from "../../window/epoch/record.ts";
import type { StoredWindowOptions, WindowPreview } from "./compose.ts";
import { findSession } from "./find.ts";
import { readMessages } from "./messages.ts";
import type { MessageRange, ViewedMessage } from "./messages.ts";
import { Newest } from "./newest.ts";
import type { Shown } from "./newest.ts";
import { spentBy } from "./spent.ts";
import type { Spent } from "./spent.ts";
import { modelOf } from "./model.ts";
import { sessionTitle } from "./title.ts";
import { viewTools } from "./tools.ts";
import type { ViewedTool } from "./tools.ts";
import { SentReader } from "../../window/sent.ts";
import type { SentChange } from "../../window/sent.ts";
import { defined } from "../../message/json.ts";
import { openCalls } from "../../session/log.ts";
import type { OpenCall } from "../../session/log.ts";

export type { MessageRange, ViewedMessage } from "./messages.ts";
export type { Shown } from "./newest.ts";
export type { ViewedTool } from "./tools.ts";

/** Which parts of a session to look at beside what it is; `last` limits lists to the newest. */
export interface ViewOptions {
  /** The newest 10, or all with `last: Infinity`. Default true. */
  readonly messages?: boolean;
  readonly tools?: boolean;
  readonly epochs?: boolean;
  /** The window for the next call, with settings that differ from the session's own. */
  readonly window?: boolean | StoredWindowOptions;
  /** Most messages, tool runs and epochs to show. Default 10. */
  readonly last?: number;
  /** Only these messages, by their numbers, with all their parts; then `last` does not count for them. */
  readonly only?: MessageRange;
}

/** A summary, as its line has it; its text whole. */
export interface ViewedSummary {
  readonly id: number;
  readonly from: number;
  readonly to: number;
  readonly originalTokens: number;
  readonly summaryTokens: number;
  /** `summaryTokens / originalTokens`, to three decimals. */
  readonly compressionRatio: number;
  readonly timestamp: string;
  readonly summary: string;
}

/** An epoch of the window. */
export interface ViewedEpoch {
  readonly epoch: number;
  readonly reason: string;
  readonly timestamp: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The edits in force, by pass. */
  readonly edits: Readonly<Record<string, number>>;
  /** The newest message when it opened. */
  readonly opened: number;
  readonly prefixHash: string;
  /** The difference in the system prompt or the tools from the epoch before, where both are on disk. */
  readonly changed?: SentChange;
}

/** A session, seen from outside. */
export interface SessionView {
  readonly id: string;
  readonly status: SessionStatus;
  /** As `github/owner/repo`, where the task key names it. */
  readonly repository: string | null;
  /** As `issue #27`, where the task key names it. */
  readonly task: string | null;
  /** The task as `windrow top` names it: its key's values, or a gateway's client and its user's words; empty for none. */
  readonly taskName: string;
  readonly taskKey: JsonObject;
  readonly config: JsonObject;
  /** The model of its settings, else of its newest call; null where neither names one. */
  readonly model: string | null;
  /** The settings by which its windows are composed; null where the metadata name none. */
  readonly strategy: string | null;
  readonly profile: string | null;
  /** Tokens a window may have. */
  readonly budget: number | null;
  readonly user: string | null;
  readonly location: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly completedAt: string | null;
  /** From its start to its end, or to its last sign of life. */
  readonly durationMs: number;
  readonly error: string | null;
  readonly statistics: {
    readonly llmCalls: number;
    readonly toolCalls: number;
    readonly totalTokens: number;
    readonly compressions: number;
    readonly epochs: number;
    readonly messages: number;
    /** Tokens of the messages, as they were counted when they were appended. */
    readonly historyTokens: number;
    readonly summaries: number;
  };
  /** The usage that its model calls reported, and their price. */
  readonly usage: Spent;
  /** Tool runs without a recorded end: running still, or in doubt because their process died. Never run again. */
  readonly openCalls: readonly OpenCall[];
  /** Damaged spans of the log that were skipped. */
  readonly damage: readonly Recovered[];
  readonly messages?: Shown<ViewedMessage>;
  readonly summaries: Shown<ViewedSummary>;
  readonly tools?: Shown<ViewedTool>;
  readonly epochs?: Shown<ViewedEpoch>;
  readonly window?: WindowPreview;
}

/**
 * Looks at a session: one that another process is writing, one that was closed, one that has ended.
 *
 * @param name - its id, at least the first four characters, or `latest`
 * @throws WindrowError `session-not-found`, `bad-option`; of the window, what `composeStored` throws
 */
export async function viewSession(
  store: Store,
  scope: Scope,
  name: string,
  options: ViewOptions = {},
): Promise<SessionView> {
  const session = await findSession(store, scope, name);
  const { uuid: id, taskKey, config, user } = session.metadata;
  const { state } = session;
  const { messages = true, tools = false, epochs = false, window = false, last = 10, only } = options;
  const log = await readMessages(store, scope, id, only ?? { last: messages ? last : 0 });
  const summaries = await viewSummaries(store, scope, id, last);
  const view = {
    id,
    status: state.status,
    repository: repositoryOf(taskKey),
    task: taskOf(taskKey),
    taskName: await sessionTitle(store, scope, session.metadata),
    taskKey,
    config,
    ...settingsIn(config),
    model: await modelOf(store, scope, session.metadata),
    user: user ?? null,
    location: session.location,
    startedAt: state.startedAt,
    completedAt: state.completedAt,
    durationMs: Math.max(0, Date.parse(state.completedAt ?? state.updatedAt) - Date.parse(state.startedAt)),
    error: state.error,
    statistics: {
      llmCalls: state.llmCallCount,
      toolCalls: state.toolCallCount,
      totalTokens: state.totalTokensUsed,
      compressions: state.compressionCount,
      epochs: state.epochCount,
      messages: log.total,
      historyTokens: log.historyTokens,
      summaries: summaries.total,
    },
    usage: await spentBy(store, scope, session),
    openCalls: await openCalls({ store, scope, id }),
    summaries,
    ...((messages || only) && { messages: { total: log.total, shown: log.shown } }),
    ...(tools && { tools: await viewTools(store, scope, id, last) }),
    ...(epochs && { epochs: await viewEpochs(store, scope, id, last) }),
    ...(window !== false && {
      // Loaded on demand: composing takes the strategies, and most looks at a session do without them.
      window: await (await import("./compose.ts")).composeStored(store, scope, session, window === true ? {} : window),
    }),
  };
  return { ...view, damage: await store.recovery(scope, id) };
}

function settingsIn({ strategy, profile, budget }: JsonObject): Pick<SessionView, "strategy" | "profile" | "budget"> {
  return {
    strategy: typeof strategy === "string" ? strategy : null,
    profile: typeof profile === "string" ? profile : null,
    budget: typeof budget === "number" ? budget : null,
  };
}

async function viewSummaries(store: Store, scope: Scope, id: string, last: number): Promise<Shown<ViewedSummary>> {
  const shown: ViewedSummary[] = [];
  const query = { kind: "summary", ...(Number.isFinite(last) && { last }) } as const;
  for await (const record of store.read(scope, id, query)) {
    const { seq, startSeq: from, endSeq: to, originalTokens, summaryTokens, timestamp, summary } = record;
    const compressionRatio = ratioOf(summaryTokens, originalTokens);
    shown.push({ id: seq, from, to, originalTokens, summaryTokens, compressionRatio, timestamp, summary });
  }
  return { total: shown.at(-1)?.id ?? 0, shown };
}

async function viewEpochs(store: Store, scope: Scope, id: string, last: number): Promise<Shown<ViewedEpoch>> {
  const epochs = new Newest<ViewedEpoch>(last);
  const sent = new SentReader();
  for await (const record of store.read(scope, id, { kind: "edit" })) {
    const { type, data, timestamp } = record;
    const found = type === "epoch" ? outlineOf(data) : undefined;
    const changed = found ? sent.change(found) : sent.take(record);
    // The line of epoch 0 records the first window: nothing was rewritten.
    if (!found || found.state.epoch === 0) continue;
    const edits: Record<string, number> = {};
    for (const { pass } of found.state.edits) edits[pass] = (edits[pass] ?? 0) + 1;
    const { epoch, opened, prefixHash } = found.state;
    const [tokensBefore, tokensAfter] = [Number(data["tokens_before"]), Number(data["tokens_after"])];
    const reason = typeof data["reason"] === "string" ? data["reason"] : "";
    const about = { epoch, reason, timestamp, tokensBefore, tokensAfter, edits, opened, prefixHash };
    epochs.add({ ...about, ...defined({ changed }) });
  }
  return epochs.shown();
}

/** The fields of a task key: task_source, owner, repo, task_type, task_id. */
function repositoryOf(taskKey: JsonObject): string | null {
  const names = [taskKey["task_source"], taskKey["owner"], taskKey["repo"]].filter(isName);
  return names.length > 0 ? names.join("/") : null;
}

function taskOf(taskKey: JsonObject): string | null {
  const { task_type: type, task_id: id } = taskKey;
  const names = [...(isName(type) ? [type] : []), ...(isName(id) ? [`#${id}`] : [])];
  return names.length > 0 ? names.join(" ") : null;
}

function isName(value: unknown): value is string | number {
  return typeof value === "number" || (typeof value === "string" && value !== "");
}

/** `part / whole` to three decimals; 0 for a whole of 0. */
function ratioOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Number((part / whole).toFixed(3));
}
