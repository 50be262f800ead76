/** The configuration of a manager: its options, over a configuration file where one is asked for. */
import type { Config, Settings } from "../../config/config.ts";
import type { OpenStoreOptions } from "../../access/options.ts";
import { tell } from "../events.ts";
import { strategyOf } from "../../window/by-name.ts";
import type { StrategySpecifier } from "../../window/by-name.ts";
import type { Strategy } from "../../window/window.ts";
import type { ManagerOptions } from "./options.ts";
import { strategyBy } from "./strategy-file.ts";

/** Options of a manager that a configuration can set under the same name. */
const names = [
  "user",
  "tenant",
  "admin",
  "audit",
  "store",
  "model",
  "budget",
  "profile",
  "counter",
  "ingestCap",
  "maxSummaryTokens",
  "maxBootstrapTokens",
  "compaction",
  "calibrate",
  "idleTimeout",
] as const satisfies readonly (keyof ManagerOptions & keyof Settings)[];

/** The options that decide which configuration applies: a user's settings depend on the user, a budget on the model. */
const decisive = ["user", "tenant", "admin", "audit", "model", "budget"] as const;

/**
 * The options with the configuration under them, and how the store is opened.
 *
 * @throws WindrowError as `loadConfig`; `not-allowed` for a user that may not be an admin
 */
export async function configured(given: ManagerOptions): Promise<{
  readonly options: ManagerOptions;
  readonly strategy: Strategy;
  readonly storeOptions: OpenStoreOptions;
}> {
  const config = await configOf(given);
  if (!config) {
    const strategy = strategyOf(given.strategy ?? "adaptive");
    return {
      options: given,
      strategy,
      storeOptions: { ...(await emailMask(strategy)), ...(await storeOptionsOf(given)) },
    };
  }
  const { settings, origins, userConfigFailure } = config;
  const told = names.filter((name) => settings[name] !== undefined && origins.get(name)?.layer !== "default");
  const under: ManagerOptions = Object.fromEntries(told.map((name) => [name, settings[name]]));
  const strategy = strategyOf(
    given.strategy ?? (await strategyBy((settings.strategy ?? "adaptive") as StrategySpecifier)),
  );
  const options = { ...under, ...given };
  if (userConfigFailure !== undefined) {
    tell(given.on, { type: "user-config-failed", user: options.user ?? "", reason: userConfigFailure });
  }
  const { openOptionsOf } = await import("../../access/from-config.ts");
  const mask = strategy.settings?.maskEmail === true ? { mask: { email: true, ...settings.mask } } : {};
  const { strategy: _, ...rest } = settings;
  const storeOptions = openOptionsOf({ ...rest, ...mask, ...accessGiven(options) });
  return { options, strategy, storeOptions: { ...storeOptions, ...archiveGiven(given) } };
}

/** A mask for strategies that mask e-mail addresses, too. */
async function emailMask({ settings }: Strategy): Promise<Pick<OpenStoreOptions, "mask">> {
  if (settings?.maskEmail !== true) return {};
  const { createMask } = await import("../../mask/mask.ts");
  return { mask: createMask({ email: true }) };
}

async function configOf({ config, ...given }: ManagerOptions): Promise<Config | undefined> {
  if (config === undefined || config === false || typeof config === "object") return config || undefined;
  const { loadConfig } = await import("../../config/config.ts");
  const flags: Settings = Object.fromEntries(
    decisive.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  );
  return loadConfig({ ...(typeof config === "string" && { file: config }), flags });
}

/** Without an admin or an audit the manager's own scope is all there is to it. */
async function storeOptionsOf(given: ManagerOptions): Promise<OpenStoreOptions> {
  if (given.admin === undefined && given.audit === undefined) return archiveGiven(given);
  const { accessOf } = await import("../../access/from-config.ts");
  return { ...archiveGiven(given), access: accessOf(accessGiven(given)) };
}

function archiveGiven({ archive }: ManagerOptions): Pick<OpenStoreOptions, "archive"> {
  return archive === undefined ? {} : { archive };
}

function accessGiven({ user, tenant, admin, audit }: ManagerOptions): Settings {
  const given = Object.entries({ user, tenant, admin, audit }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
