/** The settings that a session's windows were composed by, as far as they are on disk. */
import { isWindrowError } from "../../errors.ts";
import type { JsonObject } from "../../message/message.ts";
import { knownSecrets, textMask } from "../../mask/text.ts";
import type { Store } from "../../store/store.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { loadCounterFor } from "../../window/settings.ts";
import { strategyIn, strategyOf } from "../../window/by-name.ts";
import type { ComposerOptions } from "../../window/compose-options.ts";
import { profileOf } from "../../window/provider/profile.ts";
import type { Strategy } from "../../window/window.ts";
import type { EpochLine } from "./epoch-index.ts";

/** The settings of a rebuilt window: a strategy that never edits, and what its messages are shown by. */
export type RebuildSettings = Required<
  Pick<ComposerOptions, "strategy" | "profile" | "counter" | "mask" | "ingestCap">
>;

/** The names under which a window was composed. */
type ComposedUnder = Pick<EpochLine, "strategy" | "profile" | "counter"> &
  Partial<Pick<EpochLine, "model" | "ingestCap">>;

/** A text of a session's configuration. */
export function configText(config: JsonObject, name: string): string | undefined {
  const value = config[name];
  return typeof value === "string" ? value : undefined;
}

/** The session's counter; the estimate where its own cannot be had. */
export async function sessionCounter(config: JsonObject, name = configText(config, "counter")): Promise<TokenCounter> {
  const { settings } = strategyNamed(config, configText(config, "strategy") ?? "adaptive") ?? {};
  // A preset's counter comes with its image tokens, which no name says.
  const own = settings?.counter !== undefined && settings.counter === name ? undefined : name;
  try {
    return await loadCounterFor(settings, own);
  } catch (error) {
    if (!isWindrowError(error)) throw error;
    return loadCounterFor(undefined, "estimate");
  }
}

/** The settings for the windows of an epoch. */
export async function rebuildSettings(
  store: Store,
  config: JsonObject,
  under: ComposedUnder,
  counter: TokenCounter,
): Promise<RebuildSettings> {
  const model = under.model ?? configText(config, "model");
  return {
    strategy: frozen(under.strategy),
    profile: { ...profileNamed(under.profile), ...(model !== undefined && { model }) },
    counter: counter.name === under.counter ? counter : await sessionCounter(config, under.counter),
    mask: textMask(store.capabilities.mask ?? knownSecrets),
    ingestCap: under.ingestCap ?? Infinity,
  };
}

/** A strategy that shows a window and opens no epoch. */
function frozen(name: string): Strategy {
  return { name, passes: [], trigger: {}, lowWater: 1, keepFirstUser: false };
}

/** The strategy of a name, with the session's own options where it is the session's; undefined for one of a host's. */
function strategyNamed(config: JsonObject, name: string): Strategy | undefined {
  try {
    return (config["strategy"] === name ? strategyIn(config) : undefined) ?? strategyOf(name);
  } catch (error) {
    if (!isWindrowError(error)) throw error;
    return undefined;
  }
}

function profileNamed(name: string): ReturnType<typeof profileOf> {
  try {
    return profileOf(name);
  } catch (error) {
    if (!isWindrowError(error)) throw error;
    return profileOf("openai-chat");
  }
}
