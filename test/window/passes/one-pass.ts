/** Windows made by one pass alone, on every call. */
import { composeWindow } from "windrow";
import type { Composed, Message, Pass, WindowState } from "windrow";
import { messageText, resultText, toolResults } from "../../kit/inside/message.ts";

/** What a window is made under; the budget has room for everything by default. */
export interface OnePass {
  readonly budget?: number;
  readonly lowWater?: number;
  readonly profile?: string;
  readonly state?: WindowState;
}

/** The window that a pass alone gives; two passes run in order. */
export function windowBy(
  passes: Pass | readonly Pass[],
  messages: readonly Message[],
  { budget = 1_000_000, lowWater = 1, profile = "openai-chat", state }: OnePass = {},
): Composed {
  return composeWindow({
    messages,
    budget,
    profile,
    strategy: {
      name: "one pass",
      passes: "plan" in passes ? [passes] : passes,
      trigger: { messages: 0 },
      lowWater,
      keepFirstUser: false,
    },
    ...(state && { state }),
  });
}

/** The texts of a window's messages. */
export function texts({ messages }: Composed): readonly string[] {
  return messages.map(messageText);
}

/** The ids of the history's messages that stand in a window. */
export function ids({ messages }: Composed): readonly string[] {
  return messages.map(({ id }) => id).filter((id) => !id.startsWith("windrow:"));
}

/** The texts of a window's tool results. */
export function results({ messages }: Composed): readonly string[] {
  return messages.flatMap(toolResults).map(resultText);
}
