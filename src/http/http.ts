/**
 * The one HTTP server. Every server of Windrow is made here, so that none can forget the guard: a malformed request is
 * answered with 400, a foreign one with 403 or 405, and no request and no handler's error ends the process.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WindrowError } from "../errors.ts";
import { judge } from "./guard.ts";
import type { GuardRules } from "./guard.ts";
import { refusalHeaders, refuseMethod, refuseSocket } from "./refusal.ts";

/** A request that passed the guard. */
export interface HttpCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Path and query; its host says nothing. */
  readonly url: URL;
  /** Empty where the request has none. */
  readonly body: Buffer;
}

/** A server to make. */
export interface HttpServerOptions {
  /** Answers a request. What it throws becomes a 500 that tells nothing of it. */
  readonly handle: (call: HttpCall) => void | Promise<void>;
  readonly methods: readonly string[];
  /** 0 for any port that is free. */
  readonly port: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Host names by which clients may call beside those of this machine. */
  readonly allowedHosts?: readonly string[];
  /** Called with each error that a handler throws. */
  readonly onError?: (error: Error) => void;
}

/** A server that listens. */
export interface HttpServer {
  /** `http://127.0.0.1:9464`, without a slash at its end. */
  readonly url: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Limits of a request: larger and slower ones are refused, so that half-open connections do not pile up. */
const limits = {
  headerBytes: 16 * 1_024,
  bodyBytes: 4 * 1_024 * 1_024,
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 5_000,
  checkEveryMs: 1_000,
  connections: 256,
} as const;

/**
 * Makes a server that listens.
 *
 * @throws WindrowError `store-unavailable` where the port cannot be had
 */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { handle, methods, port, host = "127.0.0.1", allowedHosts = [], onError = () => undefined } = options;
  const rules: GuardRules = { host, allowedHosts, methods };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
    void answer(request, response, rules, handle, onError);
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      // The guard asks for it, and refuses with the headers of a refusal.
      requireHostHeader: false,
    },
    onRequest,
  );
  // An expectation that is not known is passed over; Node's own answer to it would go past the guard.
  server.on("checkExpectation", onRequest);
  server.maxConnections = limits.connections;
  server.on("clientError", refuseSocket);
  server.on("connect", refuseMethod);
  await listen(server, port, host);
  // An error of a server that listens, such as too many open files, concerns one connection.
  server.on("error", onError);
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${name}:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    const message = `Nothing can listen on ${host}:${port}: ${reason}. Choose another port or address.`;
    throw new WindrowError("store-unavailable", message, { host, port, reason }, { cause: error });
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  rules: GuardRules,
  handle: HttpServerOptions["handle"],
  onError: (error: Error) => void,
): Promise<void> {
  // Without listeners, a connection that breaks off would be an error that nobody catches.
  request.on("error", () => undefined);
  response.on("error", () => undefined);
  try {
    const { method = "", url: target = "", rawHeaders } = request;
    const url = judge({ method, target, rawHeaders }, rules);
    if ("status" in url) {
      return refuse(request, response, url.status, url.message, url.status === 405 ? rules.methods : undefined);
    }
    const body = await bodyOf(request);
    if (body === "too-large") return refuse(request, response, 413, `At most ${limits.bodyBytes} bytes are taken.`);
    if (body !== undefined) await handle({ request, response, url, body });
  } catch (error) {
    onError(error instanceof Error ? error : new Error(String(error)));
    if (response.headersSent) response.destroy();
    else refuse(request, response, 500, "The request could not be answered.");
  }
}

/** A request's body; undefined where the client went away before its end. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | "too-large" | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > limits.bodyBytes) return "too-large";
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limits.bodyBytes) return "too-large";
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  message: string,
  allow?: readonly string[],
): void {
  response.writeHead(status, {
    ...refusalHeaders,
    "content-type": "text/plain; charset=utf-8",
    ...(allow && { allow: allow.join(", ") }),
  });
  response.end(request.method === "HEAD" ? undefined : `${message}\n`);
}
