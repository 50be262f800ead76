/** A stage for the gateway: an upstream and a client that see every byte of a socket, and a gateway between them. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { onTestFinished } from "vitest";
import { serveGateway } from "windrow/gateway";
import type { Gateway, GatewayEvent, ServeGatewayOptions } from "windrow/gateway";

/** A request or an answer as it was on the wire. */
export interface Wire {
  /** The first line. */
  readonly line: string;
  /** Lines of names and values as they were sent. */
  readonly headers: readonly string[];
  /** The body as it was framed, chunks joined. */
  readonly body: Buffer;
}

/** A connection that the upstream has, with the requests that came on it. */
export interface Connection {
  readonly socket: Socket;
  readonly requests: Wire[];
}

/** An upstream at the level of sockets. */
export interface RawUpstream {
  readonly url: string;
  readonly port: number;
  readonly connections: Connection[];
  /** All whole requests, in the order in which they came. */
  readonly requests: Wire[];
}

/** Answers a whole request by writing to its socket. */
export type RawAnswer = (socket: Socket, request: Wire, count: number) => void | Promise<void>;

/** Starts an upstream that ends with the test. Bytes answer every request. */
export async function rawUpstream(answer: RawAnswer | Buffer): Promise<RawUpstream> {
  const connections: Connection[] = [];
  const requests: Wire[] = [];
  const server = createServer((socket) => {
    const connection: Connection = { socket, requests: [] };
    connections.push(connection);
    let bytes = Buffer.alloc(0);
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let read = readWire(bytes, "request"); read; read = readWire(bytes, "request")) {
        bytes = bytes.subarray(read.length);
        connection.requests.push(read.wire);
        requests.push(read.wire);
        if (Buffer.isBuffer(answer)) socket.write(answer);
        else void answer(socket, read.wire, requests.length);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    for (const { socket } of connections) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}`, port, connections, requests };
}

/** A gateway with an upstream in the place of all providers, and the events that it told. */
export interface StagedGateway {
  readonly gateway: Gateway;
  readonly port: number;
  readonly events: GatewayEvent[];
  /** Resolves with the n-th event, counted from 1. */
  readonly event: (n: number) => Promise<GatewayEvent>;
}

/** Starts a gateway that ends with the test. */
export async function staged(url: string, options: Partial<ServeGatewayOptions> = {}): Promise<StagedGateway> {
  const events: GatewayEvent[] = [];
  const waiting: (() => void)[] = [];
  const upstreams = { anthropic: url, openai: url, gemini: url, ollama: url, ...options.upstreams };
  const gateway = await serveGateway({
    port: 0,
    env: {},
    ...options,
    upstreams,
    on: (event) => {
      events.push(event);
      options.on?.(event);
      for (const wake of waiting.splice(0)) wake();
    },
  });
  onTestFinished(() => gateway.close());
  const event = async (n: number): Promise<GatewayEvent> => {
    while (events.length < n) await new Promise<void>((resolve) => waiting.push(resolve));
    return events[n - 1]!;
  };
  return { gateway, port: Number(new URL(gateway.url).port), events, event };
}

/** Sends bytes to a port of this machine, and reads what comes back until the other side ends or `enough` says so. */
export async function sendRaw(
  port: number,
  bytes: string | Buffer,
  enough: (received: Buffer) => boolean = () => false,
): Promise<Buffer> {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("error", () => undefined);
  socket.write(bytes);
  return new Promise((resolve) => {
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (enough(Buffer.concat(chunks))) socket.destroy();
    });
    socket.on("close", () => resolve(Buffer.concat(chunks)));
  });
}

/** Sends one request and reads its whole answer. */
export async function ask(port: number, bytes: string | Buffer, method = "POST"): Promise<Wire> {
  const isHead = method === "HEAD";
  const received = await sendRaw(port, bytes, (so) => readWire(so, "answer", isHead) !== undefined);
  const read = readWire(received, "answer", isHead) ?? readWire(received, "answer", isHead, true);
  if (!read) throw new Error(`No whole answer: ${received.toString("latin1").slice(0, 400)}`);
  return read.wire;
}

/** A request as bytes. `Host` and the length are added. */
export function requestOf(
  target: string,
  headers: readonly string[] = [],
  body: Buffer | string = "",
  method = "POST",
): Buffer {
  const { length } = Buffer.from(body);
  const lines = ["Host: 127.0.0.1", ...headers, ...(length > 0 ? [`Content-Length: ${length}`] : [])];
  return answerOf(`${method} ${target} HTTP/1.1`, lines, body);
}

/** An answer as bytes, without a length of its own. */
export function answerOf(status: string, headers: readonly string[] = [], body: Buffer | string = ""): Buffer {
  const first = status.includes("HTTP/") ? status : `HTTP/1.1 ${status}`;
  const head = [first, ...headers].join("\r\n");
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), Buffer.from(body)]);
}

/** An answer with its length. */
export const sized = (status: string, body: Buffer | string, headers: readonly string[] = []): Buffer =>
  answerOf(status, [...headers, `Content-Length: ${Buffer.from(body).length}`], body);

export const chunked = "Transfer-Encoding: chunked";

/** The body of a message in chunks, with its end. */
export const chunksOf = (...pieces: readonly (Buffer | string)[]): Buffer =>
  Buffer.concat([...pieces, ""].map(chunkOf));

/** A client at the level of sockets. */
export interface RawClient {
  readonly socket: Socket;
  /** All that came so far. */
  readonly received: () => string;
  /** Resolves when a text has come. */
  readonly until: (text: string) => Promise<string>;
}

/** Connects a client that ends with the test, and writes what it says first. */
export function rawClient(port: number, bytes: Buffer | string = ""): RawClient {
  const socket = connect(port, "127.0.0.1");
  let said = "";
  socket.on("error", () => undefined).on("data", (chunk) => (said += chunk.toString("latin1")));
  socket.write(bytes);
  onTestFinished(() => void socket.destroy());
  const until = async (text: string): Promise<string> => {
    while (!said.includes(text)) await once(socket, "data");
    return said;
  };
  return { socket, received: () => said, until };
}

/** Resolves when a socket is closed, in peace or not. */
export function closed(socket: Socket | undefined): Promise<void> {
  return new Promise((resolve) => (socket ? socket.once("close", () => resolve()) : resolve()));
}

/** A piece of a chunked body. */
export function chunkOf(bytes: Buffer | string): Buffer {
  const piece = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
}

/** The value of a header; undefined where there is none. */
export function headerOf(wire: Wire | undefined, wanted: string): string | undefined {
  const found = wire?.headers.find((line) => nameOf(line) === wanted);
  return found?.slice(wanted.length + 1).trim();
}

/** The name of a line of headers, in small letters. */
export const nameOf = (line: string): string => line.split(":", 1)[0]!.toLowerCase();

/** Reads a message of HTTP from its beginning; undefined while it is not whole. */
export function readWire(
  bytes: Buffer,
  kind: "request" | "answer",
  isHead = false,
  isEnd = false,
): { readonly wire: Wire; readonly length: number } | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [line = "", ...headers] = bytes.toString("latin1", 0, end).split("\r\n");
  const value = (name: string): string | undefined => headerOf({ line, headers, body: bytes }, name);
  const start = end + 4;
  const done = (body: Buffer, length: number) => ({ wire: { line, headers, body }, length });
  if (isHead || /^HTTP\/1\.1 (?:1\d\d|204|304)/.test(line)) return done(Buffer.alloc(0), start);
  if (/chunked/i.test(value("transfer-encoding") ?? "")) return unchunked(bytes, start, done);
  const length = value("content-length");
  if (length === undefined && kind === "answer") return isEnd ? done(bytes.subarray(start), bytes.length) : undefined;
  const size = Number(length ?? 0);
  return bytes.length < start + size ? undefined : done(bytes.subarray(start, start + size), start + size);
}

function unchunked<T>(bytes: Buffer, start: number, done: (body: Buffer, length: number) => T): T | undefined {
  const pieces: Buffer[] = [];
  for (let place = start; ;) {
    const end = bytes.indexOf("\r\n", place);
    if (end < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", place, end), 16);
    if (size === 0) {
      const last = bytes.indexOf("\r\n\r\n", end);
      return last < 0 ? undefined : done(Buffer.concat(pieces), last + 4);
    }
    if (bytes.length < end + 2 + size + 2) return undefined;
    pieces.push(bytes.subarray(end + 2, end + 2 + size));
    place = end + 2 + size + 2;
  }
}
