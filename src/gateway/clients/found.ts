/** Clients of this machine: whether they are here, and where each has its provider's address from. Only read, never changed. */
import { access, constants, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import type { Environment } from "./route.ts";
import { codexKey, opencodeVariable } from "./route.ts";

/** The name of a client that doctor knows. */
export type ClientName = "claude" | "codex" | "gemini" | "opencode" | "pi";

/** An address of a provider, and where it stands. */
export interface FoundAddress {
  readonly address: string;
  /** A variable's name, or a file with the name of its setting. */
  readonly place: string;
}

/** A client, and the places that it has its address from. */
export interface Client {
  readonly name: ClientName;
  /** The addresses that count now; empty where it talks to its provider directly. */
  find(env: Environment): Promise<readonly FoundAddress[]>;
  /** Lines that point it at a gateway: the first for a shell, the second, where there is one, for a file of its own. */
  set(url: string): readonly string[];
  /** Lines that take it out again, one for each of {@link Client.set}. */
  unset(): readonly string[];
}

/** Every client that doctor knows, in the order in which it tells of them. */
export const clients: readonly Client[] = [
  {
    name: "claude",
    async find(env) {
      const files = [
        ".claude/settings.local.json",
        ".claude/settings.json",
        join(homeOf(env), ".claude/settings.json"),
      ];
      const name = "ANTHROPIC_BASE_URL";
      for (const file of files) {
        const address = textOf(at(await json(file), "env", name));
        if (address !== undefined) return [{ address, place: `${file}, env.${name}` }];
      }
      return variable(env, name);
    },
    set: (url) => [
      `export ANTHROPIC_BASE_URL=${url}`,
      `~/.claude/settings.json: "env": { "ANTHROPIC_BASE_URL": "${url}" }`,
    ],
    unset: () => ["unset ANTHROPIC_BASE_URL", "~/.claude/settings.json: remove ANTHROPIC_BASE_URL from env"],
  },
  {
    name: "codex",
    async find(env) {
      const file = join(env["CODEX_HOME"] ?? join(homeOf(env), ".codex"), "config.toml");
      return codexAddresses(await text(file), file);
    },
    set: (url) => [`codex -c '${codexKey}="${url}/v1"'`, `~/.codex/config.toml: ${codexKey} = "${url}/v1"`],
    unset: () => [`leave out -c ${codexKey}`, `~/.codex/config.toml: remove the line ${codexKey}`],
  },
  {
    name: "gemini",
    async find(env) {
      const name = "GOOGLE_GEMINI_BASE_URL";
      const set = variable(env, name);
      if (set.length > 0) return set;
      for (const file of [".gemini/.env", ".env", join(homeOf(env), ".gemini/.env"), join(homeOf(env), ".env")]) {
        const address = new RegExp(`^(?:export )?${name}=["']?([^"'\\s]+)`, "m").exec(await text(file))?.[1];
        if (address !== undefined) return [{ address, place: `${file}, ${name}` }];
      }
      return [];
    },
    set: (url) => [`export GOOGLE_GEMINI_BASE_URL=${url}`, `~/.gemini/.env: GOOGLE_GEMINI_BASE_URL=${url}`],
    unset: () => ["unset GOOGLE_GEMINI_BASE_URL", "~/.gemini/.env: remove the line GOOGLE_GEMINI_BASE_URL"],
  },
  {
    name: "opencode",
    async find(env) {
      const folder = join(env["XDG_CONFIG_HOME"] ?? join(homeOf(env), ".config"), "opencode");
      const content = env[opencodeVariable];
      const found = content === undefined ? [] : providersOf(parsed(content), opencodeVariable);
      if (found.length > 0) return found;
      const files = ["opencode.json", "opencode.jsonc", join(folder, "opencode.json"), join(folder, "opencode.jsonc")];
      for (const file of files) {
        const addresses = providersOf(await json(file), file);
        if (addresses.length > 0) return addresses;
      }
      return [];
    },
    set: (url) => [
      `export ${opencodeVariable}='{"provider":{"anthropic":{"options":{"baseURL":"${url}/v1"}}}}'`,
      `~/.config/opencode/opencode.json: "provider": { "anthropic": { "options": { "baseURL": "${url}/v1" } } }`,
    ],
    unset: () => [
      `unset ${opencodeVariable}`,
      "~/.config/opencode/opencode.json: remove baseURL from the provider's options",
    ],
  },
  {
    name: "pi",
    async find(env) {
      const file = join(env["PI_CODING_AGENT_DIR"] ?? join(homeOf(env), ".pi/agent"), "models.json");
      const providers = Object.entries(objectOf(at(await json(file), "providers")));
      return providers.flatMap(([name, provider]) => {
        const address = textOf(at(provider, "baseUrl"));
        return address === undefined ? [] : [{ address, place: `${file}, providers.${name}.baseUrl` }];
      });
    },
    set: (url) => [`~/.pi/agent/models.json: "providers": { "anthropic": { "baseUrl": "${url}" } }`],
    unset: () => ["~/.pi/agent/models.json: remove baseUrl from the provider"],
  },
];

/** The file that a command's name starts, or undefined where none of that name is in the path. */
export async function executableOf(name: string, env: Environment): Promise<string | undefined> {
  const endings = process.platform === "win32" ? (env["PATHEXT"] ?? ".EXE;.CMD").split(";") : [""];
  for (const folder of (env["PATH"] ?? "").split(delimiter).filter(Boolean)) {
    for (const ending of endings) {
      const file = join(folder, name + ending);
      const isThere = await access(file, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (isThere) return file;
    }
  }
  return undefined;
}

/** The providers that opencode has a key of, in its own file or in the environment. */
export async function opencodeKeys(env: Environment): Promise<readonly string[]> {
  const variables = {
    anthropic: ["ANTHROPIC_API_KEY"],
    openai: ["OPENAI_API_KEY"],
    google: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
  };
  const folder = env["XDG_DATA_HOME"] ?? join(homeOf(env), ".local/share");
  const kept = objectOf(await json(join(folder, "opencode/auth.json")));
  return Object.entries(variables)
    .filter(([name, keys]) => kept[name] !== undefined || keys.some((key) => (env[key] ?? "") !== ""))
    .map(([name]) => name);
}

function homeOf(env: Environment): string {
  return env["HOME"] ?? env["USERPROFILE"] ?? homedir();
}

function variable(env: Environment, name: string): readonly FoundAddress[] {
  const address = env[name];
  return address === undefined || address === "" ? [] : [{ address, place: name }];
}

/** The address in a configuration of Codex: of its own provider, or of the provider that it names. */
function codexAddresses(toml: string, file: string): readonly FoundAddress[] {
  const [top = ""] = toml.split(/^\s*\[/m);
  const value = (from: string, key: string): string | undefined =>
    new RegExp(`^\\s*${key}\\s*=\\s*["']([^"']+)["']`, "m").exec(from)?.[1];
  const provider = value(top, "model_provider") ?? "openai";
  const own = value(top, codexKey);
  if (provider === "openai") return own === undefined ? [] : [{ address: own, place: `${file}, ${codexKey}` }];
  const table = toml
    .split(/^\s*(?=\[)/m)
    .find((part) => part.replaceAll(/["']/g, "").startsWith(`[model_providers.${provider}]`));
  const address = value(table ?? "", "base_url");
  return address === undefined ? [] : [{ address, place: `${file}, model_providers.${provider}.base_url` }];
}

function providersOf(config: unknown, place: string): readonly FoundAddress[] {
  return Object.entries(objectOf(at(config, "provider"))).flatMap(([name, provider]) => {
    const address = textOf(at(provider, "options", "baseURL"));
    return address === undefined ? [] : [{ address, place: `${place}, provider.${name}.options.baseURL` }];
  });
}

async function text(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return "";
  }
}

async function json(file: string): Promise<unknown> {
  return parsed(await text(file));
}

/** Reads JSON, also with comments on lines of their own and commas at ends. */
function parsed(content: string): unknown {
  for (const candidate of [content, content.replaceAll(/^\s*\/\/.*$/gm, "").replaceAll(/,(\s*[}\]])/g, "$1")]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // The next reading is the looser one.
    }
  }
  return undefined;
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) found = objectOf(found)[key];
  return found;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
