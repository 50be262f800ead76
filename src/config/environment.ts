/** Settings in the environment: `WINDROW_` and the key, `WINDROW_MONITOR_INTERVAL` for `monitor.interval`. */
import type { Settings } from "./schema.ts";

/** The keys that have a variable, each with the reader of its text. */
const keys = {
  "store": "text",
  "durability": "text",
  "archive": "text",
  "user": "text",
  "tenant": "text",
  "admin": "flag",
  "access.admins": "list",
  "audit": "flag",
  "mask.email": "flag",
  "mask.environment": "flag",
  "mask.seal": "text",
  "mask.liveMask": "flag",
  "model": "text",
  "strategy": "text",
  "budget": "number",
  "profile": "text",
  "counter": "text",
  "ingestCap": "number",
  "maxSummaryTokens": "number",
  "maxBootstrapTokens": "number",
  "compaction": "text",
  "calibrate": "flag",
  "idleTimeout": "number",
  "userConfig.url": "text",
  "userConfig.timeout": "number",
  "userConfig.cache": "number",
  "monitor.interval": "number",
  "monitor.timeout": "number",
  "monitor.stale": "number",
} as const satisfies Readonly<Record<string, "text" | "flag" | "number" | "list">>;

/** An older name for the address of users' configurations (docs/presets.md). */
const userConfigVariable = "USER_CONFIG_API";

/** The name of a key's variable: `WINDROW_MONITOR_INTERVAL`. */
function variableOf(key: string): string {
  return `WINDROW_${key.replaceAll(".", "_").replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`;
}

/** Every known variable, with the key it sets. */
export const variables: ReadonlyMap<string, string> = new Map([
  [userConfigVariable, "userConfig.url"],
  ...Object.keys(keys).map((key): [string, string] => [variableOf(key), key]),
]);

/** The known variables that are set and not empty. */
export function setVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return [...variables.keys()].filter((name) => (environment[name] ?? "") !== "");
}

/**
 * The settings of the environment.
 *
 * @throws WindrowError `bad-option` that names the variable
 */
export async function readEnvironment(environment: Readonly<Record<string, string | undefined>>): Promise<Settings> {
  const found: Record<string, unknown> = {};
  const names = new Map<string, string>();
  for (const variable of setVariables(environment)) {
    const key = variables.get(variable)!;
    names.set(key, variable);
    const [section, inner] = key.split(".");
    const value = valueOf(keys[key as keyof typeof keys], environment[variable]!);
    found[section!] = inner === undefined ? value : { ...(found[section!] as object | undefined), [inner]: value };
  }
  const { checkSettings } = await import("./check.ts");
  return checkSettings(found, (path) => names.get(path.slice(0, 2).join(".")) ?? names.get(String(path[0])) ?? "");
}

function valueOf(kind: (typeof keys)[keyof typeof keys], text: string): unknown {
  if (kind === "list") return text.split(",").map((item) => item.trim());
  if (kind === "number") return text.trim() === "" || Number.isNaN(Number(text)) ? text : Number(text);
  const flag = { true: true, 1: true, false: false, 0: false }[text.toLowerCase()];
  return kind === "flag" ? (flag ?? text) : text;
}
