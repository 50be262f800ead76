/** The options of every command that opens a store, and the stores opened with them: `--config`, `--user`, `--tenant`, `--admin`. */
import { Option } from "commander";
import type { Command } from "commander";
import { withoutSecrets } from "../address.ts";
import type { Config } from "../config/config.ts";
import type { OpenStoreOptions } from "../access/options.ts";
import type { Scope } from "../store/store.ts";
import type { CommandIo } from "./command.ts";
import type { CliIo } from "./io.ts";

/** The flags as they are added; a command's own flag of the same name stays. */
const flags: readonly (readonly [flag: string, description: string])[] = [
  ["--config <file>", "the config file (default: windrow.config.* here or above)"],
  ["--user <name>", "on whose behalf: only sessions of this user (default: the config's)"],
  ["--tenant <name>", "the tenant (default: the config's, else none)"],
  ["--admin", "as an admin: sessions of every user"],
  ["--archive <place>", "the archive of finished sessions: a folder, or s3://bucket/prefix (default: the config's)"],
];

interface AccessFlags {
  readonly config?: string;
  readonly user?: string;
  readonly tenant?: string;
  readonly admin?: boolean;
  readonly archive?: string;
}

/** Options of commands that a configuration can set where the command line does not. */
const fromConfig: readonly (readonly [
  option: string,
  value: (config: Config) => string | number | boolean | undefined,
  command?: string,
])[] = [
  ["interval", ({ settings }) => settings.monitor?.interval],
  ["timeout", ({ settings }) => settings.monitor?.timeout],
  ["stale", ({ settings }) => settings.monitor?.stale],
  ["closedAfter", ({ settings }) => settings.cleanup?.closedAfter],
  ["compressAfter", ({ settings }) => settings.cleanup?.compressAfter],
  ["olderThan", ({ settings }) => settings.cleanup?.olderThan],
  ["trashFor", ({ settings }) => settings.cleanup?.trashFor],
  // An option of this command only: what it deletes passes through the trash.
  ["yes", ({ settings }) => settings.cleanup?.delete, "cleanup"],
];

/**
 * The object by which commands open their stores; the options are empty until {@link addStoreOptions} has read them.
 */
export function commandIo(io: CliIo, log: CommandIo["log"]): CommandIo {
  const storeOptions: OpenStoreOptions = {};
  return {
    ...io,
    storeOptions,
    log,
    async openStore(target, options) {
      const { openStore } = await import("../access/open.ts");
      const store = await openStore(target, { ...storeOptions, ...options });
      const { name, tenant } = storeOptions.access?.principal ?? {};
      log({ type: "store-opened", ...{ store: withoutSecrets(target), user: name, tenant } });
      return store;
    },
  };
}

/**
 * Adds the flags to every command that opens a store. Before such a command runs, `io.storeOptions` becomes what the
 * configuration and the flags say. Call it after the commands were added.
 */
export function addStoreOptions(program: Command, io: CommandIo): void {
  for (const command of program.commands.filter(opensStore)) {
    for (const [flag, description] of flags) {
      const option = new Option(flag, description);
      if (!command.options.some(({ long }) => long === option.long)) command.addOption(option);
    }
    command.hook("preAction", async () => void Object.assign(io.storeOptions, await configure(command, io)));
  }
}

function opensStore(command: Command): boolean {
  return command.options.some(({ long }) => long === "--store" || long === "--from" || long === "--keep");
}

async function configure(command: Command, io: CommandIo): Promise<OpenStoreOptions> {
  const [{ loadConfig }, { openOptionsOf }] = await Promise.all([
    import("../config/config.ts"),
    import("../access/from-config.ts"),
  ]);
  const { config: file, user, tenant, admin, archive } = command.opts<AccessFlags>();
  const config = await loadConfig({ environment: io.env, ...(file !== undefined && { file }) });
  for (const path of config.files) io.log({ type: "configuration-read", ...{ path } });
  for (const note of config.notes) io.stderr.write(`windrow: note: ${note}\n`);
  if (config.userConfigFailure !== undefined) io.stderr.write(`windrow: note: ${config.userConfigFailure}\n`);
  const isNeeded = command.name() === "stats" || config.origins.get("store")?.layer === "default";
  const preset = isNeeded ? await presetOf(config) : undefined;
  const store = await storeOf(config, preset);
  const ofPreset = [
    ["store", () => store],
    ["layout", () => layoutOf(preset), "stats"],
  ] as const;
  for (const [name, valueOf, only = command.name()] of [...ofPreset, ...fromConfig]) {
    const value = valueOf(config);
    const isOwn = only === command.name() && command.options.some((option) => option.attributeName() === name);
    if (!isOwn || value === undefined || isGiven(command, name)) continue;
    command.setOptionValueWithSource(name, typeof value === "boolean" ? value : String(value), "config");
  }
  const asked = {
    ...(user !== undefined && { user }),
    ...(tenant !== undefined && { tenant }),
    ...(admin !== undefined && { admin }),
  };
  return { ...openOptionsOf(config.settings, asked), ...(archive !== undefined && { archive }) };
}

/** The name of the strategy that a configuration names; undefined where it names none. */
async function presetOf({ settings: { strategy }, origins }: Config): Promise<string | undefined> {
  if (strategy === undefined || origins.get("strategy")?.layer === "default") return undefined;
  const { strategyName } = await import("../session/manager/strategy-file.ts");
  return strategyName(strategy);
}

/** The layout that a preset has of its own. */
function layoutOf(preset: string | undefined): string | undefined {
  return preset === "coding-agent" ? preset : undefined;
}

/** The store of a configuration; one that names none has its preset's folder. */
async function storeOf({ settings, origins }: Config, preset: string | undefined): Promise<string | undefined> {
  const { store } = settings;
  if (preset === undefined || origins.get("store")?.layer !== "default") return store;
  const { presetFolder } = await import("../window/by-name.ts");
  return presetFolder(preset) ?? store;
}

function isGiven(command: Command, name: string): boolean {
  const source = command.getOptionValueSource(name);
  return source !== undefined && source !== "default";
}

/** The flags of a command line that name a user and a tenant. */
export interface ScopeFlags {
  readonly user?: string;
  readonly tenant?: string;
}

/**
 * The sessions that are meant: of the user and tenant that are named, else of the one who asks.
 *
 * @param forNew - for sessions that are made: an admin's too get an owner
 */
export function scopeOf({ storeOptions }: CommandIo, { user, tenant }: ScopeFlags, forNew = false): Scope {
  const { principal } = storeOptions.access ?? {};
  const isOwn = principal !== undefined && (forNew || principal.role !== "admin");
  const whose = user ?? (isOwn ? principal.name : undefined);
  const where = tenant ?? principal?.tenant;
  return { ...(where !== undefined && { tenant: where }), ...(whose !== undefined && { user: whose }) };
}
