/** The command line as a function, so that tests and other programs can run it. */
import type { Command, CommanderError } from "commander";
import { catalogue } from "./catalogue.ts";
import { exitStatus, indented, reportError, statusOf, wantsColour } from "./command.ts";
import type { CommandContext, CommandIo, ExitStatus } from "./command.ts";
import type { CliIo } from "./io.ts";
import { printableIo } from "./terminal.ts";
import { packageVersion } from "../version.ts";

/**
 * Runs one command line; one without a command shows what sessions here used, where there are any. Only the named command's file is loaded; the help of the program loads all.
 *
 * @param given - the arguments, without the program's name
 * @returns the exit status: 0 done, 1 the thing asked about failed, 2 wrong use
 */
export async function run(given: readonly string[], streams: CliIo, signal?: AbortSignal): Promise<ExitStatus> {
  const written = printableIo(streams, wantsDebug(given));
  const isBare = given.every((word) => word === debugFlag);
  const argv = isBare && (await showsUsage(written)) ? ["usage", ...given] : withoutHelpFor(given);
  if (argv.length === 1 && ["-V", "--version"].includes(argv[0] ?? "")) {
    written.stdout.write(`${packageVersion()}\n`);
    return exitStatus.done;
  }
  const { addStoreOptions, commandIo } = await import("./store-options.ts");
  const io = commandIo(written, await debugLog(written));
  let status: ExitStatus = exitStatus.done;
  const program = await newProgram(io, namedCommand(argv));
  await addCommands(program, argv, { io, signal, finish: (result) => void (status = result) });
  addStoreOptions(program, io);
  for (const command of [program, ...program.commands]) command.option("--debug", debugSummary);
  const { addCompletion } = await import("./commands/completion.ts");
  await addCompletion(program, io, argv[0] === debugFlag ? argv[1] : argv[0], argv.slice(argv.indexOf("--") + 1));
  try {
    await program.parseAsync([...argv], { from: "user" });
    return status;
  } catch (error) {
    if (isCommanderError(error)) {
      if (isBare) io.stderr.write(`\n${await lookedFor(io)}`);
      return error.exitCode === 0 ? exitStatus.done : exitStatus.wrongUse;
    }
    reportError(io, error);
    return statusOf(error);
  }
}

async function showsUsage(io: CliIo): Promise<boolean> {
  return (await import("./usage/usage.ts")).hasSessions(io);
}

async function lookedFor(io: CliIo): Promise<string> {
  return (await import("./usage/looked.ts")).lookedFor(io);
}

/** `help foo` of a command that there is not is refused as `foo` is, instead of the help of the program. */
function withoutHelpFor(argv: readonly string[]): readonly string[] {
  const [first, name = ""] = argv;
  const isKnown = ["", "completion"].includes(name) || catalogue.some((command) => command.name === name);
  return first !== "help" || isKnown || name.startsWith("-") ? argv : argv.slice(1);
}

const debugFlag = "--debug";
const debugSummary = "log what is done, and tell an error with its stack and causes, on stderr";

/** Frames of a stack that `--debug` tells, at most. */
const stackFrames = 50;

/** Whether a command line has `--debug`, before or behind the command's name. Words behind `--` are no flags. */
export function wantsDebug(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? argv.length : end).includes(debugFlag);
}

/** Writes what a command does to stderr, each event a line of a log; nothing without `--debug`. */
async function debugLog({ stderr, debug }: CliIo): Promise<CommandIo["log"]> {
  if (debug !== true) return () => undefined;
  // From a store up to the command are more frames than the usual ten.
  Error.stackTraceLimit = Math.max(Error.stackTraceLimit, stackFrames);
  const { logTo } = await import("../ops/logs/logs.ts");
  return logTo((line) => stderr.write(`${line}\n`), { level: "DEBUG" });
}

async function newProgram(io: CliIo, name: string | undefined): Promise<Command> {
  const { Command } = await import("commander");
  return new Command("windrow")
    .description(
      "Keeps every message of an agent on disk, and puts the right ones into the model's window on every call.",
    )
    .version(packageVersion(), "-V, --version", "the version")
    .helpOption("-h, --help", "this help")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(`windrow: bad-option: ${indented(wrongUse(text, name))}\n`),
      getOutHelpWidth: () => io.stdout.columns ?? 110,
      getOutHasColors: () => wantsColour(io.stdout, io.env),
      getErrHasColors: () => wantsColour(io.stderr, io.env),
    });
}

/** An error of the command line in one line, with what was probably meant, and the help that says what there is. */
function wrongUse(text: string, name: string | undefined): string {
  const said = text.replace(/^error: /, "").trimEnd();
  const meant = /\n\((Did you mean .*)\)$/.exec(said);
  const sentence = meant ? `${said.slice(0, meant.index)}. ${meant[1]}` : said;
  if (/^(missing required|required option|too many)/.test(said))
    return `${said.replace(/\.$/, "")}. See windrow ${name ?? ""} --help.`;
  return said.startsWith("unknown command") ? `${sentence}${meant ? "" : "."} See windrow --help.` : sentence;
}

/** Adds every command by name and summary, and the options and actions of those that the command line may run. */
async function addCommands(program: Command, argv: readonly string[], context: CommandContext): Promise<void> {
  const named = namedCommand(argv);
  for (const { name, summary, load } of catalogue) {
    const command = program.command(name).summary(summary);
    if (named === undefined || named === name) (await load())(command, context);
  }
}

/** The one command that is needed; undefined where all are: for the program's help, or a name that is not known. */
function namedCommand(argv: readonly string[]): string | undefined {
  const [first, ...others] = argv[0] === debugFlag ? argv.slice(1) : argv;
  if (first === "completion") return first;
  // `complete -- view --la`: the last word is the one to complete, the first names the command once it is whole.
  if (first === "complete") return (others.length > 2 ? others[1] : undefined) ?? first;
  return catalogue.some(({ name }) => name === first) ? first : undefined;
}

function isCommanderError(error: unknown): error is CommanderError {
  return (
    error instanceof Error && "exitCode" in error && "code" in error && String(error.code).startsWith("commander.")
  );
}
