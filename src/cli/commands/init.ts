/** `windrow init`: writes an agent that survives its process into a project, for the host that the project has. */
import { Option } from "commander";
import type { Command } from "commander";
import { printable } from "../../printable.ts";
import { WindrowError } from "../../errors.ts";
import { exitStatus, writeReport } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { agentName, planFiles, writeFiles } from "../init/files.ts";
import type { PlannedFile } from "../init/files.ts";
import { chooseHost, initHostNames } from "../init/hosts.ts";
import type { ChosenHost } from "../init/hosts.ts";
import { missingNodeTypes } from "../init/node-types.ts";
import { packageFolder } from "../../version.ts";
import { isInstalled, readProject } from "../init/project.ts";
import type { Project } from "../init/project.ts";

interface InitFlags {
  readonly dir?: string;
  readonly host?: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Gives the command its options and its action. */
export function addInit(command: Command, { io, finish }: CommandContext): void {
  command
    .description(
      "Writes into a project: an agent for the host that its package.json names (else a plain loop), with recall and\n" +
        "sessions that survive the process; windrow.config.yaml; a line of .gitignore. The agent runs at once, without\n" +
        "a key, on a scripted model. What is there already is kept.",
    )
    .argument("[folder]", "the project's folder (default: this one); made where it is absent")
    .option("--dir <folder>", "the same as an option")
    .addOption(hostOption())
    .option("--force", "overwrite files that are there")
    .option("--dry-run", "show what would be written, and write nothing")
    .option("--json", "one JSON document on stdout")
    .addHelpText("after", "\nExamples:\n  windrow init\n  windrow init my-agent --host openai-agents --dry-run\n")
    .action(async (folder: string | undefined, flags: InitFlags) => finish(await runInit(folder, flags, io)));
}

/** The names are told to completions; a name that is none of them is refused with the nearest one. */
function hostOption(): Option {
  const summary = "the host to write for (default: the first of these that package.json has)";
  return new Option("--host <name>", summary).choices(initHostNames).argParser((name: string) => name);
}

async function runInit(given: string | undefined, flags: InitFlags, io: CommandIo): Promise<ExitStatus> {
  const { dir, force = false, dryRun = false } = flags;
  if (given !== undefined && dir !== undefined && given !== dir) {
    const message = `The folder is "${given}" and --dir is "${dir}". Give one of them.`;
    throw new WindrowError("bad-option", message, { option: "--dir" });
  }
  const project = readProject(given ?? dir ?? ".");
  const chosen = chooseHost(project.packages, flags.host);
  const files = await planFiles(project, chosen, force);
  if (!dryRun) writeFiles(project.folder, files);
  const next = nextCommands(project, chosen);
  const { host, why, shownBy = null, others } = chosen;
  const report = {
    folder: project.folder,
    host: host.name,
    why,
    shownBy,
    others,
    key: host.key,
    dryRun,
    files: files.map(({ name, action, text }) => ({ name, action, ...(dryRun && text !== undefined && { text }) })),
    next: next.map(({ command }) => command),
  };
  writeReport(io, flags, report, () => initText(project, chosen, files, next, dryRun));
  return exitStatus.done;
}

interface NextCommand {
  readonly command: string;
  readonly about: string;
}

/** At most three: what is missing, the agent, its session. */
function nextCommands({ folder, ...project }: Project, { host }: ChosenHost): readonly NextCommand[] {
  const { manager, packages, isTypeScript, stripsTypes } = project;
  const needed = ["windrow", ...host.needs];
  const forDevelopment = [
    ...(isTypeScript && !stripsTypes ? ["tsx"] : []),
    ...(packages.has("typescript") ? ["@types/node"] : []),
  ];
  // The registry has no Windrow yet, so the package that runs is the one to install.
  const source = (name: string): string => (name === "windrow" ? packageFolder() : name);
  const added = needed.filter((name) => !packages.has(name)).map(source);
  const addedForDevelopment = forDevelopment.filter((name) => !packages.has(name));
  const installs = [
    ...(added.length > 0 ? [`${manager.add} ${added.join(" ")}`] : []),
    ...(addedForDevelopment.length > 0 ? [`${manager.addForDevelopment} ${addedForDevelopment.join(" ")}`] : []),
  ];
  if (installs.length === 0 && !needed.every((name) => isInstalled(folder, name))) installs.push(manager.install);
  const file = agentName(project);
  const runs = isTypeScript && !stripsTypes ? `${manager.run} tsx` : "node";
  return [
    ...(installs.length > 0 ? [{ command: installs.join(" && "), about: "what is missing" }] : []),
    { command: `${runs} ${file}`, about: "kill it in the middle and run it again: it goes on" },
    { command: `${manager.run} windrow view latest`, about: "the session" },
    ...(installs.length > 0 ? [] : [{ command: `${manager.run} windrow view latest --window`, about: "its window" }]),
  ];
}

function initText(
  project: Project,
  { host, why, shownBy, others }: ChosenHost,
  files: readonly PlannedFile[],
  next: readonly NextCommand[],
  dryRun: boolean,
): string {
  const { folder } = project;
  const reasons = {
    chosen: "as --host says",
    found: `package.json has ${shownBy}`,
    none: "package.json names no host",
  };
  const also = others.length > 0 ? `\nAlso found: ${others.join(", ")}. To take one: --host ${others[0]}` : "";
  const rows = files.map(({ name, action, about }) => [action, printable(name), printable(about)] as const);
  const shown = dryRun ? files.flatMap(({ name, text }) => (text === undefined ? [] : [`\n--- ${name}\n${text}`])) : [];
  return (
    `${host.label} (${reasons[why]})${also}\n\n${dryRun ? "Without --dry-run:\n" : ""}${columns(rows)}${shown.join("")}\n` +
    `${typesHint(project, files)}Next, in ${printable(folder)}:\n${columns(next.map(({ command, about }) => [command, `# ${about}`] as const))}`
  );
}

/** The line about types of Node that the project does not see, where an agent in TypeScript is written. */
function typesHint(project: Project, files: readonly PlannedFile[]): string {
  const { folder, isTypeScript } = project;
  const missing = isTypeScript ? missingNodeTypes(folder) : undefined;
  if (missing === undefined || files[0]?.text === undefined) return "";
  return (
    `Types of Node: ${missing}. The agent's first line names them for itself; for the\n` +
    'project write "types": ["node"] there, with @types/node installed.\n\n'
  );
}

/** Rows, two spaces in; columns as wide as their longest cell. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `  ${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
