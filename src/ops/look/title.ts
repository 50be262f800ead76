/** The title of a session: the first words that its user said. */
import { messageText } from "../../message/message.ts";
import { inlineText } from "../../message/quote.ts";
import type { Scope, Store } from "../../store/store.ts";

/** Characters of a title. */
const titleLength = 80;

/** Messages among which the user's first is looked for. */
const looked = 8;

/**
 * The beginning of what the user said first, on one line; undefined where the first messages hold no word of theirs, or
 * cannot be read.
 */
export async function sessionTitle(store: Store, scope: Scope, id: string): Promise<string | undefined> {
  try {
    for await (const { message } of store.read(scope, id, { kind: "message", to: looked })) {
      if (message.role !== "user" || message.status === "synthetic") continue;
      const text = inlineText(
        messageText(message)
          .slice(0, 4 * titleLength)
          .toWellFormed(),
      );
      if (text === "") continue;
      const points = [...text];
      return points.length <= titleLength ? text : `${points.slice(0, titleLength).join("")}…`;
    }
  } catch {
    // A session that cannot be read is listed all the same.
  }
  return undefined;
}
