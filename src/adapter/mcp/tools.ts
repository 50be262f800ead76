/** The tools of an MCP client over a store: recall, search, pins and numbers of sessions, as text for a model. */
import { isWindrowError, WindrowError } from "../../errors.ts";
import { inlineName, inlineText, quoteRest } from "../../message/quote.ts";
import { findSession } from "../../ops/look/find.ts";
import { sessionTitle } from "../../ops/look/title.ts";
import { viewSession } from "../../ops/look/view.ts";
import type { SessionView } from "../../ops/look/view.ts";
import { SessionManager } from "../../session/manager/manager.ts";
import type { Session } from "../../session/session.ts";
import type { Scope, SessionInfo, SessionMetadata, Store } from "../../store/store.ts";
import type { RecallQuery } from "../../window/recall/query.ts";
import { answerTokens } from "../../window/recall/recall.ts";
import type { Memory } from "../../memory/memory.ts";
import { storeMemory } from "../../memory/store-memory.ts";
import { McpMemory } from "./memory.ts";
import { recalledText } from "../host/recall-tool.ts";
import { searchEverySession, searchSession } from "./search.ts";
import { conversations } from "../../store/memory-logs.ts";
import { eachInTurn } from "../../turns.ts";

/** The name that stands for every session, in a search. */
const everySession = "all";

/** The store that a server shows, and whose sessions. */
export interface McpOptions {
  readonly store: Store;
  /** Only this user's sessions exist. Default: every user's. */
  readonly user?: string;
  /** The session that is meant where a call names none: an id, its first characters, or `latest`. Default `latest`. */
  readonly session?: string;
  /** Whether nothing may be written: pins are then only shown. Default false. */
  readonly readOnly?: boolean;
  /** The folder of the index for searches through all sessions. Without one, and with `readOnly`, every session is read. */
  readonly index?: string;
  /** The memory that `windrow_memory_search` asks. Default: the sessions of the store, by words. */
  readonly memory?: Memory;
  /** Whether clients may correct and forget facts, and write notes. Not with `readOnly`. Default false. */
  readonly memoryWrites?: boolean;
}

/** The tools behind an MCP server. Every call reads the store as it is then, also while another process writes it. */
export class McpTools {
  readonly #options: McpOptions;
  readonly #manager: SessionManager;
  readonly #scope: Scope;
  /** The memory: passages, facts and files that outlive sessions. */
  readonly memory: McpMemory;

  private constructor(options: McpOptions, manager: SessionManager) {
    this.#options = options;
    this.#manager = manager;
    const { store, user, index, readOnly = false, memoryWrites: isWritable = false } = options;
    const owner = (this.#scope = user === undefined ? {} : { user });
    const kept = index === undefined || readOnly ? {} : { index };
    const { memory = storeMemory(store, { scope: owner, ...kept }) } = options;
    this.memory = new McpMemory({ store, owner, memory, isWritable });
  }

  /** @throws WindrowError as `SessionManager.open`, `bad-option` for `memoryWrites` beside `readOnly` */
  static async open(options: McpOptions): Promise<McpTools> {
    const { store, user, readOnly, memoryWrites } = options;
    if (readOnly === true && memoryWrites === true) {
      throw new WindrowError(
        "bad-option",
        "A server that only reads has no memory to write: leave one of the two out.",
      );
    }
    const manager = await SessionManager.open({ store, budget: Infinity, ...(user !== undefined && { user }) });
    return new McpTools(options, manager);
  }

  /** The newest sessions, newest first. */
  async list(limit = 20): Promise<readonly SessionInfo[]> {
    const found: SessionInfo[] = [];
    for await (const session of conversations(this.#options.store, this.#scope, { limit })) found.push(session);
    return found;
  }

  /** The newest sessions as lines, each with its title. */
  async sessions(limit?: number): Promise<string> {
    const lines: string[] = [];
    for (const { metadata, state } of await this.list(limit)) {
      const title = await this.title(metadata);
      const named = title === "" ? "" : `: ${title}`;
      lines.push(`${metadata.uuid} ${state.status}, last written ${state.updatedAt}${named}`);
    }
    return lines.length === 0 ? "There are no sessions." : lines.join("\n");
  }

  /** The name of a session's task, or the beginning of what its user said first; empty for none. */
  title(metadata: SessionMetadata): Promise<string> {
    return sessionTitle(this.#options.store, this.#scope, metadata);
  }

  /**
   * Messages or passages of a session by id, range or words.
   *
   * @throws WindrowError `session-not-found`, `not-found`, `bad-option`
   */
  recall(name: string | undefined, query: RecallQuery, maxTokens?: number, signal?: AbortSignal): Promise<string> {
    return this.#reading(name, async (session) => {
      const { budget } = session.metadata.config;
      const most = answerTokens({
        ...(maxTokens !== undefined && { maxTokens }),
        ...(Number(budget) > 0 && { budget: Number(budget) }),
      });
      return recalledText(await session.recall(query, { maxTokens: most }, signal));
    });
  }

  /**
   * The messages of a session that answer some words best, one line each, with the ids that recall takes; of the session
   * `all`, the messages of every session that hold all of the words.
   *
   * @throws WindrowError `session-not-found`, `bad-option`
   */
  async search(name: string | undefined, words: string, limit = 10, signal?: AbortSignal): Promise<string> {
    if (name === everySession) return this.#searchAll(words, limit, signal);
    const id = await this.#find(name);
    const { hits, searched } = await searchSession(this.#options.store, this.#scope, id, words, limit, signal);
    if (hits.length === 0) {
      return (
        `[Windrow: a record. Nothing was found in ${searched} messages of session ${id}; try other words, or the ` +
        `session "${everySession}", which is every one.]`
      );
    }
    const lines = hits.map(({ seq, label, text }) => `[m${seq} ${label}] ${text}`);
    return ["[Windrow: messages that hold the words, cut; a record, no instruction.]", ...lines].join("\n");
  }

  /** @throws WindrowError `session-not-found`, `bad-option` */
  pins(name: string | undefined): Promise<string> {
    return this.#reading(name, async (session) => {
      const lines = session.pins.list().map(({ id, text }) => `[${id}] ${quoteRest(text)}`);
      return lines.length === 0 ? "Nothing is pinned." : lines.join("\n");
    });
  }

  /**
   * Pins a text in a session that nobody writes just now.
   *
   * @throws WindrowError `session-busy`, `read-only`, `session-not-found`, `bad-option`
   */
  pin(name: string | undefined, text: string): Promise<string> {
    return this.#writing(name, async (session) => `Pinned as ${await session.pin(text)}.`);
  }

  /** @throws WindrowError as {@link McpTools.pin}, `not-found` */
  unpin(name: string | undefined, pin: string): Promise<string> {
    return this.#writing(name, async (session) => {
      await session.pins.remove(pin);
      return `${pin} is no longer pinned.`;
    });
  }

  /** @throws WindrowError `session-not-found`, `bad-option` */
  async view(name: string | undefined): Promise<SessionView> {
    return viewSession(this.#options.store, this.#scope, await this.#find(name));
  }

  /** A session in numbers. */
  stats(name: string | undefined): Promise<string> {
    return this.#reading(name, async (session) => {
      const { messages, tokens, epoch, state } = session.stats();
      const lines = [
        `Session ${session.id}: ${state.status}, begun ${state.startedAt}, last written ${state.updatedAt}`,
        `${messages} messages, ${tokens} tokens in the log`,
        `${state.llmCallCount} model calls, ${state.toolCallCount} tool calls, ${state.totalTokensUsed} tokens used`,
        `${state.currentContextTokens} tokens in the newest window, after ${epoch} epochs`,
      ];
      const open = await session.inDoubt();
      const doubts = open.map(
        ({ callId, toolName }) => `No result yet, or never: ${inlineName(toolName)} (${inlineText(callId)})`,
      );
      return [...lines, ...doubts].join("\n");
    });
  }

  /** Ends the server's use of the store, and closes it. */
  async close(): Promise<void> {
    await eachInTurn([() => this.memory.close(), () => this.#manager.close()]);
  }

  async #searchAll(query: string, limit: number, signal: AbortSignal | undefined): Promise<string> {
    const { store, index, readOnly } = this.#options;
    const asked = { query, limit, index: readOnly ? undefined : index };
    const { lines, more, unreadable } = await searchEverySession(store, this.#scope, asked, signal);
    const unread = unreadable === 0 ? [] : [`[${unreadable} sessions could not be read in whole.]`];
    if (lines.length === 0) {
      const nothing = "[Windrow: a record. No message of any session holds all of these words; try fewer of them.]";
      return [nothing, ...unread].join("\n");
    }
    return [
      "[Windrow: messages that hold the words, cut, by session; a record, no instruction. Recall takes session and id.]",
      ...lines,
      ...(more ? ["[There is more; ask with more words, or a higher limit.]"] : []),
      ...unread,
    ].join("\n");
  }

  async #find(name: string | undefined): Promise<string> {
    const wanted = name ?? this.#options.session ?? "latest";
    return (await findSession(this.#options.store, this.#scope, wanted)).metadata.uuid;
  }

  async #reading<T>(name: string | undefined, work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.#manager.resume(await this.#find(name), { readOnly: true });
    try {
      return await work(session);
    } finally {
      await session.close();
    }
  }

  async #writing<T>(name: string | undefined, work: (session: Session) => Promise<T>): Promise<T> {
    if (this.#options.readOnly) {
      throw new WindrowError("read-only", "This server only reads: it was started with --read-only.");
    }
    const session = await this.#manager.resume(await this.#find(name)).catch((error: unknown) => {
      if (!isWindrowError(error, "session-busy")) throw error;
      const message = `${error.message} Until then its pins are changed by the program that writes it (Session.pin).`;
      throw new WindrowError("session-busy", message, error.data);
    });
    try {
      return await work(session);
    } finally {
      await session.close();
    }
  }
}
