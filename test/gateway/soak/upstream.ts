/** An upstream whose answers come a few events a second, and that counts the sockets and the answers that are open. */
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";

export interface SoakUpstream {
  readonly url: string;
  /** Answers that came to their end, and those whose reader left before. */
  readonly counts: { whole: number; left: number };
  /** Answers that are under way. */
  open(): number;
  /** Waits until no answer is under way and no socket is open. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

/** The header with the number of events of an answer. */
export const eventsHeader = "x-soak-events";

const eventsPerSecond = 4;

export async function soakUpstream(): Promise<SoakUpstream> {
  const sockets = new Set<Socket>();
  const answers = new Set<ServerResponse>();
  const waiting = new Set<() => void>();
  const counts = { whole: 0, left: 0 };
  const told = (): void => waiting.forEach((ask) => ask());
  const server = createServer((request, response) => {
    answers.add(response);
    response.once("close", () => {
      answers.delete(response);
      counts[response.writableFinished ? "whole" : "left"]++;
      told();
    });
    request.resume().once("end", () => stream(response, Number(request.headers[eventsHeader] ?? 8)));
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      told();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    open: () => answers.size,
    async quiet() {
      await new Promise<void>((resolve) => {
        const ask = (): void => {
          if (answers.size > 0 || sockets.size > 0) return;
          waiting.delete(ask);
          resolve();
        };
        waiting.add(ask);
        ask();
      });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const frame = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

function stream(response: ServerResponse, events: number): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const usage = { input_tokens: 1, output_tokens: 1 };
  response.write(
    frame("message_start", {
      message: { id: "msg_soak", type: "message", role: "assistant", model: "soak", content: [], usage },
    }) + frame("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  );
  let left = events;
  const timer = setInterval(() => {
    const text = `word ${left} of an answer that comes slowly, `;
    response.write(frame("content_block_delta", { index: 0, delta: { type: "text_delta", text } }));
    if (--left > 0) return;
    clearInterval(timer);
    response.end(
      frame("content_block_stop", { index: 0 }) +
        frame("message_delta", { delta: { stop_reason: "end_turn" }, usage }) +
        frame("message_stop", {}),
    );
  }, 1_000 / eventsPerSecond);
  response.once("close", () => clearInterval(timer));
}
