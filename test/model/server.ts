/** A real HTTP server that answers by a script, and keeps what it was asked. */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One answer: a status, headers and a body; or a function that does with the connection what it wants. */
export type Answer =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body: unknown }
  | ((request: IncomingMessage, response: ServerResponse) => void);

/** One request as it came in. */
export interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A running server. */
export interface Server {
  readonly url: string;
  readonly asked: readonly Asked[];
  close(): Promise<void>;
}

/** Starts a server that gives its answers in order, the last one for good. */
export async function serve(answers: readonly Answer[]): Promise<Server> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Asked["body"];
      const answer = answers[Math.min(asked.push({ method, url, headers, body }), answers.length) - 1];
      if (typeof answer === "function") return answer(request, response);
      const text = typeof answer?.body === "string" ? answer.body : JSON.stringify(answer?.body ?? {});
      response.writeHead(answer?.status ?? 200, { "content-type": "application/json", ...answer?.headers });
      response.end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Leaves the request without an answer. */
export const silence: Answer = () => undefined;

/** Breaks the connection in the middle of the answer. */
export const cut: Answer = (_, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"choices": [');
  setImmediate(() => response.destroy());
};

/** Time that passes at once; `waits` are the pauses asked for, in milliseconds. */
export function fastClock(): { now(): number; wait(milliseconds: number): Promise<void>; readonly waits: number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => Date.parse("2026-11-22T00:00:00Z"),
    wait: async (milliseconds) => void waits.push(milliseconds),
  };
}
