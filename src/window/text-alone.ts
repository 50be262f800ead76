/** Messages as a digest reads them: without what no line is made of. */
import type { Message, Part, ResultContent } from "../message/message.ts";

const bare = new WeakSet<Message>();

/**
 * A message with its texts and its calls alone; of an image, a file and a provider's part the place is left. A message that
 * has nothing else is itself.
 */
export function textAlone(message: Message): Message {
  const { extra, ...rest } = message;
  if (extra === undefined && message.parts.every(isBare)) return message;
  const copy = { ...rest, parts: message.parts.flatMap(barePart) };
  bare.add(copy);
  return copy;
}

/** Whether a message is one that {@link textAlone} made: it is not what was given. */
export function isTextAlone(message: Message): boolean {
  return bare.has(message);
}

/** Whether a part has texts and calls alone: no image, file or reasoning, and nothing that a provider or a host brought. */
function isBare(part: Part): boolean {
  if ("opaque" in part && part.opaque !== undefined) return false;
  switch (part.type) {
    case "text":
      return true;
    case "tool-call":
      return part.argsText === undefined;
    case "tool-result":
      return typeof part.content === "string" || part.content.every(isBare);
    case "image":
    case "file":
      return part.data === undefined && part.url === undefined;
    case "opaque":
      return part.data === null;
    default:
      return false;
  }
}

function barePart(part: Part): readonly Part[] {
  if (isBare(part)) return [part];
  switch (part.type) {
    case "reasoning":
      return [];
    case "tool-call": {
      const { opaque: _opaque, argsText: _argsText, ...bare } = part;
      return [bare];
    }
    case "tool-result": {
      const { opaque: _, ...bare } = part;
      return [{ ...bare, content: typeof part.content === "string" ? part.content : part.content.map(bareContent) }];
    }
    default:
      return [bareContent(part)];
  }
}

function bareContent(part: ResultContent): ResultContent {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image", mediaType: part.mediaType };
    case "file":
      return { type: "file", mediaType: part.mediaType, ...(part.name !== undefined && { name: part.name }) };
    case "opaque":
      return { type: "opaque", kind: part.kind, data: null };
  }
}
