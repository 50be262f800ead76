/** A port of this machine that nobody listens on. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** Finds one; a cluster of Redis also uses the port 10,000 above. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port > 55_000 ? freePort() : port;
}
