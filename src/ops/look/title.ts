/** The names of sessions for people: of their tasks, and their titles in a list and at the head of what is shown of them. */
import { inlineText } from "../../message/quote.ts";
import { firstWords, titleMessages } from "../../message/title.ts";
import type { Scope, SessionMetadata, Store } from "../../store/store.ts";

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

/**
 * The task's name: `github/notfolder/coding_agent#27` where its key has these fields, else the key's values. A line of a
 * gateway, whose key holds hashes, is named by its client: `claude-code`, `claude-code agent a1`.
 */
export function taskName(key: unknown): string {
  if (typeof key !== "object" || key === null) return "";
  const fields = key as Readonly<Record<string, unknown>>;
  const { task_source: source, owner, repo, project_id: project } = fields;
  if (isGatewayLine(fields)) return lineName(fields);
  const number = fields["task_id"] ?? fields["number"] ?? fields["issue_number"] ?? fields["pr_number"];
  const place = [source, owner, repo ?? project].filter((part) => part !== undefined).map(plain);
  if (place.length > 0 && number !== undefined) return `${place.join("/")}#${plain(number)}`;
  return Object.values(fields).map(plain).join("/");
}

/** Whether a session's task key is that of a gateway's line. */
export function isGatewayLine(key: Readonly<Record<string, unknown>>): boolean {
  return key["gateway"] === 1 && typeof key["client"] === "string" && typeof key["line"] === "string";
}

function lineName({ client, line, agent }: Readonly<Record<string, unknown>>): string {
  const names = [client, line === "main" ? undefined : line, agent];
  return names.filter((name): name is string => typeof name === "string").join(" ");
}

/** A string, number or boolean as text; any other value as its JSON. */
export function plain(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "?";
  return typeof value === "object" ? JSON.stringify(value) : `${value as number | boolean | bigint}`;
}
