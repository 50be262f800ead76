/**
 * A store as an MCP server, for agents that keep their own window (Claude Code, Codex, Gemini CLI, opencode): recall,
 * search, pins and numbers as tools, sessions as resources. Over stdio, or over HTTP on this machine.
 */
import { createMcpHandler, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { WindrowError } from "../../errors.ts";
import { isBearer, isLoopbackAddress } from "../../http/bearer.ts";
import { answerWith } from "../../http/fetch.ts";
import { serveHttp } from "../../http/http.ts";
import { defined } from "../../message/json.ts";
import { jsonText } from "../../message/quote.ts";
import { recallDeclaration } from "../host/recall-tool.ts";
import { packageVersion } from "../../version.ts";
import { checkGiven, kinds, listOf, whole } from "../../window/options.ts";
import { eachInTurn } from "../../turns.ts";
import type { Kind } from "../../window/options.ts";
import { addTool, writes } from "./add-tool.ts";
import { addMemoryTools } from "./memory-server.ts";
import type { McpTools } from "./tools.ts";

export { McpTools } from "./tools.ts";
export type { McpOptions } from "./tools.ts";

/** The address at which a server listens, and who may call it. */
export interface McpHttpOptions {
  /** Default 0: a free port. */
  readonly port?: number;
  /** Default `127.0.0.1`. Any other address needs a `token`. */
  readonly host?: string;
  /** The token that clients must send as `Authorization: Bearer …`. Default: none is asked for. */
  readonly token?: string;
  /** Host names by which clients may call beside those of this machine, and origins a browser may call from. */
  readonly allowedHosts?: readonly string[];
  /** Called with each error of the protocol. */
  readonly onError?: (error: Error) => void;
}

const httpKinds = {
  port: whole(0),
  host: kinds.text,
  token: kinds.text,
  allowedHosts: listOf(kinds.text),
  onError: kinds.action,
} as const satisfies Record<keyof McpHttpOptions, Kind>;

/** A server that listens. */
export interface McpHttpServer {
  /** For clients: `http://127.0.0.1:7433/mcp`. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

const sessionField = z
  .string()
  .optional()
  .describe("The session: its id, its first characters, or latest (the default)");
const { id, query } = recallDeclaration.inputSchema.properties;
const queryShape = {
  id: z.string().optional().describe(id.description),
  query: z.string().optional().describe(query.description),
  from: z.number().int().optional().describe("First message of a range, from 1"),
  to: z.number().int().optional().describe("Last message of a range"),
  max_tokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("Most tokens to bring back; without, an eighth of the session's budget, and 4000 at most"),
};

/** A server for one client, over tools that all clients share. */
export function mcpServer(tools: McpTools): McpServer {
  const server = new McpServer(
    { name: "windrow", version: packageVersion() },
    {
      instructions:
        "Sessions of agents, as they were journalled. windrow_search finds messages, in one session or with the session " +
        '"all" in every one; recall brings them back word for word: use them when something said or done earlier is no ' +
        "longer in view. windrow_memory_search tells what earlier sessions found about something.",
    },
  );
  addTool(
    server,
    recallDeclaration.name,
    "Brings back earlier messages of a session word for word: by id, by range, or by words.",
    { ...queryShape, session: sessionField },
    ({ session, max_tokens: maxTokens, ...asked }, signal) => tools.recall(session, defined(asked), maxTokens, signal),
  );
  addTool(
    server,
    "windrow_search",
    "Finds messages that hold some words, in a session or in all of them: one line each, with the id to recall it by.",
    {
      query: z.string().min(1).describe("Words, a path, a line"),
      limit: z.number().int().positive().max(100).optional().describe("Most messages; 10 without"),
      session: sessionField.describe('The session: its id, its first characters, latest (the default), or "all"'),
    },
    ({ session, query: words, limit }, signal) => tools.search(session, words, limit, signal),
  );
  addTool(
    server,
    "windrow_sessions",
    "Lists the newest sessions, each with what its user said first.",
    { limit: z.number().int().positive().max(200).optional() },
    ({ limit }) => tools.sessions(limit),
  );
  const ofSession = { session: sessionField };
  addTool(server, "windrow_stats", "A session in numbers, and its tool calls without a result.", ofSession, (given) =>
    tools.stats(given.session),
  );
  addTool(server, "windrow_pins", "Lists the texts that stand in every window of a session.", ofSession, (given) =>
    tools.pins(given.session),
  );
  addTool(
    server,
    "windrow_pin",
    "Puts a text into every window of a session that no other program is writing.",
    { text: z.string().min(1), session: sessionField },
    ({ session, text }) => tools.pin(session, text),
    writes,
  );
  addTool(
    server,
    "windrow_unpin",
    "Takes a pinned text out of the windows of a session that no other program is writing.",
    { pin: z.string().describe("The pin's id, such as p1"), session: sessionField },
    ({ session, pin }) => tools.unpin(session, pin),
    writes,
  );
  addMemoryTools(server, tools.memory);
  addResources(server, tools);
  return server;
}

/** Serves one client over standard input and output, until `close`. */
export function serveMcpStdio(
  tools: McpTools,
  onError?: (error: Error) => void,
): { readonly close: () => Promise<void> } {
  return serveStdio(() => mcpServer(tools), { ...(onError && { onerror: onError }) });
}

/**
 * Serves clients over streamable HTTP. Calls under another host name than this machine's, and from web pages of other
 * origins, are refused (DNS rebinding).
 *
 * @throws WindrowError `bad-option` for a wrong option, and for an address other machines reach without a token, `store-unavailable` where the
 * port is taken
 */
export async function serveMcpHttp(tools: McpTools, options: McpHttpOptions = {}): Promise<McpHttpServer> {
  checkGiven("serveMcpHttp", options, httpKinds);
  const { port = 0, host = "127.0.0.1", token, allowedHosts = [], onError } = options;
  if (token === undefined && !isLoopbackAddress(host)) {
    const message = `Other machines could read every session at ${host}: give a token, or listen on 127.0.0.1.`;
    throw new WindrowError("bad-option", message, { host });
  }
  const handler = createMcpHandler(() => mcpServer(tools), { ...(onError && { onerror: onError }) });
  const server = await serveHttp({
    port,
    host,
    allowedHosts,
    methods: ["GET", "POST", "DELETE"],
    ...(onError && { onError }),
    async handle(call) {
      const { request, response, url } = call;
      if (token !== undefined && !isBearer(request.headers.authorization, token)) {
        response.writeHead(401, { "www-authenticate": "Bearer" }).end("A bearer token is needed.\n");
      } else if (url.pathname !== "/mcp") response.writeHead(404).end("The server is at /mcp.\n");
      else await answerWith((asked) => handler.fetch(asked), call);
    },
  });
  return {
    url: `${server.url}/mcp`,
    async close() {
      await eachInTurn([() => handler.close(), () => server.close()]);
    },
  };
}

function addResources(server: McpServer, tools: McpTools): void {
  const uriOf = (id: string): string => `windrow://sessions/${id}`;
  const list = async (): Promise<{ resources: { uri: string; name: string; mimeType: string }[] }> => ({
    resources: await Promise.all(
      (await tools.list()).map(async ({ metadata }) => {
        const { uuid, createdAt } = metadata;
        const title = (await tools.title(metadata)) || `Session ${uuid}`;
        return { uri: uriOf(uuid), name: `${title}, begun ${createdAt}`, mimeType: "application/json" };
      }),
    ),
  });
  server.registerResource(
    "session",
    new ResourceTemplate(uriOf("{id}"), { list }),
    { title: "A session", description: "What it is, and its newest messages", mimeType: "application/json" },
    async (uri, { id }) => {
      const view = await tools.view(Array.isArray(id) ? id[0] : id);
      return { contents: [{ uri: uri.href, mimeType: "application/json", text: jsonText(view) }] };
    },
  );
}
