/** `windrow serve`: a store's sessions as a page in the browser. */
import type { Command } from "commander";
import { isLoopbackAddress, newToken } from "../../http/bearer.ts";
import { exitStatus, onStoreAbout } from "../command.ts";
import type { CommandContext, CommandIo, ExitStatus } from "../command.ts";
import { openBrowser } from "../open-browser.ts";
import { scopeOf } from "../store-options.ts";
import type { ScopeFlags } from "../store-options.ts";
import { untilEnded } from "../until-ended.ts";
import { portOf } from "../values.ts";

interface ServeFlags extends ScopeFlags {
  readonly store: string;
  readonly port?: string;
  readonly host: string;
  readonly allowHost?: readonly string[];
  readonly open: boolean;
  readonly json?: boolean;
}

/** The variable that holds the token, so that a server that is started again goes on with the pages that are open. */
const tokenVariable = "WINDROW_VIEWER_TOKEN";

/** Gives the command its options and its action. */
export function addServe(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Serves a page on this machine that shows what the model saw: the window of every call, what became of each\n" +
        "message, tokens, cache and cost; sessions that are being written are followed. It reads only, and the link\n" +
        "that it prints carries the token without which nothing is answered. Ctrl-C ends it.",
    )
    .argument("[id]", "the session to open first: its id, at least its first four characters, or latest")
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--port <port>", "the port (default: a free one)")
    .option("--host <address>", "the address; at any but this machine's, everybody with the link can read", "127.0.0.1")
    .option("--allow-host <name...>", "further host names by which browsers may call")
    .option("--no-open", "only print the link, open no browser")
    .option("--json", "the link as one JSON document on stdout")
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  windrow serve                        every session of ./contexts\n" +
        "  windrow serve latest                 the newest one\n" +
        `  ${tokenVariable}=… windrow serve --port 7400 --no-open\n`,
    )
    .action(async (id: string | undefined, flags: ServeFlags) => finish(await runServe(id, flags, io, signal)));
}

async function runServe(
  id: string | undefined,
  flags: ServeFlags,
  io: CommandIo,
  signal: AbortSignal | undefined,
): Promise<ExitStatus> {
  const port = flags.port === undefined ? 0 : portOf("--port", flags.port);
  const [{ serveViewer }, { storedSource }, { findSession }, { searchFolderOf }] = await Promise.all([
    import("../../viewer/serve/server.ts"),
    import("../../viewer/stored-source.ts"),
    import("../../ops/look/find.ts"),
    import("../../search/folder.ts"),
  ]);
  const given = io.env[tokenVariable];
  const index = searchFolderOf(flags.store);
  return onStoreAbout(io, { store: flags.store }, flags.store, async (store) => {
    const scope = scopeOf(io, flags);
    const route = id === undefined ? undefined : `/s/${(await findSession(store, scope, id)).metadata.uuid}`;
    const source = storedSource(store, scope, index === undefined ? {} : { searchIndex: index });
    // The list is read while the browser starts; whatever is wrong with it is told to the page that asks.
    if (route === undefined) void source.sessions({}).catch(() => undefined);
    const server = await serveViewer({
      source,
      port,
      host: flags.host,
      token: given === undefined || given === "" ? newToken() : given,
      ...(flags.allowHost && { allowedHosts: flags.allowHost }),
      onError: (error) => void io.stderr.write(`windrow: ${error.message}\n`),
    });
    try {
      const { url } = server;
      const link = server.link(route);
      if (!isLoopbackAddress(flags.host)) {
        const warning = "everybody who has the link can read these sessions, and it is sent without encryption";
        io.stderr.write(`windrow: warning: other machines reach ${url}: ${warning}.\n`);
      }
      io.stdout.write(flags.json === true ? `${JSON.stringify({ url, link, token: server.token })}\n` : `${link}\n`);
      if (flags.open) openBrowser(link, io.env);
      await untilEnded(signal, (done) => process.once("SIGTERM", done));
    } finally {
      await server.close();
    }
    return exitStatus.done;
  });
}
