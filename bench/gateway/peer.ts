/** Other servers between a client and its provider, which the gateway is measured beside. */
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { installedPeer } from "../peer.ts";

/** A server in a process of its own. */
export interface Served {
  readonly url: string;
  readonly child?: ChildProcess;
  /** Headers that it asks for. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Starts a script of Node; its server's address is the first that it prints. */
export type Start = (words: readonly string[]) => Promise<Served>;

/** The peers by name and version. Each rejects where it cannot be had. */
export const peers: readonly (readonly [string, (start: Start, upstream: string) => Promise<Served>])[] = [
  ["http-proxy 1.18.1", async (start, upstream) => start([scriptOf("http-proxy@1.18.1", httpProxy), upstream])],
  [
    "@portkey-ai/gateway 1.15.2",
    async (start, upstream) => ({
      ...(await start([scriptOf("@portkey-ai/gateway@1.15.2", portkey)])),
      headers: {
        "x-portkey-provider": "anthropic",
        "x-portkey-custom-host": `${upstream}/v1`,
        "x-portkey-forward-headers": "x-events",
        "x-api-key": "bench",
      },
    }),
  ],
];

function scriptOf(peer: string, code: string): string {
  return fileURLToPath(installedPeer([peer], code));
}

const httpProxy = `import proxy from "http-proxy";
const server = proxy.createProxyServer({ target: process.argv[2] }).listen(0, "127.0.0.1");
server._server.once("listening", () => console.log("http://127.0.0.1:" + server._server.address().port));
`;

/** It writes into the headers of what it fetched, which Node 20 and later refuse: it gets a copy of them. */
const portkey = `import { once } from "node:events";
import { createServer } from "node:net";
const fetched = globalThis.fetch;
globalThis.fetch = async (...given) => {
  const { body, status, statusText, headers } = await fetched(...given);
  return new Response(body, { status, statusText, headers: new Headers(headers) });
};
const free = createServer().listen(0, "127.0.0.1");
await once(free, "listening");
const { port } = free.address();
free.close();
await once(free, "close");
process.argv.push("--headless", "--port=" + port);
await import("./node_modules/@portkey-ai/gateway/build/start-server.js");
for (let tries = 0; tries < 200; tries++) {
  if (await fetched("http://127.0.0.1:" + port).catch(() => undefined)) break;
  await new Promise((resolve) => setTimeout(resolve, 50));
}
console.log("\\nhttp://127.0.0.1:" + port);
`;
