/** `windrow gateway`: a server between agents and their providers, which keeps what passes. */
import { Option } from "commander";
import type { Command } from "commander";
import type { CommandContext, CommandIo, ExitStatus } from "../command.ts";
import type { GatewayFlags } from "../gateway/serve.ts";
import { tokenOf, tokenVariable } from "../gateway/token.ts";
import { portOf } from "../values.ts";

/** Gives the command its options and its action. */
export function addGateway(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Serves the APIs of Anthropic, OpenAI, Gemini and Ollama on this machine and passes every request on, byte for\n" +
        "byte: point an agent's base URL at it. Conversations are kept in the store; with --budget the agent's requests\n" +
        "are composed, so that they fit. Keys pass through and are never kept. Ctrl-C ends it.",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--port <port>", "the port; 0 for a free one", "4180")
    .option("--host <address>", "the address; any but this machine's needs a token", "127.0.0.1")
    .option("--allow-host <name...>", "further host names by which clients may call")
    .option("--token <token>", `what every client then sends as x-windrow-token (default: ${tokenVariable})`)
    .option("--budget <tokens>", "tokens of a request: 120k; auto: each window sizes itself; or off", "off")
    .addOption(
      new Option(
        "--edits <by>",
        "who makes requests fit the budget: windrow, or the provider itself (Anthropic Messages only)",
      ).choices(["windrow", "provider"]),
    )
    .addOption(new Option("--recall <how>", "how a model gets back what left").choices(["off", "mcp", "tool"]))
    .option("--upstream <name=url...>", "a server under /u/NAME/, or in the place of a provider: openai=https://…")
    .option("--open", "open the page with what passed in the browser")
    .addOption(new Option("--tied", "end with the standard input").hideHelp())
    .option("--json", "the address as one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  windrow gateway\n" +
        "  ANTHROPIC_BASE_URL=http://127.0.0.1:4180 claude\n" +
        "  OPENAI_BASE_URL=http://127.0.0.1:4180/v1 python agent.py\n" +
        "  windrow gateway --budget 120k --upstream corp=https://llm.example.com/v2\n" +
        "  windrow gateway run -- claude\n" +
        "  windrow gateway doctor\n",
    )
    .action(async (flags: GatewayFlags) => {
      const { runGateway } = await import("../gateway/serve.ts");
      finish(await runGateway(flags, io, signal));
    });
  addRun(command, io, finish);
  command
    .command("doctor")
    .summary("which agents of this machine go through a gateway, and the lines that point each at one")
    .description(
      "Reads where Claude Code, Codex, Gemini CLI, opencode and pi have their provider's address from, asks who listens\n" +
        "there, and prints the line that points each at the gateway and the one that takes it out. It changes nothing.",
    )
    .argument("[client]", "claude, codex, gemini, opencode or pi (default: all that are here)")
    .action(async (client: string | undefined) => {
      const { runDoctor } = await import("../gateway/doctor.ts");
      const { port, json } = command.opts<GatewayFlags>();
      const flags = { port: portOf("--port", port), ...(json !== undefined && { json }) };
      finish(await runDoctor(client, flags, io, signal));
    });
}

function addRun(command: Command, io: CommandIo, finish: CommandContext["finish"]): void {
  command
    .command("run")
    .summary("run a command through a gateway of its own, which ends with it")
    .description(
      "Starts a gateway on a free port and a command whose requests to its provider pass through it: the addresses are\n" +
        "set for that command alone, and no file is changed. An address that was set before becomes the upstream. The\n" +
        "command's exit status is passed on. Options of windrow gateway stand before the two dashes.",
    )
    .argument("[command...]", "the command and its arguments, behind two dashes")
    .addHelpText(
      "after",
      '\nExamples:\n  windrow gateway run -- claude\n  windrow gateway run --budget 120k -- codex exec "Mend the build."\n',
    )
    .action(async (words: readonly string[]) => {
      const { runThrough } = await import("../gateway/run.ts");
      const token = tokenOf(command.opts<GatewayFlags>().token, io);
      const port = command.getOptionValueSource("port") === "cli" ? command.opts<GatewayFlags>().port : "0";
      const { store, json = false } = command.opts<GatewayFlags>();
      const settings = { flags: flagsOf(command), port: portOf("--port", port), token, store, isQuiet: json };
      const status = await runThrough(words, settings, io);
      // The command's own status, whatever it is.
      finish(status as ExitStatus);
    });
}

/** The options that a command line has, as words of another; without those that `run` sets itself, and the token. */
function flagsOf(command: Command): readonly string[] {
  const own = ["port", "token", "tied", "json"];
  const given = command.options.filter((option) => {
    const name = option.attributeName();
    return !own.includes(name) && command.getOptionValueSource(name) === "cli";
  });
  return given.flatMap((option) => {
    const value: unknown = command.getOptionValue(option.attributeName());
    const flag = option.long ?? option.short!;
    return typeof value === "boolean" ? [flag] : [flag, ...[value].flat().map(String)];
  });
}
