/** Layers of the configuration: sources of settings, each over the one before. */
import { isObject } from "../message/json.ts";
import type { Settings } from "./schema.ts";

/** The sources of settings, weakest first. */
export const layerNames = ["default", "user", "project", "user-config", "environment", "flag"] as const;

/** One of {@link layerNames}. */
export type LayerName = (typeof layerNames)[number];

/** The origin of a value. */
export interface Origin {
  readonly layer: LayerName;
  /** The file, for a layer that is one. */
  readonly file?: string;
  /** The line in it, from 1. */
  readonly line?: number;
  /** The variable of the environment. */
  readonly variable?: string;
  /** The server of the user's own settings. */
  readonly host?: string;
}

/** Settings from one place. */
export interface Layer {
  readonly name: LayerName;
  readonly settings: Settings;
  readonly file?: string;
  /** Further fields of a key's origin. */
  readonly about?: (key: readonly string[]) => Partial<Origin>;
}

/** Settings, and the origin of each by its dotted key. */
export interface Layered {
  readonly settings: Settings;
  readonly origins: ReadonlyMap<string, Origin>;
}

/** Settings that are one value, however many keys they have. */
const whole: ReadonlySet<string> = new Set(["model", "strategy"]);

/** Merges the layers; a later one overrides those before it. */
export function layered(layers: readonly Layer[]): Layered {
  const origins = new Map<string, Origin>();
  let settings: Readonly<Record<string, unknown>> = {};
  for (const layer of layers) settings = over(settings, layer.settings, [], layer, origins);
  return { settings, origins };
}

function over(
  below: Readonly<Record<string, unknown>>,
  above: Readonly<Record<string, unknown>>,
  path: readonly string[],
  layer: Layer,
  origins: Map<string, Origin>,
): Readonly<Record<string, unknown>> {
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    if (value === undefined || key === "$schema" || key === "version") continue;
    const at = [...path, key];
    if (isObject(value) && !whole.has(key)) {
      const under = merged[key];
      merged[key] = over(isObject(under) ? under : {}, value, at, layer, origins);
      continue;
    }
    merged[key] = value;
    const file = layer.file === undefined ? {} : { file: layer.file };
    origins.set(at.join("."), { layer: layer.name, ...file, ...layer.about?.(at) });
  }
  return merged;
}
