/** The options of a SessionManager, and of the sessions it makes. */
import type { JsonObject } from "../../message/message.ts";
import type { Memory } from "../../memory/memory.ts";
import type { OffloadOptions } from "../../memory/offload/offload.ts";
import type { ModelLike } from "../../model/model.ts";
import type { Clock } from "../../store/shared/clock.ts";
import type { Config } from "../../config/config.ts";
import { sessionStatuses } from "../../store/statuses.ts";
import type { ArchiveBucket } from "../../store/shared/archive/bucket.ts";
import type { ListQuery, Store } from "../../store/store.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { ModelDescription } from "../../tokens/models.ts";
import type { Profile } from "../../window/provider/profile.ts";
import { aboveZero, anyOf, fromZero, having, kinds, listOf, oneOf, whole, withActions } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import type { Strategy, StrategyChoice } from "../../window/window.ts";
import type { Budget } from "../../window/options.ts";
import type { Listener } from "../events.ts";
import type { Originals } from "../log.ts";

/** How a manager is opened. */
export interface ManagerOptions {
  /** A folder, a URL (`file:`, `sqlite:`, `ram:`), or a Store. Default: the strategy's folder, else `./contexts`. */
  readonly store?: string | (Store & { readonly tenants?: false });
  /**
   * The archive of finished sessions (docs/retention.md): a folder, `s3://bucket/prefix`, or what `s3Archive` made. A session
   * that lies there is brought back when it is resumed. Default: none.
   */
  readonly archive?: string | ArchiveBucket;
  /** A name, a preset, `{ use, ...options }`, or a Strategy. Default `adaptive`. */
  readonly strategy?: string | Strategy | StrategyChoice;
  /** A known model's id, or `{ contextWindow, maxOutput, prices, profile }`. Sets the budget and the profile. */
  readonly model?: string | ModelDescription;
  /** Tokens a window may use, or `"auto"`. Default: the strategy's share of the model's contextWindow. */
  readonly budget?: Budget;
  /** Default: the model's, else `openai-chat`. */
  readonly profile?: string | Profile;
  /** Default: the strategy's, else `estimate`; `o200k` and `cl100k` are loaded (see `loadCounter`). */
  readonly counter?: string | TokenCounter;
  /** Most tokens one result may have when it is first shown; the rest of it is a recall away. Default: any number. */
  readonly ingestCap?: number;
  /**
   * Names of the tools with which the model recalls: a digest and recall itself show nothing of their calls and results.
   * Default `["recall"]`; an answer of recall is also known by its first line.
   */
  readonly recallTools?: readonly string[];
  /**
   * Whether the note in a window names its session, for a model whose recall reads a whole store, as that of `windrow mcp`.
   * Default: false.
   */
  readonly namesSession?: boolean;
  /** Writes summaries for strategies that make them. Default: none; such a strategy notes it and does the rest. */
  readonly summarizer?: ModelLike;
  /** Most tokens of a summary, for strategies that do not say it themselves. Default: an eighth of the budget, at most 2,000. */
  readonly maxSummaryTokens?: number;
  /**
   * Outlives sessions: receives a session's log when it ended in any way, and is queried when one begins with `bootstrap`.
   * It is handed over in the background, tried again where it failed, by whichever process looks next (docs/memory.md).
   * `store`: the sessions of the store itself, searched by words, in the manager's scope; nothing is handed over.
   */
  readonly memory?: Memory | "store";
  /** How sessions are handed to the memory. */
  readonly offload?: OffloadSettings;
  /** Most tokens of what a memory tells at the start. Default 1,000. */
  readonly maxBootstrapTokens?: number;
  /** Milliseconds a memory may take to tell it; the session then begins without. Default 5,000. */
  readonly bootstrapTimeout?: number;
  /** The place of it: a labelled slot before the history, or behind the system prompt. Default `slot`. */
  readonly bootstrapPlace?: "slot" | "system";
  /**
   * Whether `endStep` waits for a summary that is due (`blocking`), or the agent goes on meanwhile (`background`,
   * default). A background summary is committed only while its range still stands as it did.
   */
  readonly compaction?: "background" | "blocking";
  /**
   * Whether budgets are in tokens as the provider counts them, learnt from the usage that `endStep` is told. Default false:
   * in tokens of the counter.
   */
  readonly calibrate?: boolean;
  /**
   * Takes what is not given here from the configuration (docs/configuration.md): `true` finds it from the working folder
   * upwards, a path names the file. Default: nothing is looked for.
   */
  readonly config?: boolean | string | Config;
  /** On whose behalf: sessions of others do not exist for this manager. */
  readonly user?: string;
  readonly tenant?: string;
  /** The user sees every user's sessions; new ones are their own. Default false. */
  readonly admin?: boolean;
  /** Writes every access into the store's audit, or into this file (docs/access.md). Default false. */
  readonly audit?: boolean | string;
  /** Hears every event of the sessions. */
  readonly on?: Listener;
  /** The clock: a Date, or milliseconds since 1970. Default: the system's. */
  readonly now?: () => Date | number;
  /**
   * Milliseconds: a session that nothing touched for so long, and that has no tool running, is closed, with a
   * `session-closed` event; `session(id)` goes on with it. Default: never.
   */
  readonly idleTimeout?: number;
  /** Runs the search for idle sessions every so often. Default: a timer that does not keep the process alive. */
  readonly every?: Clock["every"];
}

/** How a manager hands sessions to its memory. */
export interface OffloadSettings extends Pick<OffloadOptions, "timeout" | "retryAfter" | "longestWait"> {
  /** Whether `finish` and `destroy` wait for it. Default false. */
  readonly wait?: boolean;
  /** Milliseconds between two looks for what is due, of other processes too. Default 60,000; `Infinity` for none. */
  readonly lookEvery?: number;
}

/** Options of {@link SessionManager.create}. */
export interface CreateOptions {
  /** The subject of the session, for people and statistics: any JSON object. Stored as `task_key` (docs/format.md). */
  readonly taskKey?: JsonObject;
  /** Further settings to keep in the metadata. */
  readonly config?: JsonObject;
  /** Asks the manager's memory about this text; what it knows stands in every window of the session. Default: nothing. */
  readonly bootstrap?: string;
  /** A UUID v4. Default: a new one. */
  readonly id?: string;
}

/** How a session is resumed. */
export interface ResumeOptions {
  /**
   * Take no lock: for a session that another process writes, or one that is finished. It shows what the log holds when it
   * is opened; whatever would write is refused with `read-only`. Default false.
   */
  readonly readOnly?: boolean;
  /**
   * The messages as the model was sent them, where the caller has them still: called for each message of the window that
   * the log has masked, and, when the next epoch opens, for those that left it. With all of them the next window goes on from the last one; without, it opens an epoch. The log
   * stays masked. Default: none.
   */
  readonly originals?: Originals;
}

/** Options of {@link SessionManager.fork}: where a session branches off from another one. */
export interface SessionForkOptions {
  /** The last message that both share, by `seq`; 0 for none. Default: the newest. */
  readonly at?: number;
  /** Settings to keep in its metadata beside the other's. */
  readonly config?: JsonObject;
  /** A UUID v4. Default: a new one. */
  readonly id?: string;
  /** As {@link ResumeOptions.originals}, for what it takes over. Default: none. */
  readonly originals?: Originals;
}

const finiteSpan: Kind = {
  is: "a number of milliseconds above 0",
  fits: (value) => aboveZero.fits(value) && value !== Infinity,
};

/** The kinds of {@link ManagerOptions}. */
export const optionKinds = {
  store: anyOf(kinds.text, withActions("append", "read"), withActions("prepare")),
  archive: anyOf(kinds.text, withActions("put", "get", "list", "delete")),
  strategy: anyOf(kinds.text, kinds.object),
  model: anyOf(kinds.text, kinds.object),
  budget: kinds.any,
  profile: anyOf(kinds.text, kinds.object),
  counter: anyOf(kinds.text, kinds.object),
  ingestCap: aboveZero,
  recallTools: listOf(kinds.text),
  namesSession: kinds.flag,
  summarizer: kinds.action,
  maxSummaryTokens: whole(1),
  memory: anyOf(
    oneOf("store"),
    having("an object with the text `name` and the functions `receive` and `query`", {
      name: kinds.text,
      receive: kinds.action,
      query: kinds.action,
    }),
  ),
  offload: kinds.object,
  maxBootstrapTokens: fromZero,
  bootstrapTimeout: aboveZero,
  bootstrapPlace: oneOf("slot", "system"),
  compaction: oneOf("background", "blocking"),
  calibrate: kinds.flag,
  config: anyOf(kinds.flag, kinds.text, having("a loaded Config", { settings: kinds.object })),
  user: kinds.text,
  tenant: kinds.text,
  admin: kinds.flag,
  audit: anyOf(kinds.flag, kinds.text),
  on: kinds.action,
  now: kinds.action,
  idleTimeout: finiteSpan,
  every: kinds.action,
} as const satisfies Record<keyof ManagerOptions, Kind>;

/** The kinds of {@link OffloadSettings}. */
export const offloadKinds = {
  wait: kinds.flag,
  lookEvery: { ...aboveZero, is: "a number of milliseconds above 0, or Infinity" },
  timeout: aboveZero,
  retryAfter: aboveZero,
  longestWait: aboveZero,
} as const satisfies Record<keyof OffloadSettings, Kind>;

/** The kinds of a query of `list`. */
export const listKinds = {
  status: oneOf(...sessionStatuses),
  limit: whole(0),
  unfinished: kinds.flag,
  without: kinds.action,
  unreadable: kinds.action,
} as const satisfies Record<keyof ListQuery, Kind>;

/** The kinds of {@link CreateOptions}; an id has a check and a code of its own. */
export const createKinds = {
  taskKey: kinds.object,
  config: kinds.object,
  bootstrap: kinds.text,
  id: kinds.any,
} as const satisfies Record<keyof CreateOptions, Kind>;

/** The kinds of {@link ResumeOptions}. */
export const resumeKinds = { readOnly: kinds.flag, originals: kinds.action } as const satisfies Record<
  keyof ResumeOptions,
  Kind
>;

/** The kinds of {@link SessionForkOptions}. */
export const forkKinds = {
  at: whole(0),
  config: kinds.object,
  id: kinds.any,
  originals: kinds.action,
} as const satisfies Record<keyof SessionForkOptions, Kind>;
