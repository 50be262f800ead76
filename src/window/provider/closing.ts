/** How a window ends, where the provider answers nobody but the user. */
import type { Message } from "../../message/message.ts";
import type { Profile } from "./profile.ts";
import type { DynamicBlock } from "../window.ts";

const goOn: DynamicBlock = { name: "go-on", text: "[Windrow: no new message; go on.]" };

/** The ephemeral tail; behind an answer, where the profile wants the user last, it is never empty. */
export function closingTail(
  tail: readonly DynamicBlock[],
  { rules }: Profile,
  last: Message | undefined,
): readonly DynamicBlock[] {
  return rules.lastIsUser && tail.length === 0 && last?.role === "assistant" ? [goOn] : tail;
}
