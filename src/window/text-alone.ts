/** Messages as a digest reads them: without what no line is made of. */
import type { Message, Part, ResultContent } from "../message/message.ts";

const lengths = new WeakMap<Message, number>();

/** Characters of a message beside its texts and calls: images, files, reasoning, and what a provider or host brought. */
export function lengthBeside(message: Message): number {
  let length = lengths.get(message);
  if (length === undefined) {
    length = sum(message.parts, besidePart) + (message.extra === undefined ? 0 : JSON.stringify(message.extra).length);
    lengths.set(message, length);
  }
  return length;
}

function besidePart(part: Part): number {
  const own = "opaque" in part && part.opaque !== undefined ? JSON.stringify(part.opaque).length : 0;
  switch (part.type) {
    case "reasoning":
      return own + part.text.length + (part.signature?.length ?? 0);
    case "tool-call":
      return own + (part.argsText?.length ?? 0);
    case "tool-result":
      return own + (typeof part.content === "string" ? 0 : sum(part.content, besidePart));
    case "image":
    case "file":
      return own + (part.data?.length ?? 0) + (part.url?.length ?? 0);
    case "opaque":
      return part.data === null ? 0 : JSON.stringify(part.data).length;
    default:
      return own;
  }
}

function sum<T>(items: readonly T[], lengthOf: (item: T) => number): number {
  return items.reduce((all, item) => all + lengthOf(item), 0);
}

const bare = new WeakSet<Message>();

/** A message with its texts and its calls alone; of an image, a file and a provider's part the place is left. */
export function textAlone(message: Message): Message {
  const { extra: _, ...rest } = message;
  const copy = { ...rest, parts: message.parts.flatMap(barePart) };
  bare.add(copy);
  return copy;
}

/** As {@link textAlone}; a message that has nothing beside texts and calls is itself. */
export function lightened(message: Message): Message {
  return lengthBeside(message) === 0 ? message : textAlone(message);
}

/** Whether a message is one that {@link textAlone} made: it is not what was given. */
export function isTextAlone(message: Message): boolean {
  return bare.has(message);
}

function barePart(part: Part): readonly Part[] {
  if (besidePart(part) === 0) return [part];
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
