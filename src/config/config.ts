/**
 * The configuration in layers: a user's file, a project's file, a user's settings from a server, the environment, flags.
 * Each value comes with its origin. docs/configuration.md describes the layers.
 */
import { join, resolve } from "node:path";
import { readEnvironment, setVariables, variables } from "./environment.ts";
import { configAbove, configIn } from "./find.ts";
import type { FoundFile } from "./find.ts";
import { foldHostKeys } from "./llm.ts";
import { layered } from "./layers.ts";
import type { Layer, Origin } from "./layers.ts";
import type { Settings } from "./schema.ts";

export type { Layer, LayerName, Origin } from "./layers.ts";
export type { Settings } from "./schema.ts";

/** The configuration with its origins. */
export interface Config {
  /**
   * The settings in force, by the keys of docs/configuration.md. A host's `llm` keys appear as `model` and `budget`.
   */
  readonly settings: Settings;
  /** The origin of each value, by its dotted key: `monitor.interval`. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** The files that were read, weakest first. */
  readonly files: readonly string[];
  /** Notes for people on what was ignored, and why. */
  readonly notes: readonly string[];
  /** The reason why a user's own settings are missing. Absent when they were read or not asked for. */
  readonly userConfigFailure?: string;
}

/** Places to look for configuration. */
export interface LoadConfigOptions {
  /** The project's folder. Its file is searched from here upwards. Default: the working folder. */
  readonly folder?: string;
  /** The project's file, by any name. No other file is searched then. */
  readonly file?: string;
  /** The environment. `HOME` or `XDG_CONFIG_HOME` locates the user's file. Default: the process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Settings given by hand, for example as flags. They override all others. */
  readonly flags?: Settings;
}

/** The defaults. */
const defaults: Settings = {
  store: "./contexts",
  durability: "strict",
  strategy: "adaptive",
  counter: "estimate",
  compaction: "background",
  audit: false,
};

/**
 * Finds, reads, checks and layers the configuration, weakest first: defaults, the user's file
 * (`~/.config/windrow/windrow.config.*`), the project's file, the user's own settings from `userConfig.url`, the
 * environment, flags. A later layer overrides key by key.
 *
 * @throws WindrowError `bad-option` for a file, a variable or a flag that is wrong, with its place; `input-not-found`,
 *   `input-unreadable`. A server that gives no settings is no error: see {@link Config.userConfigFailure}.
 */
export async function loadConfig(options: LoadConfigOptions = {}, signal?: AbortSignal): Promise<Config> {
  const { folder = process.cwd(), file, environment = process.env, flags } = options;
  const home = homeOf(environment);
  const found = [home === undefined ? undefined : configIn(home), projectFile(file, folder)];
  const names = ["user", "project"] as const;
  const layers: Layer[] = [{ name: "default", settings: defaults }];
  const notes: string[] = [];
  for (const [place, one] of found.entries()) {
    if (!one || (place === 1 && one.path === found[0]?.path)) continue;
    if (one.stranger)
      notes.push(`${one.path} belongs to another user of this system and was not read; name it to use it.`);
    else layers.push(await fileLayer(names[place]!, one.path, notes));
  }
  if (setVariables(environment).length > 0) {
    const origins = new Map([...variables].flatMap(([name, key]) => (environment[name] ? [[key, name] as const] : [])));
    const settings = await readEnvironment(environment);
    layers.push({ name: "environment", settings, about: (key) => ({ variable: origins.get(key.join(".")) ?? "" }) });
  }
  if (flags) layers.push({ name: "flag", settings: flags });
  const asked = await userLayer(layered(layers).settings, environment, signal);
  // The user's settings override the files and give way to the environment.
  if (asked?.layer) layers.splice(layers.findLastIndex(isFile) + 1, 0, asked.layer);
  const { settings, origins } = foldHostKeys(layered(layers));
  return {
    settings,
    origins,
    files: layers.flatMap((layer) => layer.file ?? []),
    notes,
    ...(asked?.failure !== undefined && { userConfigFailure: asked.failure }),
  };
}

function isFile({ name }: Layer): boolean {
  return name === "default" || name === "user" || name === "project";
}

function homeOf(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const { XDG_CONFIG_HOME: config, HOME: home, USERPROFILE: profile } = environment;
  if (config) return join(config, "windrow");
  const base = home || profile;
  return base ? join(base, ".config", "windrow") : undefined;
}

function projectFile(file: string | undefined, folder: string): FoundFile | undefined {
  return file === undefined ? configAbove(resolve(folder)) : { path: resolve(folder, file), stranger: false };
}

async function fileLayer(name: "user" | "project", path: string, notes: string[]): Promise<Layer> {
  const { readConfig } = await import("./file.ts");
  const { settings, lineOf, foreign } = await readConfig(path);
  if (foreign.length > 0) notes.push(`${path} is another program's: its keys ${foreign.join(", ")} were passed over.`);
  const about = (key: readonly string[]): Partial<Origin> => {
    const line = lineOf(key);
    return line === undefined ? {} : { line };
  };
  return { name, settings, file: path, about };
}

async function userLayer(
  { user, userConfig }: Settings,
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal | undefined,
): Promise<{ readonly layer?: Layer; readonly failure?: string } | undefined> {
  const { url, ...how } = userConfig ?? {};
  if (url === undefined || user === undefined) return undefined;
  const { fetchUserConfig } = await import("./user-config.ts");
  const apiKey = environment["USER_CONFIG_API_KEY"];
  const { settings, failure } = await fetchUserConfig(user, { url, ...how, ...(apiKey && { apiKey }) }, signal);
  const layer: Layer = { name: "user-config", settings, about: () => ({ host: new URL(url).host }) };
  return { ...(Object.keys(settings).length > 0 && { layer }), ...(failure !== undefined && { failure }) };
}
