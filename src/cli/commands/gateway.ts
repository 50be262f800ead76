/** `windrow gateway`: a server between agents and their providers, which keeps what passes. */
import { dirname } from "node:path";
import { Option } from "commander";
import type { Command } from "commander";
import { WindrowError } from "../../errors.ts";
import type { ComposingOptions } from "../../gateway/gateway.ts";
import type { GatewayEvent } from "../../gateway/proxy/events.ts";
import { isLoopbackAddress, newToken } from "../../http/bearer.ts";
import type { Store } from "../../store/store.ts";
import { exitStatus, onStoreAbout } from "../command.ts";
import type { CommandContext, CommandIo, ExitStatus } from "../command.ts";
import { openBrowser } from "../open-browser.ts";
import { scopeOf } from "../store-options.ts";
import type { ScopeFlags } from "../store-options.ts";
import { untilEnded } from "../until-ended.ts";
import { portOf, tokensOf } from "../values.ts";

/** The flags of the gateway, which its subcommands hand on. */
interface GatewayFlags extends ScopeFlags {
  readonly store: string;
  readonly port: string;
  readonly host: string;
  readonly allowHost?: readonly string[];
  readonly token?: string;
  readonly budget: string;
  readonly recall?: NonNullable<ComposingOptions["recall"]>;
  readonly edits?: NonNullable<ComposingOptions["edits"]>;
  readonly upstream?: readonly string[];
  readonly open?: boolean;
  readonly tied?: boolean;
  readonly json?: boolean;
}

/** The variables of the two tokens: of clients, and of the page. A command line is read by every user of a machine. */
const tokenVariable = "WINDROW_GATEWAY_TOKEN";
const pageVariable = "WINDROW_VIEWER_TOKEN";

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
    .option("--budget <tokens>", "tokens of a request: 120k, auto for six tenths of the model's, or off", "off")
    .addOption(new Option("--recall <how>", "how a model gets back what left").choices(["off", "mcp", "loop"]))
    .addOption(new Option("--edits <whose>", "who takes old results out").choices(["gateway", "provider"]))
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
    .action(async (flags: GatewayFlags) => finish(await runGateway(flags, io, signal)));
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
      const { token = given(io, tokenVariable) } = command.opts<GatewayFlags>();
      const port = command.getOptionValueSource("port") === "cli" ? command.opts<GatewayFlags>().port : "0";
      const status = await runThrough(words, { flags: flagsOf(command), port: portOf("--port", port), token }, io);
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

async function runGateway(flags: GatewayFlags, io: CommandIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const port = portOf("--port", flags.port);
  const upstreams = upstreamsOf(flags.upstream ?? []);
  const composing = composingOf(flags);
  const token = flags.token ?? given(io, tokenVariable);
  const { serveGateway } = await import("../../gateway/proxy/server.ts");
  return onStoreAbout(io, { store: flags.store, create: true }, flags.store, async (store) => {
    const pageToken = given(io, pageVariable) ?? newToken();
    const gateway = await serveGateway({
      ...{ port, host: flags.host, upstreams, env: io.env },
      tenants: await tenantsOf(flags.store),
      ui: await pageOf(store, flags, io, pageToken),
      on: (event) => io.log(logged(event)),
      ...(token !== undefined && { token }),
      ...(flags.allowHost && { allowedHosts: flags.allowHost }),
    });
    try {
      const { url } = gateway;
      const link = `${url}/-/ui/#token=${encodeURIComponent(pageToken)}`;
      if (!isLoopbackAddress(flags.host)) {
        const warning = "keys and conversations of its clients are sent without encryption";
        io.stderr.write(`windrow: warning: other machines reach ${url}: ${warning}.\n`);
      }
      const mode = composing.budget === undefined ? "observing" : `composing to ${composing.budget} tokens`;
      const report = { url, mode, store: flags.store, link };
      io.stdout.write(flags.json === true ? `${JSON.stringify(report)}\n` : `${url} ${mode}, store ${flags.store}\n`);
      if (flags.open === true) openBrowser(link, io.env);
      await untilEnded(signal, (done) => {
        process.once("SIGTERM", done);
        if (flags.tied === true) process.stdin.once("end", done).once("close", done).resume();
      });
    } finally {
      await gateway.close();
    }
    return exitStatus.done;
  });
}

/** The page of the store's sessions, below `/-/ui`. */
async function pageOf(
  store: Store,
  flags: GatewayFlags,
  io: CommandIo,
  token: string,
): Promise<(request: Request) => Promise<Response>> {
  const [{ viewerHandler }, { storedSource }, { searchFolderOf }] = await Promise.all([
    import("../../viewer/serve/handler.ts"),
    import("../../viewer/stored-source.ts"),
    import("../../search/folder.ts"),
  ]);
  const index = searchFolderOf(flags.store);
  const source = storedSource(store, scopeOf(io, flags), index === undefined ? {} : { searchIndex: index });
  const onError = (error: Error): void => void io.stderr.write(`windrow: ${error.message}\n`);
  return viewerHandler({ source, token, base: "/-/ui", onError });
}

/** Names of tenants that stay the same over restarts, where the store has a folder. */
async function tenantsOf(store: string): Promise<(key: string) => string> {
  const [{ keptSecret, passingSecret }, { tenantsBy }, { searchFolderOf }] = await Promise.all([
    import("../../gateway/secret.ts"),
    import("../../gateway/tenant.ts"),
    import("../../search/folder.ts"),
  ]);
  const index = searchFolderOf(store);
  return tenantsBy(index === undefined ? passingSecret() : await keptSecret(dirname(index)));
}

function composingOf({ budget, recall, edits }: GatewayFlags): ComposingOptions {
  if (budget === "off") return {};
  const tokens = budget === "auto" ? budget : tokensOf("--budget", budget);
  return { budget: tokens, ...(recall !== undefined && { recall }), ...(edits !== undefined && { edits }) };
}

function upstreamsOf(given: readonly string[]): Readonly<Record<string, string>> {
  const pairs = given.map((text) => {
    const [, name = "", address = ""] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
    if (name !== "") return [name, address] as const;
    const message = `--upstream is a name and an address, for example corp=https://llm.example.com, not "${text}".`;
    throw new WindrowError("bad-option", message, { flag: "--upstream" });
  });
  return Object.fromEntries(pairs);
}

function given({ env }: CommandIo, variable: string): string | undefined {
  const value = env[variable];
  return value === "" ? undefined : value;
}

/** An event as the log of `--debug` has it. */
function logged({ outcome, ...event }: GatewayEvent): { readonly type: string } {
  return { ...event, type: `gateway-${outcome}` };
}
