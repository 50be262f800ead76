/** Strategies that a command line or a configuration names, an agent's plugin.json among them. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { WindrowError } from "../../errors.ts";
import { isObject, parseJson } from "../../message/json.ts";
import { loadStrategy } from "../../window/load-strategy.ts";
import type { ContextStrategyConfig, StrategySpecifier } from "../../window/load-strategy.ts";
import type { Strategy, StrategyChoice } from "../../window/window.ts";

/**
 * As `loadStrategy`; a path that ends in `.json` is read: its `contextStrategy` is the strategy, and options given beside the
 * path stand above those in it.
 *
 * @param folder - the folder that a relative path starts from
 * @throws WindrowError `unknown-strategy`, `bad-option`, `input-not-found`, `input-unreadable`
 */
export async function strategyBy(specifier: StrategySpecifier, folder: string = process.cwd()): Promise<Strategy> {
  const path = pluginPath(specifier, folder);
  if (path === undefined) return loadStrategy(specifier, { from: pathToFileURL(`${folder}/`) });
  const { contextStrategy } = readPlugin(path);
  const { use: _, ...options } = typeof specifier === "string" ? { use: specifier } : (specifier as StrategyChoice);
  const config = { ...contextStrategy.config, ...options };
  return loadStrategy({ contextStrategy: { ...contextStrategy, config } }, { from: pathToFileURL(path) });
}

/**
 * The name of the strategy that a specifier, or the plugin.json that it names, means. Nothing is imported.
 *
 * @throws WindrowError `bad-option`, `input-not-found`, `input-unreadable`
 */
export function strategyName(specifier: StrategySpecifier): string {
  const path = pluginPath(specifier, process.cwd());
  const given = path === undefined ? specifier : readPlugin(path);
  if (typeof given === "string") return given;
  const plugin = (given as Partial<ContextStrategyConfig>).contextStrategy;
  if (!plugin) return (given as StrategyChoice).use;
  const { type, pluginId } = plugin;
  return type === "plugin" ? (pluginId ?? "") : type;
}

/** The file that a specifier names; undefined for one that is a name, a module or an object. */
function pluginPath(specifier: StrategySpecifier, folder: string): string | undefined {
  const use = typeof specifier === "string" ? specifier : (specifier as Partial<StrategyChoice>).use;
  if (typeof use !== "string" || !/\.json$/i.test(use)) return undefined;
  return use.startsWith("file:") ? fileURLToPath(use) : resolve(folder, use);
}

/**
 * A strategy of a command line: its name, the path of a plugin.json or a module, or JSON with `use` or `contextStrategy`.
 *
 * @throws WindrowError as {@link strategyBy}
 */
export function strategyFromText(text: string): Promise<Strategy> {
  return strategyBy(text.startsWith("{") ? ((parseJson(text) ?? text) as StrategySpecifier) : text);
}

function readPlugin(path: string): ContextStrategyConfig {
  const value = parseJson(textOf(path));
  if (isObject(value) && isObject(value["contextStrategy"])) return value as unknown as ContextStrategyConfig;
  throw new WindrowError("bad-option", `${path} is no JSON with a \`contextStrategy\`.`, { path });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const message = isMissing ? `There is no file ${path}.` : `${path} cannot be read: ${String(cause)}.`;
    throw new WindrowError(isMissing ? "input-not-found" : "input-unreadable", message, { path }, { cause });
  }
}
