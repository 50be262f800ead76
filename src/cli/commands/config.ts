/** `windrow config`: what holds here, and where each value came from. */
import type { Command } from "commander";
import type { Config, LayerName, Origin } from "../../config/config.ts";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { exitStatus } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { maskText, secretRules } from "../../mask/text.ts";
import { withoutSecrets } from "../../address.ts";
import { plainTable } from "../text/table.ts";

interface ConfigFlags {
  readonly config?: string;
  readonly user?: string;
  readonly schema?: boolean;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addConfig(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "Shows the configuration as it holds in this folder: defaults, ~/.config/windrow/windrow.config.yaml, the\n" +
        "project's windrow.config.yaml (or .json, .mjs; here or above), the user's own settings from USER_CONFIG_API,\n" +
        "WINDROW_… in the environment; the later wins. A mistyped key or a wrong value is named with its line.",
    )
    .option("--config <file>", "this file in place of the project's")
    .option("--user <name>", "for this user")
    .option("--schema", "the JSON Schema of the file, for editors")
    .option("--json", "one JSON document: { settings, origins, files, notes }")
    .addHelpText("after", "\nExamples:\n  windrow config\n  WINDROW_BUDGET=20000 windrow config --json\n")
    .action(async (flags: ConfigFlags) => finish(await runConfig(flags, io)));
}

async function runConfig(flags: ConfigFlags, io: CommandIo): Promise<ExitStatus> {
  if (flags.schema) {
    const { configSchema } = await import("../../config/schema.ts");
    io.stdout.write(`${JSON.stringify(configSchema(), null, 2)}\n`);
    return exitStatus.done;
  }
  const { loadConfig } = await import("../../config/config.ts");
  const found = await loadConfig({
    environment: io.env,
    ...(flags.config !== undefined && { file: flags.config }),
    ...(flags.user !== undefined && { flags: { user: flags.user } }),
  });
  await checkNames(found);
  const config = { ...found, settings: shown(found.settings) as Config["settings"] };
  const { settings, origins, files, notes, userConfigFailure = null } = config;
  if (flags.json) {
    const document = { settings, origins: Object.fromEntries(origins), files, notes, userConfigFailure };
    io.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  } else io.stdout.write(configText(config));
  return exitStatus.done;
}

/**
 * Checks the names that a file cannot know: of the strategy with its options, the profile, the counter and the model.
 *
 * @throws WindrowError `bad-option` with every fault and its place
 */
async function checkNames({ settings, origins }: Config): Promise<void> {
  const [{ strategyOf }, { loadStrategy }, { profileOf }, { counterNames, counterOf }, { modelOf }] = await Promise.all(
    [
      import("../../window/by-name.ts"),
      import("../../window/load-strategy.ts"),
      import("../../window/provider/profile.ts"),
      import("../../tokens/counters.ts"),
      import("../../tokens/models.ts"),
    ],
  );
  const { strategy, profile, counter, model } = settings;
  // A module of the user's is not run to be looked at.
  const importModule = async (): Promise<unknown> => ({ strategy: strategyOf("none") });
  const checks: readonly (readonly [string, () => unknown])[] = [
    ["strategy", () => strategy !== undefined && loadStrategy(strategy, { from: import.meta.url, importModule })],
    ["profile", () => profile !== undefined && profileOf(profile)],
    ["counter", () => counter !== undefined && (counterNames.includes(counter) || counterOf(counter))],
    ["model", () => model !== undefined && modelOf(model)],
  ];
  const faults: string[] = [];
  for (const [key, check] of checks) {
    try {
      await check();
    } catch (error) {
      if (!isWindrowError(error)) throw error;
      const [, origin] = [...origins].find(([name]) => name === key || name.startsWith(`${key}.`)) ?? [];
      faults.push(`${origin ? `${placeOf(origin)}: ` : ""}${error.message}`);
    }
  }
  if (faults.length > 0) throw new WindrowError("bad-option", faults.join("\n"), { faults });
}

/** Settings without secrets: masked, and of a server's address only the host. */
function shown(value: unknown): unknown {
  if (typeof value === "string") return withoutSecrets(maskText({ rules: secretRules }, value).text);
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner)]));
}

function configText({ settings, origins, notes, userConfigFailure }: Config): string {
  const rows = [...origins].map(([key, origin]) => [key, valueAt(settings, key), placeOf(origin)]);
  rows.sort(([left = ""], [right = ""]) => (left < right ? -1 : 1));
  const failed = userConfigFailure === undefined ? [] : [`The user's own settings are missing: ${userConfigFailure}`];
  const more = [...notes, ...failed];
  return [plainTable(["Key", "Value", "From"], rows, []), ...(more.length > 0 ? ["", ...more] : []), ""].join("\n");
}

function valueAt(settings: object, key: string): string {
  let value: unknown = settings;
  for (const name of key.split(".")) value = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

const layerLabels: Readonly<Record<LayerName, string>> = {
  "default": "default",
  "user": "the user's file",
  "project": "the project's file",
  "user-config": "the user's own settings",
  "environment": "the environment",
  "flag": "the command line",
};

function placeOf({ layer, file, line, variable, host }: Origin): string {
  return (
    (file === undefined ? undefined : `${file}${line === undefined ? "" : `:${line}`}`) ??
    variable ??
    host ??
    layerLabels[layer]
  );
}
