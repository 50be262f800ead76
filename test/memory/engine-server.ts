/** An engine behind HTTP that fails, hangs and forgets to answer, and what it has in the end of what was acknowledged. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Store } from "windrow";
import { dueOffloads, offloadDue } from "windrow/memory";
import type { Memory } from "windrow/memory";
import { cleanup, monitor } from "windrow/ops";

/** A server that runs. */
export interface EngineServer {
  readonly url: string;
  /** The messages of each session by `seq`, by their ids. */
  readonly has: ReadonlyMap<string, ReadonlyMap<number, string>>;
  /** Requests so far. */
  requests(): number;
  /** Messages that came again as others. */
  confused(): number;
  /** It answers every request from now on. */
  heal(): void;
  close(): Promise<void>;
}

/** Of ten requests one is refused, one hangs and keeps nothing, one keeps everything and is never answered. */
export async function startEngineServer(): Promise<EngineServer> {
  const has = new Map<string, Map<number, string>>();
  let requests = 0;
  let confused = 0;
  let isHealthy = false;
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => (body += piece.toString()));
    request.on("end", () => {
      const kind = isHealthy ? 9 : requests++ % 10;
      if (kind === 0) return void response.writeHead(500).end();
      if (kind === 1) return undefined;
      const { sessionId, messages } = JSON.parse(body) as { sessionId: string; messages: [number, string][] };
      const kept = has.get(sessionId) ?? new Map<number, string>();
      has.set(sessionId, kept);
      for (const [seq, id] of messages) {
        if ((kept.get(seq) ?? id) !== id) confused++;
        kept.set(seq, id);
      }
      return kind === 2 ? undefined : void response.end("ok");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    has,
    requests: () => requests,
    confused: () => confused,
    heal: () => void (isHealthy = true),
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

/** The engine of a server. */
export function httpEngine(url: string): Memory {
  return {
    name: "http",
    async receive(sessionId, messages, signal) {
      const body = JSON.stringify({ sessionId, messages: [...messages].map(({ seq, message }) => [seq, message.id]) });
      const response = await fetch(url, { method: "POST", body, ...(signal && { signal }) });
      if (!response.ok) throw new Error(`the engine answered ${response.status}`);
    },
    query: async () => [],
    close: async () => undefined,
  };
}

/**
 * Ends what killed processes left, and hands over what is due, once the engine is well.
 *
 * @param rows - the lines of ending.js: a session's id and its messages' ids
 * @returns the sessions that are still due, those of which the engine lacks something, and messages that it has wrong
 */
export async function handRest(
  store: Store,
  server: EngineServer,
  rows: readonly string[],
): Promise<{ readonly due: readonly string[]; readonly lost: readonly string[]; readonly confused: number }> {
  server.heal();
  const later = { now: () => new Date(Date.now() + 3_600_000) };
  await monitor(store, { once: true, staleAfter: 1, ...later });
  await cleanup(store, { closedAfter: 1, ...later });
  const clock = { now: () => later.now().getTime(), every: () => () => undefined };
  await offloadDue(store, {}, httpEngine(server.url), { all: true, clock });
  const due: string[] = [];
  for await (const { sessionId } of dueOffloads(store, {})) due.push(sessionId);
  const lost = rows.filter((row) => {
    const [id = "", ids = ""] = row.split(" ");
    return [...(server.has.get(id)?.values() ?? [])].join() !== ids;
  });
  return { due, lost, confused: server.confused() };
}
