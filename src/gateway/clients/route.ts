/** The way by which a command is pointed at a gateway: variables and arguments of its own process, and no file of the user's. */

/** The variables of a process, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A command that is pointed at a gateway. */
export interface Routed {
  readonly command: readonly string[];
  /** Variables of the command, beside those it is given anyway. */
  readonly env: Readonly<Record<string, string>>;
  /** Servers that the gateway passes to by name, since they were set before: `openai` to `https://llm.example.com`. */
  readonly upstreams: Readonly<Record<string, string>>;
  /** Sentences about what could not be set. */
  readonly notes: readonly string[];
}

/** A variable that clients read the address of their provider from. */
interface AddressVariable {
  readonly name: string;
  readonly upstream: string;
  /** The version that clients expect at the address's end; empty where they write it themselves. */
  readonly version: string;
}

/** The variables that are set for every command. */
export const addressVariables: readonly AddressVariable[] = [
  { name: "ANTHROPIC_BASE_URL", upstream: "anthropic", version: "" },
  { name: "OPENAI_BASE_URL", upstream: "openai", version: "/v1" },
  { name: "GOOGLE_GEMINI_BASE_URL", upstream: "gemini", version: "" },
];

/** The variable that opencode reads a configuration from, before its files. */
export const opencodeVariable = "OPENCODE_CONFIG_CONTENT";

/** The option by which Codex takes the address; it reads none from its environment. */
export const codexKey = "openai_base_url";

/**
 * Points a command at a gateway.
 *
 * @param url - the gateway's address, without a slash at its end
 * @param env - the environment the command would have had; an address in it becomes an upstream
 * @param providers - the providers that opencode has keys of: one without a key must not appear in it
 */
export function routeCommand(
  command: readonly string[],
  url: string,
  env: Environment,
  providers: readonly string[] = [],
): Routed {
  const variables: Record<string, string> = {};
  const upstreams: Record<string, string> = {};
  for (const { name, upstream, version } of addressVariables) {
    const { address, path } = split(env[name]);
    if (address !== undefined) upstreams[upstream] = address;
    variables[name] = address === undefined || path === version ? `${url}${version}` : `${url}/u/${upstream}${path}`;
  }
  const program = programOf(command);
  if (program === "codex") return codex({ command, env: variables, upstreams, notes: [] }, url);
  if (program === "opencode") return opencode({ command, env: variables, upstreams, notes: [] }, url, env, providers);
  const notes = program === "pi" ? [piNote(url)] : [];
  return { command, env: variables, upstreams, notes };
}

/** The name of the program that a command starts, also behind `npx`, `bunx` and `pnpm dlx`. */
export function programOf(command: readonly string[]): string {
  const [first = "", ...others] = command;
  const name = base(first);
  const isRunner = ["npx", "bunx", "pnpx", "node", "bun", "env", "nice"].includes(name);
  const isDlx = ["pnpm", "yarn"].includes(name) && ["dlx", "exec"].includes(others[0] ?? "");
  if (!isRunner && !isDlx) return name;
  const next = others.slice(isDlx ? 1 : 0).find((word) => !word.startsWith("-") && !word.includes("="));
  return next === undefined ? name : (packages[withoutVersion(next)] ?? base(next));
}

function withoutVersion(word: string): string {
  return word.replace(/(?<=.)@[^@/]*$/, "");
}

const packages: Readonly<Record<string, string>> = {
  "@anthropic-ai/claude-code": "claude",
  "@openai/codex": "codex",
  "opencode-ai": "opencode",
  "@google/gemini-cli": "gemini",
  "@earendil-works/pi-coding-agent": "pi",
  "@mariozechner/pi-coding-agent": "pi",
};

function base(path: string): string {
  return withoutVersion(path.replace(/^.*[/\\]/, "")).replace(/\.(?:exe|cmd|js|mjs|cjs)$/i, "");
}

/** The place of the program's own arguments in a command: behind its name. */
function argumentsAt(command: readonly string[], program: string): number {
  return command.findIndex((word) => base(word) === program || packages[withoutVersion(word)] === program) + 1;
}

function codex(routed: Routed, url: string): Routed {
  const { command } = routed;
  const given = command.findLastIndex((word) => word.replace(/^-c|^--config=/, "").startsWith(`${codexKey}=`));
  const option = (address: string): readonly string[] => ["-c", `${codexKey}="${address}"`];
  if (given === -1) {
    const at = argumentsAt(command, "codex");
    return { ...routed, command: [...command.slice(0, at), ...option(`${url}/v1`), ...command.slice(at)] };
  }
  const { address, path } = split(
    command[given]!.replace(/^[^=]*(?:config=[^=]*)?=/, "").replaceAll(/^["']|["']$/g, ""),
  );
  if (address === undefined) return routed;
  const target = path === "/v1" ? `${url}/v1` : `${url}/u/openai${path}`;
  // The last of two options counts.
  return {
    ...routed,
    command: [...command.slice(0, given + 1), ...option(target), ...command.slice(given + 1)],
    upstreams: { ...routed.upstreams, openai: address },
  };
}

/** The providers of opencode that need no address, with the version at the end of the one they have. */
const usualVersions = new Map([
  ["anthropic", "/v1"],
  ["openai", "/v1"],
  ["google", "/v1beta"],
]);

type Config = Readonly<Record<string, unknown>>;

function opencode(routed: Routed, url: string, env: Environment, known: readonly string[]): Routed {
  const config = parsed(env[opencodeVariable]);
  const providers = objectOf(config["provider"]);
  const upstreams: Record<string, string> = { ...routed.upstreams };
  const changed: Record<string, Config> = {};
  for (const name of new Set([...known, ...Object.keys(providers)])) {
    const provider = objectOf(providers[name]);
    const options = objectOf(provider["options"]);
    const usual = usualVersions.get(name);
    const { address, path } = split(typeof options["baseURL"] === "string" ? options["baseURL"] : undefined);
    if (address === undefined && usual === undefined) continue;
    if (address !== undefined) upstreams[`opencode-${name}`] = address;
    const baseURL = address === undefined ? `${url}${usual}` : `${url}/u/opencode-${name}${path}`;
    changed[name] = { ...provider, options: { ...options, baseURL } };
  }
  const content = JSON.stringify({ ...config, provider: { ...providers, ...changed } });
  const notes = [
    "opencode's providers that have their address from a file keep it. Set their baseURL to the gateway's there.",
  ];
  return { ...routed, env: { ...routed.env, [opencodeVariable]: content }, upstreams, notes };
}

function piNote(url: string): string {
  return (
    "pi reads its providers' addresses from ~/.pi/agent/models.json alone, so it is not routed. Set there " +
    `"baseUrl": "${url}" (Anthropic) or "${url}/v1" (OpenAI), with a --port that stays.`
  );
}

/** An address without the version at its end, and that version. */
function split(value: string | undefined): { readonly address?: string; readonly path: string } {
  if (value === undefined || value.trim() === "" || !URL.canParse(value.trim())) return { path: "" };
  const trimmed = value.trim().replace(/\/+$/, "");
  const path = /\/v1(?:beta|alpha)?$/.exec(trimmed)?.[0] ?? "";
  return { address: trimmed.slice(0, trimmed.length - path.length), path };
}

function parsed(text: string | undefined): Config {
  try {
    return objectOf(JSON.parse(text ?? "{}"));
  } catch {
    return {};
  }
}

function objectOf(value: unknown): Config {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Config) : {};
}
