/** `windrow mcp`: a store for agents that speak the Model Context Protocol. */
import type { Command } from "commander";
import { withPackage } from "../../peer.ts";
import { withoutSecrets } from "../../address.ts";
import type { McpTools } from "../../adapter/mcp/mcp.ts";
import { exitStatus, reportError } from "../command.ts";
import type { CommandIo, CommandContext, ExitStatus } from "../command.ts";
import { untilEnded } from "../until-ended.ts";
import { portOf } from "../values.ts";

interface McpFlags {
  readonly store: string;
  readonly user?: string;
  readonly session?: string;
  readonly readOnly?: boolean;
  readonly memoryWrites?: boolean;
  readonly http?: string;
  readonly host?: string;
  readonly token?: string;
  readonly allowHost?: readonly string[];
}

/** The variable that holds the token, so that it need not stand in the list of processes. */
const tokenVariable = "WINDROW_MCP_TOKEN";

/** Gives the command its options and its action. */
export function addMcp(command: Command, { io, finish, signal }: CommandContext): void {
  command
    .description(
      "Serves the sessions of a store to Claude Code, Codex, Gemini CLI, opencode and other MCP clients: over\n" +
        "stdio, or with --http on this machine. Sessions that another program is writing are only read.",
    )
    .option("--store <store>", "folder or URL of the store", "./contexts")
    .option("--session <id>", "the session that is meant where a call names none (default: latest)")
    .option("--read-only", "never write: pins are only shown")
    .option("--memory-writes", "clients may write notes, and correct and forget facts")
    .option("--http <port>", "serve streamable HTTP on this port (0: a free one) instead of stdio")
    .option("--host <address>", "the address of --http; any but this machine's needs a token", "127.0.0.1")
    .option("--token <text>", `what clients of --http must send as a bearer token (or ${tokenVariable})`)
    .option("--allow-host <name...>", "further host names by which clients may call --http")
    .addHelpText(
      "after",
      "\nExamples:\n  windrow mcp --store ./contexts\n  claude mcp add windrow -- npx windrow mcp --store ./contexts\n",
    )
    .action(async (flags: McpFlags) => finish(await runMcp(flags, io, signal)));
}

async function runMcp(flags: McpFlags, io: CommandIo, signal: AbortSignal | undefined): Promise<ExitStatus> {
  const port = flags.http === undefined ? undefined : portOf("--http", flags.http);
  const { McpTools, serveMcpHttp, serveMcpStdio } = await withPackage(
    "@modelcontextprotocol/server",
    "windrow mcp",
    () => import("../../adapter/mcp/mcp.ts"),
  );
  const store = await io.openStore(flags.store);
  const { user, session, readOnly, memoryWrites } = flags;
  const { searchFolderOf } = await import("../../search/folder.ts");
  const index = searchFolderOf(flags.store);
  const tools = await McpTools.open({
    store,
    ...(user !== undefined && { user }),
    ...(session !== undefined && { session }),
    ...(readOnly !== undefined && { readOnly }),
    ...(memoryWrites !== undefined && { memoryWrites }),
    ...(index !== undefined && { index }),
  });
  await warnOfEmpty(tools, flags.store, io);
  const onError = (error: Error): void => void io.stderr.write(`windrow: ${error.message}\n`);
  try {
    if (port === undefined) {
      const server = serveMcpStdio(tools, onError);
      await untilEnded(signal, (done) => process.stdin.once("close", done).once("end", done));
      await server.close();
      return exitStatus.done;
    }
    const token = flags.token ?? io.env[tokenVariable];
    const server = await serveMcpHttp(tools, {
      port,
      ...(flags.host !== undefined && { host: flags.host }),
      ...(token !== undefined && { token }),
      ...(flags.allowHost && { allowedHosts: flags.allowHost }),
      onError,
    });
    io.stderr.write(`windrow: MCP at ${server.url}${token === undefined ? "" : ", with a bearer token"}\n`);
    await untilEnded(signal);
    await server.close();
    return exitStatus.done;
  } finally {
    await tools.close();
  }
}

/** Tells of a store without sessions: its path may have a slip in it, and the clients would see no reason. */
async function warnOfEmpty(tools: McpTools, target: string, io: CommandIo): Promise<void> {
  const place = withoutSecrets(target);
  try {
    if ((await tools.list(1)).length > 0) return;
    const hint = "until a program journals there, nothing can be recalled. Is --store right?";
    io.stderr.write(`windrow: warning: there is no session in ${place} yet; ${hint}\n`);
  } catch (error) {
    reportError(io, error, place);
  }
}
