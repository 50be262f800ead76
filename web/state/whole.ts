/** Messages with the texts that were cut for the page, made whole again. */
import type { Part } from "../../src/message/message.ts";
import type { ViewerMessage, ViewerSource } from "../../src/viewer/viewer.ts";
import { cutText, partAt } from "../../src/viewer/page/cut.ts";

const step = 500_000;

/** A message with all of its texts. */
export async function wholeMessage(
  source: Pick<ViewerSource, "text">,
  id: string,
  message: ViewerMessage,
): Promise<ViewerMessage> {
  const parts: Part[] = [...message.parts];
  for (const [place, length] of Object.entries(message.cut ?? {})) {
    const short = partAt(message, place);
    let text = short ? (cutText(short) ?? "") : "";
    while (text.length < length) {
      const next = await source.text(id, message.seq, place, text.length, Math.min(length, text.length + step));
      if (next === "") break;
      text += next;
    }
    const [index = "", piece] = place.split(".");
    const part = parts[Number(index)];
    if (part) parts[Number(index)] = withText(part, text, piece === undefined ? undefined : Number(piece));
  }
  const { cut: _, ...rest } = message;
  return { ...rest, parts };
}

function withText(part: Part, text: string, piece: number | undefined): Part {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { ...part, text };
    case "tool-call":
      return { ...part, argsText: text };
    case "tool-result": {
      if (piece === undefined || typeof part.content === "string") return { ...part, content: text };
      const content = part.content.map((one, at) => (at === piece && one.type === "text" ? { ...one, text } : one));
      return { ...part, content };
    }
    case "image":
    case "file":
    case "opaque":
      return part;
  }
}
