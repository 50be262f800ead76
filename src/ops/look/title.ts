/** The title of a session in a list, and at the head of what is shown of it. */
import { inlineText } from "../../message/quote.ts";
import { firstWords, titleMessages } from "../../message/title.ts";
import type { Scope, SessionMetadata, Store } from "../../store/store.ts";
import { isGatewayLine, taskName } from "./task-name.ts";

/** Fields of a task key that hold another program's id of the session, which names nothing that people know. */
const idFields = ["session_id", "session", "thread", "id"];

/**
 * The name that a session's program gave its task, else the first words of its user, on one line; empty where it has
 * neither. The client of a gateway's line stands in front of its user's words.
 */
export async function sessionTitle(
  store: Store,
  scope: Scope,
  { uuid, taskKey }: Pick<SessionMetadata, "uuid" | "taskKey">,
): Promise<string> {
  const [name, isLine] = [inlineText(taskName(taskKey)), isGatewayLine(taskKey)];
  if (name !== "" && !isLine && !idFields.some((field) => field in taskKey)) return name;
  // A session that cannot be read is listed all the same.
  const messages = store.read(scope, uuid, { kind: "message", to: titleMessages });
  const words = await firstWords(messages).catch(() => undefined);
  if (words === undefined) return name;
  return isLine ? `${name}: ${words}` : words;
}

/** The title of a session by its id; empty where it cannot be read, or lies in the trash. */
export async function titleOf(store: Store, scope: Scope, id: string): Promise<string> {
  return store.info(scope, id).then(
    ({ metadata }) => sessionTitle(store, scope, metadata),
    () => "",
  );
}
