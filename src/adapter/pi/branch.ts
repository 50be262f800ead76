/** The active branch of a session of pi's coding agent: what it holds, and the windows made of it. */
import type { Message } from "../../message/message.ts";
import { estimate } from "../../tokens/estimate.ts";
import { Composer } from "../../window/composer.ts";
import { hashName } from "../../message/hash.ts";
import { hashMessage } from "../../window/hash.ts";
import { pi as piProfile } from "../../window/provider/profile.ts";
import { recallInTurns } from "../../window/recall/recall.ts";
import type { Recalled, RecallQuery } from "../../window/recall/query.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Composed, Strategy, WindowState } from "../../window/window.ts";
import { piAdapter } from "./host.ts";
import type { PiTool } from "./host.ts";
import type { PiMessage } from "./message.ts";
import type { PiContent } from "./tools.ts";
import { piTools } from "./windows.ts";

/** The fields that are read of an entry of pi's session file. */
export interface PiEntry {
  readonly type: string;
  readonly id: string;
  readonly message?: PiMessage;
  /** The first entry that stays in the context; a compaction names it. */
  readonly firstKeptEntryId?: string;
  readonly customType?: string;
  readonly data?: unknown;
}

/** The fields that are read of pi's session manager. */
export interface PiSessionManager {
  /** From the root to the leaf. */
  getBranch(): readonly PiEntry[];
  /** The messages that pi sends, system messages included. */
  buildSessionProjection(): { readonly messages: readonly PiMessage[] };
}

/** Types of the entries that the extension writes: the state of a window's epoch; a result that was cut. */
export const entryTypes = { window: "windrow-window", result: "windrow-result" } as const;

/** A result that was cut, whole, as an entry keeps it. */
export interface KeptResult {
  /** The id that the recall tool takes for this result: `r1`, `r2` … */
  readonly id: string;
  readonly toolCallId: string;
  readonly content: readonly PiContent[];
}

/** The active branch as its entries tell. */
export class PiBranch {
  readonly #entries: readonly PiEntry[];
  readonly #messages: () => readonly PiMessage[];

  constructor(sessions: PiSessionManager) {
    this.#entries = sessions.getBranch();
    this.#messages = () => sessions.buildSessionProjection().messages;
  }

  /** The results that were cut, oldest first. */
  get results(): readonly KeptResult[] {
    return this.#custom(entryTypes.result) as readonly KeptResult[];
  }

  /** The state of the newest epoch, or undefined where none opened. */
  get state(): WindowState | undefined {
    return this.#custom(entryTypes.window).at(-1) as WindowState | undefined;
  }

  /** The messages that pi's own compactions took out of the context, oldest first. */
  get compacted(): readonly PiMessage[] {
    const compaction = this.#entries.findLast(({ type }) => type === "compaction");
    const kept = compaction ? this.#entries.findIndex(({ id }) => id === compaction.firstKeptEntryId) : 0;
    return this.#entries.slice(0, Math.max(0, kept)).flatMap(({ message }) => conversation(message ? [message] : []));
  }

  /**
   * Brings back anything of the branch. Messages are numbered from its first on, those that pi compacted away included.
   *
   * @param sent - the messages that the newest window was made of; default: what pi would send now
   * @throws WindrowError `not-found`, `bad-option`
   */
  async recall(query: RecallQuery, sent: readonly PiMessage[] = conversation(this.#messages())): Promise<Recalled> {
    const results = this.results;
    const kept = results.find(({ id }) => id === query.id);
    const all = kept ? [keptMessage(kept)] : [...this.compacted, ...sent];
    const whole = new Map(results.map((result) => [result.toolCallId, result.content]));
    const messages = all.map((message) => {
      const content = whole.get((message as { toolCallId?: string }).toolCallId ?? "");
      return content ? { ...message, content } : message;
    });
    const { id: _id, ...words } = query;
    return recallInTurns(piAdapter.decode(messages), kept ? { from: 1, ...words } : query, { counter: estimate });
  }

  #custom(customType: string): readonly unknown[] {
    return this.#entries.filter((entry) => entry.customType === customType).map(({ data }) => data);
  }
}

function keptMessage({ toolCallId, content }: KeptResult): PiMessage {
  return { role: "toolResult", toolCallId, content } as PiMessage;
}

/** The messages without the prompts and tool declarations among them, which pi keeps in place itself. */
function conversation(messages: readonly PiMessage[]): readonly PiMessage[] {
  return messages.filter(({ role }) => role !== "system");
}

/** The request that a window is made for. */
export interface BranchWindow {
  /** Tokens. */
  readonly budget: number;
  /** Tokens of one result. */
  readonly ingestCap: number;
  readonly system: string;
  readonly tools: readonly PiTool[];
  readonly strategy: Strategy;
  readonly counter: TokenCounter;
}

/**
 * The window for pi's messages, going on from the state the branch tells or `state`. Numbers its messages as
 * {@link PiBranch.recall} does.
 *
 * @throws WindrowError `over-budget`, `budget-too-small`
 */
export function composeBranch(
  messages: readonly PiMessage[],
  branch: PiBranch,
  given: BranchWindow,
  state: WindowState | undefined = branch.state,
): Composed {
  const before = branch.compacted.length;
  const history = piAdapter.decode(messages);
  const composer = new Composer({
    strategy: given.strategy,
    profile: piProfile,
    counter: given.counter,
    ingestCap: given.ingestCap,
    ...(state && { state: stateFor(history, before, state) }),
  });
  history.forEach((message, index) => composer.push(before + index + 1, message));
  const tools = piTools(given.tools);
  return composer.compose({
    budget: given.budget,
    ...(given.system !== "" && { system: given.system }),
    ...(tools.length > 0 && { tools }),
  });
}

/** The state as far as it is about these messages: after a compaction, or on another branch, its edits are not. */
function stateFor(history: readonly Message[], before: number, state: WindowState): WindowState {
  const last = history[state.opened - before - 1];
  const same = state.opened === 0 || (last !== undefined && hashName(hashMessage(last)) === state.openedHash);
  return same ? state : { ...state, edits: [], inserts: [], opened: 0, openedHash: "" };
}
