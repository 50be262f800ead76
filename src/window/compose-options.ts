/** The options of a composer and of one composition, and the checks of their types. */
import type { Repair } from "../message/repair.ts";
import type { NumberedMessage } from "../message/step.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { anyOf, fromZero, kinds, listOf, withTexts } from "./options.ts";
import type { Profile } from "./provider/profile.ts";
import type { ComposeInput, Strategy, WindowState } from "./window.ts";

/** Options of a composer: one strategy, profile and counter for all windows of a history. */
export interface ComposerOptions extends Pick<ComposeInput, "ingestCap" | "mask" | "recallTools"> {
  readonly strategy: Strategy;
  readonly profile: Profile;
  readonly counter: TokenCounter;
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
export interface ComposeOptions extends Pick<ComposeInput, "system" | "tools" | "toolsBudget" | "dynamic" | "pinned"> {
  readonly budget: number;
  /** Text behind the system prompt, in a message of its own. Default: none. */
  readonly systemNote?: string;
}

/** The kinds of what a session's composition is given; the session itself brings what is pinned and noted. */
export const callKinds = {
  budget: kinds.any,
  system: kinds.text,
  tools: listOf(withTexts("name")),
  toolsBudget: fromZero,
  dynamic: anyOf(kinds.text, listOf(withTexts("name", "text"))),
} as const;

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

/** Whether the log behind the window is read: by a pass of the strategy, or for the size of windows that size themselves. */
export function readsLog({ passes, floor }: Strategy): boolean {
  return floor !== undefined || passes.some((pass) => pass.read !== undefined);
}
