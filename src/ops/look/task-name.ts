/** The name of a session's task, in few words. */

/** The task's name: `github/notfolder/coding_agent#27` where its key has these fields, else the key's values. */
export function taskName(key: unknown): string {
  if (typeof key !== "object" || key === null) return "";
  const fields = key as Readonly<Record<string, unknown>>;
  const { task_source: source, owner, repo, project_id: project } = fields;
  const number = fields["task_id"] ?? fields["number"] ?? fields["issue_number"] ?? fields["pr_number"];
  const place = [source, owner, repo ?? project].filter((part) => part !== undefined).map(plain);
  if (place.length > 0 && number !== undefined) return `${place.join("/")}#${plain(number)}`;
  return Object.values(fields).map(plain).join("/");
}

/** A string, number or boolean as text; any other value as its JSON. */
export function plain(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "?";
  return typeof value === "object" ? JSON.stringify(value) : `${value as number | boolean | bigint}`;
}
