/** What every command about a store takes: `--config`, `--user`, `--tenant`, `--admin`, and defaults from the configuration. */
import { Option } from "commander";
import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import { withStoreDefaults } from "../access/open.ts";
import type { OpenStoreOptions } from "../access/options.ts";
import type { CliIo } from "./command.ts";

/** The flags as they are added; a command's own flag of the same name stays. */
const flags: readonly (readonly [flag: string, description: string])[] = [
  ["--config <file>", "the config file (default: windrow.config.* here or above)"],
  ["--user <name>", "on whose behalf: only sessions of this user (default: the config's)"],
  ["--tenant <name>", "the tenant (default: the config's, else none)"],
  ["--admin", "as an admin: sessions of every user"],
];

interface AccessFlags {
  readonly config?: string;
  readonly user?: string;
  readonly tenant?: string;
  readonly admin?: boolean;
}

/** Options of commands that a configuration can set where the command line does not. */
const fromConfig: readonly (readonly [
  option: string,
  value: (config: Config) => string | number | boolean | undefined,
  command?: string,
])[] = [
  ["store", ({ settings }) => settings.store],
  ["interval", ({ settings }) => settings.monitor?.interval],
  ["timeout", ({ settings }) => settings.monitor?.timeout],
  ["stale", ({ settings }) => settings.monitor?.stale],
  ["compressAfter", ({ settings }) => settings.cleanup?.compressAfter],
  ["olderThan", ({ settings }) => settings.cleanup?.olderThan],
  ["trashFor", ({ settings }) => settings.cleanup?.trashFor],
  // Of this command only: what it deletes passes through the trash.
  ["yes", ({ settings }) => settings.cleanup?.delete, "cleanup"],
];

/**
 * Adds the flags to every command that opens a store, and has each command run with its stores opened as the
 * configuration and the flags say. Call it after the commands were added.
 *
 * @returns runs the program: what it opens meanwhile is opened so
 */
export function addStoreOptions(program: Command, io: CliIo): (run: () => Promise<unknown>) => Promise<unknown> {
  const opening: { -readonly [K in keyof OpenStoreOptions]: OpenStoreOptions[K] } = {};
  for (const command of program.commands.filter(opensStore)) {
    for (const [flag, description] of flags) {
      const option = new Option(flag, description);
      if (!command.options.some(({ long }) => long === option.long)) command.addOption(option);
    }
    command.hook("preAction", async () => void Object.assign(opening, await configure(command, io)));
  }
  return (run) => withStoreDefaults(opening, run);
}

function opensStore(command: Command): boolean {
  return command.options.some(({ long }) => long === "--store" || long === "--from" || long === "--keep");
}

async function configure(command: Command, io: CliIo): Promise<OpenStoreOptions> {
  const [{ loadConfig }, { openOptionsOf }] = await Promise.all([
    import("../config/config.ts"),
    import("../access/from-config.ts"),
  ]);
  const { config: file, user, tenant, admin } = command.opts<AccessFlags>();
  const config = await loadConfig({ environment: io.env, ...(file !== undefined && { file }) });
  for (const note of config.notes) io.stderr.write(`windrow: note: ${note}\n`);
  if (config.userConfigFailure !== undefined) io.stderr.write(`windrow: note: ${config.userConfigFailure}\n`);
  for (const [name, valueOf, only = command.name()] of fromConfig) {
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
  return openOptionsOf(config.settings, asked);
}

function isGiven(command: Command, name: string): boolean {
  const source = command.getOptionValueSource(name);
  return source !== undefined && source !== "default";
}
