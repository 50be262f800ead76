/** Chat-completions messages: an array, `{ messages: […] }`, or JSON lines of either. */
import { chatMessage, isChatMessage } from "../../shape/openai-chat/loose.ts";
import { head, listed, sessionsIn } from "../builder.ts";
import { asObject, objectsOf } from "../../message/json.ts";
import type { TranscriptDecoder, TranscriptSource } from "../transcript.ts";

const format = "openai-chat";

/** Block types of other providers. Read as chat completions, such a message would lose its calls. */
const foreignBlocks: ReadonlySet<unknown> = new Set(["tool_use", "tool_result", "tool-call", "tool-result"]);

/** Reads chat-completions messages; `reasoning_content`, `reasoning` and `thinking` become reasoning parts. */
export const openaiChat: TranscriptDecoder = {
  format,
  recognise(source: TranscriptSource): number {
    const sessions = sessionsIn({ ...source, entries: head(source.entries) });
    const messages = sessions.flatMap((session) => session.messages.slice(0, 50)).map((entry) => asObject(entry.value));
    const known = messages.filter(isChatMessage);
    if (known.length === 0 || known.length * 2 < messages.length) return 0;
    if (known.some((message) => objectsOf(message["content"]).some((block) => foreignBlocks.has(block["type"]))))
      return 0.2;
    const calls = known.flatMap((message) => objectsOf(message["tool_calls"]));
    return calls.some((call) => "function" in call) ? 0.9 : 0.65;
  },
  decode: (source) =>
    listed(source, format, (value, builder) => {
      const message = chatMessage(value, format, builder.calls);
      if (!message) return "no chat message: it has no known role, or neither content nor calls";
      builder.add(message);
      return undefined;
    }),
};
