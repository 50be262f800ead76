/**
 * The context editing of Anthropic's API (`clear_tool_uses_20250919`), at the budget as its trigger: the newest three
 * results stay, older ones become a placeholder for good, and nothing is cleared where that would bring too little.
 */
import type { Message } from "../../src/message/message.ts";
import type { MakeWindow } from "./policy.ts";

/** Results that stay, the default of `keep`. */
const keptUses = 3;

/** Tokens that a clearing has to bring, as a share of the budget. */
const leastShare = 0.15;

const placeholder = "[Old tool result content cleared]";

/** Windows of one job. */
export function clearToolUses(): MakeWindow {
  const cleared = new Map<Message, Message>();
  return (history, { budget, room, tokens }) => {
    const window = (): readonly Message[] => history.map((message) => cleared.get(message) ?? message);
    if (tokens.sum(window()) <= room) return window();
    const older = history.filter(({ role }) => role === "tool").slice(0, -keptUses);
    const pairs = older.flatMap((message) => (cleared.has(message) ? [] : [[message, emptied(message)] as const]));
    const gain = pairs.reduce((sum, [full, empty]) => sum + tokens.of(full) - tokens.of(empty), 0);
    if (gain >= budget * leastShare) for (const [full, empty] of pairs) cleared.set(full, empty);
    return window();
  };
}

function emptied(message: Message): Message {
  const parts = message.parts.map((part) => (part.type === "tool-result" ? { ...part, content: placeholder } : part));
  return { ...message, parts };
}
