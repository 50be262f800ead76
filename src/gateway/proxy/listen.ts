/** The sockets of the gateway: two addresses of this machine, or one of another, and answers to what is no request. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { WindrowError } from "../../errors.ts";
import { systemCode } from "../../disk/safe-write.ts";
import { refuseMethod, refuseSocket } from "../../http/refusal.ts";

/** Limits of connections. Clients are told of a minute, and have ten, so that none meets a connection that was just closed. */
const limits = {
  headerBytes: 256 * 1_024,
  headersMs: 30_000,
  toldKeepAliveMs: 60_000,
  keepAliveMs: 600_000,
  checkEveryMs: 5_000,
  connections: 2_048,
} as const;

/** Answers a request; `proceed` asks a client for the body that it waits to send. */
export type Answer = (request: IncomingMessage, response: ServerResponse, proceed: () => void) => void;

/** The sockets of a gateway that listens. */
export interface Listening {
  readonly port: number;
  /** Takes no more connections and ends those that there are. */
  close(): Promise<void>;
}

/**
 * Listens. At `127.0.0.1`, `::1` and `localhost` both addresses of this machine are taken, where it has both: a client
 * that looks `localhost` up may get either.
 *
 * @param port - 0 for one that is free
 * @throws WindrowError `store-unavailable` where the port cannot be had
 */
export async function listenAt(host: string, port: number, answer: Answer): Promise<Listening> {
  if (!["127.0.0.1", "::1", "[::1]", "localhost"].includes(host)) return gathered([await listen(host, port, answer)]);
  for (let attempt = 0; ; attempt++) {
    const first = await listen("127.0.0.1", port, answer);
    try {
      return gathered([first, await listen("::1", portOf(first), answer)]);
    } catch (error) {
      const reason = systemCode((error as Error).cause);
      if (reason === "EADDRNOTAVAIL" || reason === "EAFNOSUPPORT") return gathered([first]);
      await closeServer(first);
      // A free port of one address may be taken at the other.
      if (port !== 0 || attempt === 8) throw error;
    }
  }
}

async function listen(host: string, port: number, answer: Answer): Promise<Server> {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: 0,
    keepAliveTimeout: limits.toldKeepAliveMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    noDelay: true,
    // The guard asks for it, and refuses with an answer of its own.
    requireHostHeader: false,
    insecureHTTPParser: false,
  });
  server.maxConnections = limits.connections;
  // By number, Node would leave headers out without a word; they are limited by their bytes.
  server.maxHeadersCount = 0;
  const begin = (request: IncomingMessage, response: ServerResponse, proceed: () => void): void => {
    response.once("finish", () => keepLonger(request.socket));
    answer(request, response, proceed);
  };
  server.on("request", (request, response) => begin(request, response, () => undefined));
  server.on("checkContinue", (request, response) => begin(request, response, () => response.writeContinue()));
  server.on("checkExpectation", (request, response) => begin(request, response, () => undefined));
  server.on("clientError", refuseSocket);
  server.on("connect", refuseMethod);
  server.listen(port, host.replaceAll(/[[\]]/g, ""));
  try {
    await once(server, "listening");
  } catch (error) {
    const reason = systemCode(error) ?? String(error);
    const message = `Nothing can listen on ${host}:${port}: ${reason}. Choose another port or address.`;
    throw new WindrowError("store-unavailable", message, { host, port, reason }, { cause: error });
  }
  // An error of a server that listens, such as too many open files, concerns one connection.
  server.on("error", () => undefined);
  return server;
}

function gathered(servers: readonly [Server, ...Server[]]): Listening {
  return {
    port: portOf(servers[0]),
    close: async () => void (await Promise.all(servers.map((server) => closeServer(server)))),
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

/** Keeps an idle connection longer than its client was told. One that waits for something else has another time. */
function keepLonger(socket: Socket): void {
  const { timeout = 0 } = socket;
  if (timeout >= limits.toldKeepAliveMs && timeout < limits.keepAliveMs) socket.setTimeout(limits.keepAliveMs);
}
