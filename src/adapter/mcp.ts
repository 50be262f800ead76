/**
 * A store as an MCP server, for agents that keep their own window (Claude Code, Codex, Gemini CLI, opencode): recall,
 * search, pins and numbers as tools, sessions as resources. Over stdio, or over HTTP on this machine.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { serve } from "@hono/node-server";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
  originValidationResponse,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { isWindrowError, WindrowError } from "../errors.ts";
import type { McpTools } from "./mcp-tools.ts";

export { McpTools } from "./mcp-tools.ts";
export type { McpOptions } from "./mcp-tools.ts";

/** Where a server listens. */
export interface McpHttpOptions {
  /** Default 0: a free port. */
  readonly port?: number;
  /** Default `127.0.0.1`. Any other address needs a `token`. */
  readonly host?: string;
  /** What clients must send as `Authorization: Bearer …`. Default: nothing. */
  readonly token?: string;
  /** Host names by which clients may call beside those of this machine, and origins a browser may call from. */
  readonly allowedHosts?: readonly string[];
  /** Hears what went wrong in the protocol. */
  readonly onError?: (error: Error) => void;
}

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
const queryShape = {
  id: z.string().optional().describe("An id such as m12, m12-m40 for a range, or s3 for a summary"),
  query: z.string().optional().describe("Words, a path, a line"),
  from: z.number().int().optional().describe("First message of a range, from 1"),
  to: z.number().int().optional().describe("Last message of a range"),
  max_tokens: z.number().int().positive().optional().describe("Most tokens to bring back; 4000 without"),
};
const reads = { readOnlyHint: true, openWorldHint: false } as const;
const writes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

/** A server for one client, over tools that all clients share. */
export function mcpServer(tools: McpTools): McpServer {
  const server = new McpServer(
    { name: "windrow", version: packageVersion() },
    {
      instructions:
        "Sessions of agents, as they were journalled. windrow_search finds messages, windrow_recall brings them back " +
        "word for word: use them when something said or done earlier is no longer in view.",
    },
  );
  server.registerTool(
    "windrow_recall",
    {
      description: "Brings back earlier messages of a session word for word: by id, by range, or by words.",
      inputSchema: z.object({ ...queryShape, session: sessionField }),
      annotations: reads,
    },
    ({ session, max_tokens: maxTokens, ...query }) => answer(tools.recall(session, present(query), maxTokens)),
  );
  server.registerTool(
    "windrow_search",
    {
      description: "Finds the messages of a session that hold some words: one line each, with the id to recall it by.",
      inputSchema: z.object({
        query: z.string().min(1).describe("Words, a path, a line"),
        limit: z.number().int().positive().max(100).optional().describe("Most messages; 10 without"),
        session: sessionField,
      }),
      annotations: reads,
    },
    ({ session, query, limit }) => answer(tools.search(session, query, limit)),
  );
  server.registerTool(
    "windrow_sessions",
    {
      description: "Lists the newest sessions.",
      inputSchema: z.object({ limit: z.number().int().positive().max(200).optional() }),
      annotations: reads,
    },
    ({ limit }) => answer(tools.sessions(limit)),
  );
  server.registerTool(
    "windrow_stats",
    {
      description: "A session in numbers, and its tool calls without a result.",
      inputSchema: z.object({ session: sessionField }),
      annotations: reads,
    },
    ({ session }) => answer(tools.stats(session)),
  );
  server.registerTool(
    "windrow_pins",
    {
      description: "Lists the texts that stand in every window of a session.",
      inputSchema: z.object({ session: sessionField }),
      annotations: reads,
    },
    ({ session }) => answer(tools.pins(session)),
  );
  server.registerTool(
    "windrow_pin",
    {
      description: "Puts a text into every window of a session that no other program is writing.",
      inputSchema: z.object({ text: z.string().min(1), session: sessionField }),
      annotations: writes,
    },
    ({ session, text }) => answer(tools.pin(session, text)),
  );
  server.registerTool(
    "windrow_unpin",
    {
      description: "Takes a pinned text out of the windows of a session that no other program is writing.",
      inputSchema: z.object({ pin: z.string().describe("The pin's id, such as p1"), session: sessionField }),
      annotations: writes,
    },
    ({ session, pin }) => answer(tools.unpin(session, pin)),
  );
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
 * @throws WindrowError `bad-option` for an address other machines reach without a token, `store-unavailable` where the
 * port is taken
 */
export async function serveMcpHttp(tools: McpTools, options: McpHttpOptions = {}): Promise<McpHttpServer> {
  const { port = 0, host = "127.0.0.1", token, allowedHosts = [], onError } = options;
  if (token === undefined && !localhostAllowedHostnames().includes(host) && host !== "::1") {
    const message = `Other machines could read every session at ${host}: give a token, or listen on 127.0.0.1.`;
    throw new WindrowError("bad-option", message, { host });
  }
  const handler = createMcpHandler(() => mcpServer(tools), { ...(onError && { onerror: onError }) });
  const hosts = [...localhostAllowedHostnames(), ...allowedHosts];
  const origins = [...localhostAllowedOrigins(), ...allowedHosts];
  const fetch = (request: Request): Response | Promise<Response> => {
    const rejected = hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins);
    if (rejected) return rejected;
    if (token !== undefined && !isBearer(request, token)) {
      return new Response("A bearer token is needed.\n", { status: 401, headers: { "www-authenticate": "Bearer" } });
    }
    if (new URL(request.url).pathname !== "/mcp") return new Response("The server is at /mcp.\n", { status: 404 });
    return handler.fetch(request);
  };
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, port, hostname: host }, ({ port: bound }) => {
      const name = host.includes(":") ? `[${host}]` : host;
      const close = async (): Promise<void> => {
        await handler.close();
        await new Promise((done) => {
          server.close(done);
          if ("closeAllConnections" in server) server.closeAllConnections();
        });
      };
      resolve({ url: `http://${name}:${bound}/mcp`, close });
    });
    server.once("error", (error: Error) => {
      const message = `Nothing can listen on ${host}:${port}: ${error.message}`;
      reject(new WindrowError("store-unavailable", message, { host, port }, { cause: error }));
    });
  });
}

function addResources(server: McpServer, tools: McpTools): void {
  const uriOf = (id: string): string => `windrow://sessions/${id}`;
  const list = async (): Promise<{ resources: { uri: string; name: string; mimeType: string }[] }> => ({
    resources: (await tools.list()).map(({ metadata: { uuid, createdAt } }) => {
      return { uri: uriOf(uuid), name: `Session ${uuid}, begun ${createdAt}`, mimeType: "application/json" };
    }),
  });
  server.registerResource(
    "session",
    new ResourceTemplate(uriOf("{id}"), { list }),
    { title: "A session", description: "What it is, and its newest messages", mimeType: "application/json" },
    async (uri, { id }) => {
      const view = await tools.view(Array.isArray(id) ? id[0] : id);
      return { contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify(view, null, 2) }] };
    },
  );
}

interface ToolAnswer {
  readonly [key: string]: unknown;
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly isError?: boolean;
}

async function answer(work: Promise<string>): Promise<ToolAnswer> {
  try {
    return { content: [{ type: "text", text: await work }] };
  } catch (error) {
    if (!isWindrowError(error)) throw error;
    return { content: [{ type: "text", text: `${error.code}: ${error.message}` }], isError: true };
  }
}

function present<T extends object>(query: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as never;
}

function isBearer(request: Request, token: string): boolean {
  const [given, wanted] = [request.headers.get("authorization") ?? "", `Bearer ${token}`].map((text) =>
    createHash("sha256").update(text).digest(),
  );
  return given !== undefined && wanted !== undefined && timingSafeEqual(given, wanted);
}

function packageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
