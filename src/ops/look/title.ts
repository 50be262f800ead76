/** The title of a session: the first words that its user said. */
import { messageText } from "../../message/message.ts";
import { inlineText } from "../../message/quote.ts";
import { withoutTagged } from "../../message/tagged.ts";
import type { Scope, SessionMetadata, Store } from "../../store/store.ts";
import { isGatewayLine, taskName } from "./task-name.ts";

/** Characters of a title. */
const titleLength = 80;

/** Messages among which the user's first is looked for. */
const looked = 8;

/** Characters of a message that are searched for the user's words: a client's own sections may be long. */
const searched = 100_000;

/**
 * The beginning of what the user said first, on one line; undefined where the first messages hold no word of theirs, or
 * cannot be read. A client's own tagged sections count only where there is nothing else.
 */
export async function sessionTitle(store: Store, scope: Scope, id: string): Promise<string | undefined> {
  let tagged: string | undefined;
  try {
    for await (const { message } of store.read(scope, id, { kind: "message", to: looked })) {
      if (message.role !== "user" || message.status === "synthetic") continue;
      const text = messageText(message).slice(0, searched);
      const own = cut(withoutTagged(text));
      if (own !== "") return own;
      tagged ||= cut(text);
    }
  } catch {
    // A session that cannot be read is listed all the same.
  }
  return tagged || undefined;
}

/** The name of a session's task; of a gateway's line with the first words of its user. */
export async function shownTask(store: Store, scope: Scope, { uuid, taskKey }: SessionMetadata): Promise<string> {
  const name = taskName(taskKey);
  const title = isGatewayLine(taskKey) ? await sessionTitle(store, scope, uuid) : undefined;
  return title === undefined ? name : `${name}: ${title}`;
}

function cut(text: string): string {
  const line = inlineText(
    text
      .trimStart()
      .slice(0, 4 * titleLength)
      .toWellFormed(),
  );
  const points = [...line];
  return points.length <= titleLength ? line : `${points.slice(0, titleLength).join("")}…`;
}
