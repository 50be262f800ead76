/**
 * The windows of one conversation of a host that hands its whole history over on every call: from a session's log where
 * the history is a continuation of it, else from the history alone.
 */
import { WindrowError } from "../../errors.ts";
import { inlineText } from "../../message/quote.ts";
import type { SecretRules } from "../../mask/text.ts";
import type { JsonValue, ToolDefinition } from "../../message/message.ts";
import type { Session } from "../../session/session.ts";
import { estimate } from "../../tokens/estimate.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { modelOf } from "../../tokens/models.ts";
import type { ModelDescription } from "../../tokens/models.ts";
import { budgetOf } from "../../window/budget.ts";
import { composeWindow } from "../../window/compose.ts";
import type { Profile } from "../../window/provider/profile.ts";
import type { RecallQuery } from "../../window/recall/recall.ts";
import type { Composed, DynamicBlock, Strategy, WindowState } from "../../window/window.ts";
import { journalOf, Teller } from "./journal.ts";
import type { AdapterListener, HostJournal, JournalHost } from "./journal.ts";
import { liveHistory } from "./live-history.ts";
import { Numbered, recalledText } from "./numbered.ts";

/** How an adapter makes windows. */
export interface HostWindowOptions {
  /** Tokens a request may use. Default: from `model`, else the session's. */
  readonly budget?: number;
  /** A known model's id or a description; sets the budget. */
  readonly model?: string | ModelDescription;
  /** Default `adaptive`. Not with a session. */
  readonly strategy?: string | Strategy;
  /** What the provider behind the host accepts. Default `openai-chat`. Not with a session. */
  readonly profile?: string | Profile;
  /** Default `estimate`. Not with a session. */
  readonly counter?: TokenCounter;
  /** Hears of failures, replaced histories and windows. */
  readonly on?: AdapterListener;
}

/** What stands beside the messages of a request. */
export interface RequestBlocks {
  /** Counted, never sent: the host sends it. */
  readonly system?: string;
  /** Counted, never sent. */
  readonly tools?: readonly ToolDefinition[];
  /** Texts for the call at hand; they stand at the window's end. */
  readonly dynamic?: readonly DynamicBlock[];
}

/** A window in the host's messages. */
export interface HostWindow<Host> {
  readonly messages: readonly Host[];
  readonly composed: Composed;
}

/** The windows of one conversation, and its log where it has one. */
export class HostWindows<Host extends object> {
  /** The log's journal, where there is a session. */
  readonly log: HostJournal<Host> | undefined;
  /** Tells of failures once. */
  readonly teller: Teller;
  readonly #host: JournalHost<Host>;
  readonly #options: HostWindowOptions;
  readonly #numbered: Numbered;
  #replaced = false;

  /** @param rules - of the secrets that no listener hears, where there is no session */
  constructor(host: JournalHost<Host>, options: HostWindowOptions, session?: Session, rules?: SecretRules) {
    this.#host = host;
    this.#options = options;
    this.log = session && journalOf(session, host);
    this.#numbered = new Numbered(session);
    this.teller = this.log?.teller ?? new Teller(host.adapter.name, rules);
    this.teller.add(options.on);
  }

  /** Appends what the host has and the log lacks; a failure is told of, and what is missing is appended by the next call. */
  async record(messages: readonly Host[]): Promise<void> {
    try {
      await this.#sync(messages);
      this.teller.succeeded();
    } catch (error) {
      this.teller.failed(error);
    }
  }

  /** Does something with the log; a failure is told of. */
  async note(work: (log: HostJournal<Host>) => Promise<unknown>): Promise<void> {
    if (!this.log) return;
    try {
      await work(this.log);
    } catch (error) {
      this.teller.failed(error);
    }
  }

  /**
   * The window for a call, or undefined where it could not be made: the host then goes on with its own messages.
   *
   * @param state - of the conversation's last window, for windows that are not made from the log
   */
  async window(
    messages: readonly Host[],
    blocks: RequestBlocks,
    state?: WindowState,
  ): Promise<HostWindow<Host> | undefined> {
    try {
      const made =
        (this.log && (await this.#fromLog(this.log, messages, blocks))) ?? this.alone(messages, blocks, state);
      const [fault] = made.composed.report.faults;
      if (fault) throw new WindrowError("bad-message", `The window breaks a rule: ${fault.message}.`, { fault });
      const { name } = this.#host.adapter;
      this.teller.succeeded();
      this.teller.tell({
        type: "window-sent",
        adapter: name,
        messages: made.messages.length,
        report: made.composed.report,
      });
      return made;
    } catch (error) {
      this.teller.failed(error);
      return undefined;
    }
  }

  /**
   * What left the window, for the model: the text that a recall tool answers. Says what is wrong instead of throwing.
   *
   * @param messages - of the conversation that asks, where several share these windows. Default: those of the newest window
   */
  async recall(query: RecallQuery, messages?: readonly Host[]): Promise<string> {
    try {
      const own = messages && (() => this.#host.adapter.decode(messages));
      return recalledText(await this.#numbered.recall(query, { counter: this.#options.counter }, own));
    } catch (error) {
      return inlineText(error instanceof Error ? error.message : String(error));
    }
  }

  async #sync(messages: readonly Host[]): Promise<void> {
    const broken = await this.log?.sync(messages);
    if (broken === undefined || this.#replaced) return;
    this.#replaced = true;
    this.teller.tell({ type: "history-replaced", adapter: this.#host.adapter.name, at: broken });
  }

  async #fromLog(
    log: HostJournal<Host>,
    messages: readonly Host[],
    blocks: RequestBlocks,
  ): Promise<HostWindow<Host> | undefined> {
    await this.#sync(messages);
    if (this.#replaced) return undefined;
    await log.session.prepare();
    this.#numbered.fromLog();
    const budget = this.#budget();
    const composed = await log.session.compose({ ...blocks, ...(budget !== undefined && { budget }) });
    const { adapter } = this.#host;
    const window = shown(composed).flatMap((message) => {
      const own = log.hostOf(message);
      return own ? [own] : adapter.encode([message]);
    });
    return { composed, messages: window };
  }

  /**
   * The window of a history alone, without its log.
   *
   * @throws WindrowError `over-budget` or `budget-too-small` with the size of each block; `bad-option`, `bad-message`
   */
  alone(messages: readonly Host[], blocks: RequestBlocks, state?: WindowState): HostWindow<Host> {
    this.#numbered.fromHistory(() => this.#host.adapter.decode(messages));
    const settings = this.log?.session.settings;
    const composed = composeWindow({
      messages: liveHistory(settings, this.#host.adapter.decode(messages)),
      ...blocks,
      budget: this.#budget() ?? settings?.budget ?? NaN,
      strategy: this.#options.strategy ?? settings?.strategy ?? "adaptive",
      profile: this.#options.profile ?? settings?.profile ?? "openai-chat",
      counter: this.#options.counter ?? settings?.counter ?? estimate,
      ...(settings && { mask: settings.mask }),
      ...(state && { state }),
    });
    return { composed, messages: this.#host.adapter.encode(shown(composed)) };
  }

  #budget(): number | undefined {
    const { budget, model } = this.#options;
    return budget ?? (model === undefined ? undefined : budgetOf(modelOf(model)));
  }
}

/** The window without the system prompt that was only counted. */
function shown({ messages }: Composed): Composed["messages"] {
  return messages.filter((message) => message.id !== "windrow:system");
}

/** A tool as the model is told of it; its schema as JSON where it is JSON Schema or tells it (Standard Schema, Zod 4). */
export function toolDefinition(name: string, description: unknown, schema: unknown): ToolDefinition {
  const inputSchema = jsonSchemaOf(schema);
  return {
    name,
    ...(typeof description === "string" && { description }),
    ...(inputSchema !== undefined && { inputSchema }),
  };
}

interface StandardSchema {
  readonly "~standard"?: { readonly jsonSchema?: { readonly input?: (options: { target: string }) => unknown } };
}

function jsonSchemaOf(schema: unknown): JsonValue | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const standard = (schema as StandardSchema)["~standard"];
  if (!standard) return JSON.parse(JSON.stringify(schema)) as JsonValue;
  try {
    return standard.jsonSchema?.input?.({ target: "draft-07" }) as JsonValue | undefined;
  } catch {
    return undefined;
  }
}

/** What the model is told of the recall tool. */
export const recallTool = {
  name: "windrow_recall",
  description:
    "Brings back earlier messages of this conversation that are no longer shown in full. Give the id that an excerpt " +
    "names (m12, or m12-m40), or words to look for.",
  inputSchema: {
    type: "object",
    properties: {
      id: { type: "string", description: "An id such as m12, or m12-m40 for a range" },
      query: { type: "string", description: "Words, a path, a line" },
    },
  },
} as const;

/** The arguments a model gave the recall tool. */
export function recallQuery(given: unknown): RecallQuery {
  const { id, query } = (given ?? {}) as { readonly id?: unknown; readonly query?: unknown };
  return {
    ...(typeof id === "string" && id !== "" && { id }),
    ...(typeof query === "string" && query !== "" && { query }),
  };
}
