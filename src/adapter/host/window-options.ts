/** The kinds of the options by which hosts ask for windows. */
import { statsKinds } from "../../session/stats-line.ts";
import { anyOf, kinds, listOf, withActions } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import type { ConversationOptions, WindowOptions } from "./conversation.ts";

/** The kinds of how an adapter makes windows. */
export const windowKinds = {
  // A budget has a check of its own.
  budget: kinds.any,
  model: anyOf(kinds.text, kinds.object),
  strategy: anyOf(kinds.text, kinds.object),
  profile: anyOf(kinds.text, kinds.object),
  counter: anyOf(kinds.text, kinds.counter),
  recallTools: listOf(kinds.text),
  on: kinds.action,
} as const satisfies Record<keyof WindowOptions, Kind>;

/** The kinds of windows that one session's log, or a manager's sessions, may stand behind. */
export const hostKinds = {
  ...windowKinds,
  session: kinds.object,
  manager: withActions("create", "resume"),
} as const;

/** The kinds of a conversation's options. */
export const conversationKinds = {
  ...windowKinds,
  ...statsKinds,
  session: kinds.object,
} as const satisfies Record<keyof ConversationOptions, Kind>;
