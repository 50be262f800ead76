/** A proxy between a client and a server on this machine that cuts and stalls connections. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A proxy that listens. */
export interface CutProxy {
  readonly port: number;
  /** Ends every connection at once. */
  cut(): void;
  /** Keeps what the server answers to itself, until `flow`. */
  stall(): void;
  flow(): void;
  /** How often a client sent something and had got an answer to all that it sent before on that connection, or sent nothing. */
  readonly roundTrips: number;
  close(): Promise<void>;
}

/** Starts a proxy before a port of this machine. */
export async function startCutProxy(port: number): Promise<CutProxy> {
  const pairs = new Set<{ readonly inner: Socket; readonly outer: Socket }>();
  let stalled = false;
  let roundTrips = 0;
  const server = createServer((outer) => {
    const inner = connect(port, "127.0.0.1");
    const pair = { inner, outer };
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      inner.destroy();
      outer.destroy();
    };
    for (const socket of [inner, outer]) socket.on("error", end).on("close", end);
    let isAnswered = true;
    outer.pipe(inner);
    outer.on("data", () => {
      if (isAnswered) roundTrips++;
      isAnswered = false;
    });
    inner.on("data", (bytes) => {
      isAnswered = true;
      outer.write(bytes);
    });
    if (stalled) inner.pause();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const { inner, outer } of pairs) {
      outer.destroy();
      inner.destroy();
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    stall() {
      stalled = true;
      for (const { inner } of pairs) inner.pause();
    },
    flow() {
      stalled = false;
      for (const { inner } of pairs) inner.resume();
    },
    get roundTrips() {
      return roundTrips;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}
