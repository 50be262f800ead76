/** A window as plain text: every message under a line that names it, its parts raw, as the model saw them. */
import type { Part } from "../../message/message.ts";
import type { ViewerMessage, WindowEntry } from "../viewer.ts";

/** The fields of a message that its text is made of. */
export type TextMessage = Pick<ViewerMessage, "role" | "id" | "parts">;

/** The text of a whole window: each message under its head, an empty line between two. */
export function windowText(messages: readonly TextMessage[]): string {
  return messages.map((message) => `${messageHead(message)}\n${partsText(message.parts)}`).join("\n\n");
}

/** The line before a message's text. */
export function messageHead({ role, id }: Pick<TextMessage, "role" | "id">): string {
  return `--- ${role} [${id}]`;
}

/** The text of parts, one below the other, unindented. */
export function partsText(parts: readonly Part[]): string {
  return parts.map(partText).join("\n");
}

/** The text of one part. A call has its arguments as JSON, or raw where they were cut off. */
export function partText(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "reasoning":
      return `(reasoning) ${part.text}`;
    case "tool-call":
      return `(call ${part.callId}) ${part.name}(${part.argsText ?? JSON.stringify(part.args)})`;
    case "tool-result": {
      const content = typeof part.content === "string" ? part.content : partsText(part.content);
      return `(result of ${part.callId}${part.isError ? ", an error" : ""}) ${content}`;
    }
    case "image":
    case "file":
      return `(${part.type}, ${part.mediaType})`;
    case "opaque":
      return `(${part.kind})`;
  }
}

/**
 * The messages of a window in order: an entry's own, or the log's.
 *
 * @param logged - gives the message of the log by its `seq`
 */
export function windowMessages(
  entries: readonly Pick<WindowEntry, "seq" | "message">[],
  logged: (seq: number) => ViewerMessage | undefined,
): readonly ViewerMessage[] {
  return entries.flatMap(({ seq, message }) => message ?? logged(seq) ?? []);
}
