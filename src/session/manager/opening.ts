/** The opening of a manager: its options, over a configuration if one is asked for, and the parts that they name. */
import type { Config, Settings } from "../../config/config.ts";
import type { OpenStoreOptions } from "../../access/options.ts";
import { clockOf } from "../../handed-in.ts";
import { knownSecrets, textMask } from "../../mask/text.ts";
import { engineSetting } from "../../memory/offload/due.ts";
import type { Memory } from "../../memory/memory.ts";
import { defined } from "../../message/json.ts";
import type { JsonObject } from "../../message/message.ts";
import { everyOf } from "../../store/shared/clock.ts";
import type { Clock } from "../../store/shared/clock.ts";
import type { Scope, Store } from "../../store/store.ts";
import { modelOf } from "../../tokens/models.ts";
import { budgetFor, loadCounterFor, sizedBy } from "../../window/settings.ts";
import { strategyOf } from "../../window/by-name.ts";
import type { StrategySpecifier } from "../../window/load-strategy.ts";
import { checkGiven } from "../../window/options.ts";
import { profileOf } from "../../window/provider/profile.ts";
import type { Strategy } from "../../window/window.ts";
import type { SessionOptions } from "../context.ts";
import { maskedListener, tell } from "../events.ts";
import { ownMemory } from "../memory.ts";
import { offloadKinds, optionKinds } from "./options.ts";
import type { ManagerOptions } from "./options.ts";
import { strategyBy } from "./strategy-file.ts";

/** The options that all sessions of a manager have in common. */
export type SharedOptions = Omit<SessionOptions, "lock" | "metadata" | "state" | "ended" | "closed">;

/** A manager's parts, ready. */
export interface ManagerParts {
  /** Its options, over a configuration. */
  readonly options: ManagerOptions;
  readonly shared: SharedOptions;
  /** The settings that a new session's metadata keeps (docs/format.md). */
  readonly settings: JsonObject;
  /** The memory that was chosen, limited to the manager's scope. */
  readonly memory: Memory | undefined;
  /** That memory, if sessions are handed to it. */
  readonly engine: Memory | undefined;
  readonly every: Clock["every"];
}

/**
 * Opens the store and loads whatever else the options name.
 *
 * @throws WindrowError as `SessionManager.open`
 */
export async function managerParts(given: ManagerOptions): Promise<ManagerParts> {
  checkGiven("SessionManager.open", given, optionKinds);
  checkGiven("SessionManager.open: offload", given.offload ?? {}, offloadKinds);
  const config = await configOf(given);
  const options = { ...(config && setIn(config)), ...given };
  const failure = config?.userConfigFailure;
  if (failure !== undefined) tell(given.on, { type: "user-config-failed", user: options.user ?? "", reason: failure });
  const named = (config?.settings.strategy ?? "adaptive") as StrategySpecifier;
  const strategy = sizedBy(strategyOf(given.strategy ?? (await strategyBy(named))), options.budget);
  const model = options.model === undefined ? undefined : modelOf(options.model);
  const profile = profileOf(options.profile ?? model?.profile ?? "openai-chat");
  const counter = await loadCounterFor(strategy.settings, options.counter);
  const budget = budgetFor(strategy.settings, { budget: options.budget, model });
  const [{ openStore }, { checkMessage: check }] = await Promise.all([
    import("../../access/open.ts"),
    import("../../message/schema.ts"),
  ]);
  const target = options.store ?? strategy.settings?.folder ?? "./contexts";
  const store = await openStore(target, await storeOptionsOf(options, config?.settings, strategy));
  const { user, tenant, admin = false, summarizer, ingestCap, recallTools } = options;
  // An admin's scope has every user's sessions.
  const scope: Scope = defined({ user: admin ? undefined : user, tenant });
  const memory = await memoryOf(options.memory, store, target, scope);
  const engine = memory?.readsStore === true ? undefined : memory;
  const secretRules = store.capabilities.mask ?? knownSecrets;
  const { note, ...silent } = strategy;
  const composer = {
    strategy: summarizer && note !== undefined ? silent : strategy,
    profile: model ? { ...profile, model: model.id } : profile,
    counter,
    mask: textMask(secretRules),
    ...defined({ ingestCap, recallTools }),
  };
  const tokens = Number.isFinite(budget) ? budget : undefined;
  const threshold = tokens && model && Math.round((1_000 * tokens) / model.contextWindow) / 1_000;
  return {
    options,
    memory,
    engine,
    every: everyOf(options.every),
    shared: {
      store,
      scope,
      composer,
      budget,
      contextWindow: model?.contextWindow,
      secretRules,
      calibrate: options.calibrate ?? false,
      compaction: options.compaction ?? "background",
      summarizer,
      maxSummaryTokens: options.maxSummaryTokens,
      check,
      on: maskedListener(options.on, secretRules),
      now: clockOf(options.now),
    },
    settings: defined({
      strategy: strategy.name,
      profile: profile.name,
      counter: counter.name,
      strategy_options: strategy.options,
      floor: strategy.floor,
      model: model?.id,
      context_length: model?.contextWindow,
      llm_provider: model?.provider,
      budget: tokens,
      compression_threshold: threshold,
      [engineSetting]: engine?.name,
    }) as JsonObject,
  };
}

/** The options that decide which configuration applies: a user's settings depend on the user, a budget on the model. */
const decisive = ["user", "tenant", "admin", "audit", "model", "budget"] as const;

async function configOf({ config, ...given }: ManagerOptions): Promise<Config | undefined> {
  if (config === undefined || config === false || typeof config === "object") return config || undefined;
  const { loadConfig } = await import("../../config/config.ts");
  const flags: Settings = defined(Object.fromEntries(decisive.map((name) => [name, given[name]])));
  return loadConfig({ ...(typeof config === "string" && { file: config }), flags });
}

/** The options that a configuration sets under their own names, without its defaults: a strategy has its own. */
function setIn({ settings, origins }: Config): ManagerOptions {
  const { strategy: _, ...others } = settings;
  const set = Object.entries(others).filter(
    ([name, value]) => name in optionKinds && value !== undefined && origins.get(name)?.layer !== "default",
  );
  return Object.fromEntries(set);
}

/** How the store is opened. Without a configuration, an admin or an audit the manager's own scope is all there is to it. */
async function storeOptionsOf(
  { user, tenant, admin, audit, archive }: ManagerOptions,
  settings: Settings | undefined,
  strategy: Strategy,
): Promise<OpenStoreOptions> {
  const mask = strategy.settings?.maskEmail === true ? { email: true, ...settings?.mask } : settings?.mask;
  const isScoped = settings !== undefined || admin !== undefined || audit !== undefined;
  if (!isScoped && !mask) return defined({ archive });
  const { openOptionsOf } = await import("../../access/from-config.ts");
  const { strategy: _, ...others } = settings ?? {};
  const { access, ...rest } = openOptionsOf({ ...others, ...defined({ mask, user, tenant, admin, audit }) });
  return { ...rest, ...(isScoped && access && { access }), ...defined({ archive }) };
}

/** The memory that a manager uses. If it is the store, its index lies beside it where that is a place on this machine. */
async function memoryOf(
  given: Memory | "store" | undefined,
  store: Store,
  target: unknown,
  scope: Scope,
): Promise<Memory | undefined> {
  if (given !== "store") return given && ownMemory(given, store, scope);
  const [{ storeMemory }, { searchFolderOf }] = await Promise.all([
    import("../../memory/store-memory.ts"),
    import("../../search/folder.ts"),
  ]);
  const index = typeof target === "string" ? searchFolderOf(target) : undefined;
  return storeMemory(store, { scope, ...defined({ index }) });
}
