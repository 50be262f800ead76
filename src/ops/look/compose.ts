/** The window for the next call of a recorded history or of a session in a store, and why: nothing is written. */
import { isWindrowError, WindrowError } from "../../errors.ts";
import { hasCode } from "./errors.ts";
import type { JsonObject, Message, ToolDefinition } from "../../message/message.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { findModel } from "../../tokens/models.ts";
import { budgetFor, loadCounterFor } from "../../window/settings.ts";
import { readsLog } from "../../window/compose-options.ts";
import { Composer } from "../../window/composer.ts";
import { explain, logged } from "../../window/explain.ts";
import type { Explanation, LoggedMessage } from "../../window/explain.ts";
import { profileOf } from "../../window/provider/profile.ts";
import type { Profile } from "../../window/provider/profile.ts";
import { strategyIn, strategyOf } from "../../window/by-name.ts";
import { countOnce } from "../../tokens/counter.ts";
import type { Composed, Report, Strategy } from "../../window/window.ts";
import { explainStored, newestEdits, sentWith, windowRecords } from "../../session/log.ts";

/** The settings that a window is made with. */
export interface WindowSettings {
  readonly strategy: Strategy;
  readonly profile: Profile;
  readonly counter: TokenCounter;
  /** Tokens; Infinity for no limit. */
  readonly budget: number;
  readonly system?: string;
  readonly tools?: readonly ToolDefinition[];
}

/** The settings of a stored session's window, where they differ from the session's own settings. */
export interface StoredWindowOptions extends Partial<WindowSettings> {
  /** The window as it was made for the call after this message, by `seq`. Default: the newest. */
  readonly at?: number;
}

/** A composed window, with its report and what became of each message. */
export interface WindowPreview {
  readonly messages: readonly Message[];
  /** Tokens of the whole request. */
  readonly tokens: number;
  /** The tool definitions that go with it. */
  readonly tools: readonly ToolDefinition[];
  /**
   * Blocks that the session's own process sent beside the log when its newest epoch opened, and that are not on disk, as
   * in sessions of older versions: the true window is larger by them. Empty where no epoch opened yet.
   */
  readonly missing: readonly ("system" | "tools")[];
  readonly report: Omit<Report, "opened" | "budget"> &
    Omit<Explanation, "sent"> & {
      /** Null: no limit. */
      readonly budget: number | null;
      /** Hash of the history's messages, which the next window begins with unless an epoch opens. */
      readonly prefixHash: string;
      /** Set when this call would open an epoch. */
      readonly opened?: Omit<NonNullable<Report["opened"]>, "edits">;
    };
}

/**
 * The window for the next call of a history, made as a live agent would have: one composition before each of its model
 * calls, so that epochs lie where they would have lain.
 *
 * @throws WindrowError `over-budget` or `budget-too-small` where the last window cannot fit
 */
export function composeHistory(messages: readonly Message[], settings: WindowSettings): WindowPreview {
  const composer = new Composer(settings);
  const log: LoggedMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "assistant" && index > 0) composeAnyway(composer, settings);
    composer.push(index + 1, message);
    log.push(logged(index + 1, message, countOnce(settings.counter, message), settings.counter));
  }
  const composed = composer.compose(settings);
  return preview(composed, explain(log, composer, settings), settings);
}

/** An earlier window that could not fit was the agent's trouble then; later ones may fit. */
function composeAnyway(composer: Composer, settings: WindowSettings): void {
  try {
    composer.compose(settings);
  } catch (error) {
    if (!hasCode(error, "over-budget", "budget-too-small")) throw error;
  }
}

/**
 * The window for the next call of a session, whether it is open in some process, closed or finished. By the session's own
 * settings it is the one its process would compose, with the system prompt and the tools of its newest epoch; with another
 * strategy, profile, counter or place it is composed from the log anew, call by call.
 *
 * @throws WindrowError `over-budget`, `budget-too-small`; `unknown-strategy` where the session's strategy is not one of
 * Windrow's; `bad-option` for a place outside the log
 */
export async function composeStored(
  store: Store,
  scope: Scope,
  session: SessionInfo,
  options: StoredWindowOptions = {},
): Promise<WindowPreview> {
  const id = session.metadata.uuid;
  const place = { store, scope, id };
  const { epoch } = await newestEdits(place);
  const { sent = {}, ...told } = epoch ? await sentWith(place, epoch) : {};
  const settings = await settingsOf(session, { ...sent, ...options });
  const { strategy, profile, counter, at } = options;
  if (strategy || profile || counter || at !== undefined) {
    const messages: Message[] = [];
    const query = { kind: "message", ...(at !== undefined && { to: at }) } as const;
    for await (const { message } of store.read(scope, id, query)) messages.push(message);
    if (at !== undefined && (at < 1 || at > messages.length)) {
      throw new WindrowError("bad-option", `The session has messages 1 to ${messages.length}, and no ${at}.`, { at });
    }
    return composeHistory(messages, settings);
  }
  // A mask may have changed the system prompt and the tools: `length: 0` keeps their hashes from being compared.
  const composer = new Composer({ ...settings, ...(epoch && { state: { ...epoch.state, length: 0 } }) });
  const horizon = readsLog(settings.strategy) ? (composer.state.horizon ?? 1) : Infinity;
  for await (const { seq, message } of windowRecords(place, composer.state, horizon)) composer.push(seq, message);
  const composed = composer.compose(settings);
  const { systemHash = composed.state.systemHash, toolsHash = composed.state.toolsHash } = epoch?.state ?? {};
  const lacks = { system: systemHash !== composed.state.systemHash, tools: toolsHash !== composed.state.toolsHash };
  return {
    ...preview(
      composed,
      { ...(await explainStored(place, composer, settings, undefined, composer.last)), ...told },
      settings,
    ),
    missing: (["system", "tools"] as const).filter((block) => lacks[block] && sent[block] === undefined),
  };
}

async function settingsOf({ metadata }: SessionInfo, options: StoredWindowOptions): Promise<WindowSettings> {
  const { config } = metadata;
  const text = (name: string): string | undefined => {
    const value = config[name];
    return typeof value === "string" ? value : undefined;
  };
  const { budget } = config;
  const strategy = options.strategy ?? ownStrategy(config);
  // A preset's counter comes with its image tokens, which no name says.
  const ofPreset = strategy.settings?.counter;
  const own =
    ofPreset !== undefined && (options.strategy || ofPreset === text("counter")) ? undefined : text("counter");
  return {
    strategy,
    profile: options.profile ?? profileOf(text("profile") ?? findModel(text("model") ?? "")?.profile ?? "openai-chat"),
    counter: await loadCounterFor(strategy.settings, options.counter ?? own),
    budget: options.budget ?? (typeof budget === "number" ? budget : modelBudget(text("model"), strategy)),
    ...(options.system !== undefined && { system: options.system }),
    ...(options.tools !== undefined && { tools: options.tools }),
  };
}

function ownStrategy(config: JsonObject): Strategy {
  try {
    return strategyIn(config) ?? strategyOf("adaptive");
  } catch (error) {
    if (!isWindrowError(error, "unknown-strategy")) throw error;
    const message = `The session's strategy ${JSON.stringify(config["strategy"])} is not one of Windrow's; name one to compose with. ${error.message}`;
    throw new WindrowError("unknown-strategy", message, error.data, { cause: error });
  }
}

function modelBudget(model: string | undefined, { settings }: Strategy): number {
  try {
    return budgetFor(settings, { model }) ?? Infinity;
  } catch (error) {
    if (isWindrowError(error, "unknown-model")) return Infinity;
    throw error;
  }
}

function preview(
  { messages, tokens, report, state }: Composed,
  explanation: Explanation,
  { tools = [] }: WindowSettings,
): WindowPreview {
  const { opened, budget, ...rest } = report;
  return {
    messages,
    tokens,
    tools,
    missing: [],
    report: {
      ...rest,
      budget: Number.isFinite(budget) ? budget : null,
      prefixHash: state.prefixHash,
      ...(opened && { opened: withoutEdits(opened) }),
      ...explanation,
    },
  };
}

function withoutEdits({ reason, tokensBefore, tokensAfter }: NonNullable<Report["opened"]>) {
  return { reason, tokensBefore, tokensAfter };
}
