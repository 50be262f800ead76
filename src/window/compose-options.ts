/** The options of a composer and of one composition, and the checks of their types. */
import type { ToolDefinition } from "../message/message.ts";
import type { Repair } from "../message/repair.ts";
import type { NumberedMessage } from "../message/step.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { anyOf, fromZero, kinds, listOf, withTexts } from "./options.ts";
import type { Kind } from "./options.ts";
import type { Profile } from "./provider/profile.ts";
import type { DynamicBlock, PinnedBlock, Strategy, TextMask, WindowState } from "./window.ts";

/** Options of a composer: one strategy, profile and counter for all windows of a history. */
export interface ComposerOptions {
  readonly strategy: Strategy;
  readonly profile: Profile;
  readonly counter: TokenCounter;
  /** Most tokens one result may have when it is first shown; the rest of it is a recall away. Default: any number. */
  readonly ingestCap?: number;
  /** Replaces secrets in texts before they are cut. Default: those of a known form. */
  readonly mask?: TextMask;
  /** The tools that recall. Default: `recall`. */
  readonly recallTools?: readonly string[];
  /** The name of the session, for a note to a model that has to give it to recall. Default: none. */
  readonly sessionName?: string;
  /** The state of the last composition, to go on from. */
  readonly state?: WindowState;
  /**
   * Gives the messages from the state's horizon on that left its window, where those are not fed: asked once, before an
   * epoch. Default: they are fed.
   */
  readonly unfed?: () => Promise<readonly NumberedMessage[]>;
}

/** Options of one composition, beside the history. */
export interface ComposeOptions {
  readonly budget: number;
  readonly system?: string;
  /** Text behind the system prompt, in a message of its own. Default: none. */
  readonly systemNote?: string;
  readonly tools?: readonly ToolDefinition[];
  /** Tokens that all tool definitions together may use before the report warns. Default: any number. */
  readonly toolsBudget?: number;
  readonly dynamic?: string | readonly DynamicBlock[];
  readonly pinned?: readonly PinnedBlock[];
}

/** The kinds of what a session's composition is given; the session itself brings what is pinned and noted. */
export const callKinds = {
  budget: kinds.any,
  system: kinds.text,
  tools: listOf(withTexts("name")),
  toolsBudget: fromZero,
  dynamic: anyOf(kinds.text, listOf(withTexts("name", "text"))),
} as const;

/** The kinds of what one composition is given. */
export const composeKinds = {
  ...callKinds,
  systemNote: kinds.text,
  pinned: listOf(withTexts("id", "text")),
} as const satisfies Record<keyof ComposeOptions, Kind>;

/** A window's messages as the log numbers them; 0 is none of the log's. */
export interface Shown {
  readonly messages: readonly NumberedMessage[];
  readonly repairs: readonly Repair[];
}

/** The state of a history nothing was composed from. */
export const initialState: WindowState = {
  version: 1,
  epoch: 0,
  edits: [],
  opened: 0,
  openedHash: "",
  systemHash: "",
  toolsHash: "",
  length: 0,
  prefixHash: "",
};

/** Whether a strategy has a pass that reads the log behind the window. */
export function readsLog({ passes }: Strategy): boolean {
  return passes.some((pass) => pass.read !== undefined);
}
