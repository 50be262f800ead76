/** The name of a session's task, in few words. */

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
