/** loadStrategy: a strategy by its name, from a module, or from a plugin.json. */
import { WindrowError } from "../errors.ts";
import { strategyFault, strategyOf } from "./by-name.ts";
import { checkGiven, kinds } from "./options.ts";
import type { Strategy, StrategyChoice } from "./window.ts";

/**
 * The specifier that {@link loadStrategy} takes: a name, a module, either with options, or a `plugin.json` with a
 * `contextStrategy`.
 */
export type StrategySpecifier = string | StrategyChoice | ContextStrategyConfig;

/** The part of a plugin.json that names a strategy (docs/presets.md, `openstarry`). */
export interface ContextStrategyConfig {
  readonly contextStrategy: {
    /** `plugin`, or the strategy's own name. */
    readonly type: string;
    /** The strategy: a name, an id such as `std-sliding-window-strategy`, or a module. */
    readonly pluginId?: string;
    readonly config?: Readonly<Record<string, unknown>>;
  };
}

/** Options of {@link loadStrategy}. */
export interface LoadOptions {
  /** The file a relative path is relative to, as a URL: the config file's. Required for relative paths. */
  readonly from?: string | URL;
  /** Imports a module by URL or package name. Default: `import()`. */
  readonly importModule?: (specifier: string) => Promise<unknown>;
}

/** The strategies by the ids that a plugin.json uses. */
const aliases: Readonly<Record<string, string>> = {
  "std-sliding-window-strategy": "openstarry-sliding",
  "std-summarization-strategy": "openstarry-summary",
  "std-entity-extraction-strategy": "openstarry-entity",
};

/**
 * A strategy for `SessionManager.open`, `composeWindow` or a replay. A specifier that is a path (`./mine.mjs`), a URL or,
 * behind `module:`, a package is imported: it exports `strategy`, a Strategy or a function from options to one
 * (docs/writing-a-pass.md).
 *
 * @example
 * const strategy = await loadStrategy({ use: "./mine.mjs", keep: 3 }, { from: import.meta.url });
 *
 * @throws WindrowError `unknown-strategy`, `bad-option` (a wrong option; a module that cannot be imported or exports no
 * strategy; a relative path without `from`)
 */
export async function loadStrategy(specifier: StrategySpecifier, options: LoadOptions = {}): Promise<Strategy> {
  const { use, ...settings } = choiceOf(specifier);
  const target = targetOf(use, options.from);
  if (target === undefined) return strategyOf({ use, ...settings });
  const module = await importFrom(use, target, options.importModule);
  const exported = strategyExport(module);
  const made: unknown =
    typeof exported === "function" ? await (exported as (given: object) => unknown)(settings) : exported;
  if (made === null || typeof made !== "object") {
    throw new WindrowError("bad-option", `The strategy module ${use} exports no \`strategy\`.`, { use });
  }
  const fault = strategyFault(made);
  if (fault) throw new WindrowError("bad-option", `The strategy of the module ${use} ${fault}.`, { use });
  return made as Strategy;
}

function choiceOf(specifier: StrategySpecifier): StrategyChoice {
  if (typeof specifier === "string") return { use: specifier };
  const given = (specifier as ContextStrategyConfig).contextStrategy;
  if (given === undefined) {
    const { use } = specifier as StrategyChoice;
    if (typeof use === "string") return specifier as StrategyChoice;
    throw new WindrowError("bad-option", "A strategy is a name, or an object with `use` or `contextStrategy`.");
  }
  checkGiven("contextStrategy", given, { type: kinds.text, pluginId: kinds.text, config: kinds.object });
  const id = given.type === "plugin" ? given.pluginId : given.type;
  if (typeof id !== "string" || id === "") {
    const message =
      '`contextStrategy` names no strategy: set `type` to "plugin" and `pluginId` to its name, or `type` to the name.';
    throw new WindrowError("bad-option", message, { contextStrategy: given });
  }
  return { ...given.config, use: Object.hasOwn(aliases, id) ? (aliases[id] ?? id) : id };
}

/** The module to import, or undefined for a name of Windrow's own. */
function targetOf(use: string, from: string | URL | undefined): string | undefined {
  if (use.startsWith("module:")) return use.slice("module:".length);
  if (/^(?:file|https?|data|node):/.test(use)) return use;
  if (!/^\.{0,2}\//.test(use)) return undefined;
  if (from !== undefined || use.startsWith("/")) return new URL(use, from ?? "file:///").href;
  throw new WindrowError("bad-option", `The path ${use} is relative: say to which file with \`from\`.`, { use });
}

async function importFrom(use: string, target: string, importModule?: LoadOptions["importModule"]): Promise<unknown> {
  try {
    return await (importModule ? importModule(target) : import(target));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new WindrowError(
      "bad-option",
      `The strategy module ${use} could not be imported: ${why}`,
      { use },
      { cause: error },
    );
  }
}

function strategyExport(module: unknown): unknown {
  const exported = module as { readonly strategy?: unknown; readonly default?: unknown } | null;
  return exported?.strategy ?? exported?.default;
}
