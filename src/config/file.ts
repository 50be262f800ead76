/** Reads `windrow.config.{yaml,yml,json,mjs}`, and the `llm` section of a host's own config.yaml. */
import { jsonFault, isObject } from "../message/json.ts";
import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import type { Document, Node } from "yaml";
import { isWindrowError, WindrowError } from "../errors.ts";
import { checkSettings } from "./check.ts";
import type { Locate } from "./check.ts";
import type { Settings } from "./schema.ts";

/** A configuration file after reading. */
export interface ConfigFile {
  readonly path: string;
  readonly settings: Settings;
  /** The line of a key, from 1, when the file has lines. */
  readonly lineOf: (path: readonly string[]) => number | undefined;
  /** The host's own keys that were ignored. */
  readonly foreign: readonly string[];
}

/**
 * Reads a file. A file of another name with an `llm` section is a host's own: only its model and context length are
 * read.
 *
 * @throws WindrowError `input-not-found`, `input-unreadable`, `bad-option` with every fault and its line
 */
export async function readConfig(path: string): Promise<ConfigFile> {
  const { value, locate, lineOf } = /\.[cm]?js$/.test(path) ? await importModule(path) : parseText(path);
  const isForeign = !basename(path).startsWith("windrow.config.") && isObject(value) && "llm" in value;
  const own = isForeign ? Object.fromEntries(Object.entries(value).filter(([key]) => hostKeys.has(key))) : value;
  const foreign = isForeign ? Object.keys(value).filter((key) => !hostKeys.has(key)) : [];
  return { path, settings: fromFile(checkSettings(own ?? {}, locate), dirname(path)), lineOf, foreign };
}

const hostKeys = new Set(["llm", "llm_provider", "context_length", "compression_threshold"]);

interface Parsed {
  readonly value: unknown;
  readonly locate: Locate;
  readonly lineOf: ConfigFile["lineOf"];
}

function parseText(path: string): Parsed {
  const lines = new LineCounter();
  const document = foreseen(path, () => parseDocument(readText(path), { lineCounter: lines }));
  const [fault] = document.errors;
  if (fault) {
    const { line = 1, col = 1 } = fault.linePos?.[0] ?? {};
    const [said = ""] = fault.message.split(/ at line \d+|\n/);
    throw new WindrowError("bad-option", `${path}:${line}:${col}: this is no YAML or JSON: ${said}.`, { path, line });
  }
  const lineOf = (keys: readonly PropertyKey[]): number | undefined => {
    const offset = offsetOf(document, keys);
    return offset === undefined ? undefined : lines.linePos(offset).line;
  };
  const locate: Locate = (keys) => `${path}:${lineOf(keys) ?? 1}`;
  const value: unknown = foreseen(path, () => document.toJS());
  const reason = jsonFault(value, { undefinedToo: true });
  if (reason !== undefined) throw unusable(path, reason);
  return { value, locate, lineOf };
}

/** Nesting past the parser's stack, or aliases that repeat themselves without end, is a fault of the file. */
function foreseen<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isWindrowError(error)) throw error;
    throw unusable(path, error instanceof Error ? error.message : String(error));
  }
}

function unusable(path: string, reason: string): WindrowError {
  return new WindrowError("bad-option", `${path} cannot be used as a configuration: ${reason}.`, { path });
}

/** The offset of a key, or of the nearest place above it. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const key of path) {
    if (!isMap(node)) {
      node = (node as { readonly items?: readonly Node[] } | null)?.items?.[Number(key)];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
      continue;
    }
    const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
    if (!pair) break;
    offset = (pair.key as Node).range?.[0] ?? offset;
    node = pair.value;
  }
  return offset;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const message = missing
      ? `There is no config file ${path}.`
      : `The config ${path} cannot be read: ${String(cause)}.`;
    throw new WindrowError(missing ? "input-not-found" : "input-unreadable", message, { path }, { cause });
  }
}

async function importModule(path: string): Promise<Parsed> {
  readText(path);
  const locate: Locate = () => path;
  try {
    const module = (await import(pathToFileURL(path).href)) as {
      readonly default?: unknown;
      readonly config?: unknown;
    };
    const exported = module.default ?? module.config;
    const value: unknown = typeof exported === "function" ? await (exported as () => unknown)() : exported;
    return { value: value ?? {}, locate, lineOf: () => undefined };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new WindrowError("bad-option", `${path} cannot be imported: ${why}`, { path }, { cause });
  }
}

/** Resolves paths in a file against its folder. */
function fromFile(settings: Settings, folder: string): Settings {
  const { store, archive, strategy, audit } = settings;
  return {
    ...settings,
    ...(store !== undefined && { store: absoluteStore(store, folder) }),
    ...(archive !== undefined && { archive: absoluteStore(archive, folder) }),
    ...(typeof audit === "string" && { audit: resolve(folder, audit) }),
    ...(strategy !== undefined && { strategy: absoluteStrategy(strategy, folder) }),
  };
}

function absoluteStore(store: string, folder: string): string {
  const [, scheme, rest = store] = /^(file|sqlite):(?!\/\/)(.*)$/i.exec(store) ?? [];
  if (scheme === undefined && /^[A-Za-z][A-Za-z0-9+.-]+:/.test(store)) return store;
  return `${scheme === undefined ? "" : `${scheme}:`}${resolve(folder, rest)}`;
}

type StrategySetting = NonNullable<Settings["strategy"]>;

function absoluteStrategy(strategy: StrategySetting, folder: string): StrategySetting {
  if (typeof strategy === "string") return absoluteName(strategy, folder);
  if ("use" in strategy) return { ...strategy, use: absoluteName(String(strategy.use), folder) };
  const { pluginId, ...rest } = strategy.contextStrategy;
  if (pluginId === undefined) return strategy;
  return { ...strategy, contextStrategy: { ...rest, pluginId: absoluteName(pluginId, folder) } };
}

/** A name as it is; the path of a module, or of a plugin.json, as a URL. */
function absoluteName(use: string, folder: string): string {
  const isPath = /^\.{1,2}\//.test(use) || (/\.json$/i.test(use) && !use.startsWith("file:"));
  return isPath ? pathToFileURL(resolve(folder, use)).href : use;
}
