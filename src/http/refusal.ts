/** Refusals of what never reaches a handler, for every server: what is no HTTP request, and CONNECT. */
import { STATUS_CODES } from "node:http";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** The headers of refusals: nothing of them is kept, guessed, run or framed. */
export const refusalHeaders = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "connection": "close",
} as const;

const statusOfFault: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers what is no HTTP request, and ends the connection. */
export function refuseSocket(error: NodeJS.ErrnoException, socket: Duplex): void {
  // An answer that is under way on the connection must not be mixed with another answer.
  const underWay = (socket as { readonly _httpMessage?: { readonly headersSent?: boolean } })._httpMessage?.headersSent;
  if (error.code === "ECONNRESET" || !socket.writable || underWay) return void socket.destroy();
  endSocket(socket, statusOfFault[error.code ?? ""] ?? 400);
}

/** CONNECT has no response object. Its target is another server's name, so the method is refused before the target. */
export function refuseMethod(_request: IncomingMessage, socket: Duplex): void {
  socket.on("error", () => undefined);
  endSocket(socket, 405);
}

function endSocket(socket: Duplex, status: number): void {
  const headers = Object.entries({ ...refusalHeaders, "content-length": "0" });
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, ...headers.map((header) => header.join(": "))];
  socket.end(`${lines.join("\r\n")}\r\n\r\n`, () => socket.destroy());
}
