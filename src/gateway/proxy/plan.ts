/** The plan of a request: its conversation is read, and lines say which bytes it is sent with. Any fault passes it as it is. */
import type { IncomingHttpHeaders } from "node:http";
import type { Lines, Sending, WireApi, WireRequest } from "../gateway.ts";
import { decoded } from "./encoding.ts";

/** The parts by which requests are read. */
export interface Planning {
  readonly apis: readonly WireApi[];
  readonly lines?: Lines;
  /** Milliseconds that lines may take. Default 5,000. */
  readonly mostWaitMs?: number;
  readonly tenantOf: (headers: IncomingHttpHeaders, path: string) => string;
}

/** A request as it goes on. */
export interface Plan {
  readonly body: Buffer;
  /** Whether the body is another one than the client's, and not compressed. */
  readonly isChanged: boolean;
  /** The value of `x-windrow`. */
  readonly note: string;
  /** The conversation, and whoever waits for its answer; absent for a request that passes unread. */
  readonly read?: { readonly request: WireRequest; readonly sending: Sending };
}

/** A request with its whole body. */
export interface WholeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The session that the path names. */
  readonly session?: string;
}

/** Milliseconds that lines may take, which promise a second: behind it something hangs that must not hang an agent. */
const mostWaitMs = 5_000;

/** The API that reads a request; undefined where its body is of no use to the gateway. */
export function apiFor(
  { apis, lines }: Planning,
  method: string,
  path: string,
  headers: IncomingHttpHeaders,
): WireApi | undefined {
  const isJson = /\bjson\b/i.test(headers["content-type"] ?? "json");
  const isOff = headers["x-windrow"] === "off";
  if (!lines || method !== "POST" || !isJson || isOff) return undefined;
  return apis.find((api) => attempted(() => api.matches(method, path)) === true);
}

/** Plans a request. It never rejects. */
export async function planOf(planning: Planning, api: WireApi, whole: WholeRequest): Promise<Plan> {
  const { method, path, headers, body, session } = whole;
  const passing = (reason: string): Plan => ({ body, isChanged: false, note: `bypassed; reason=${reason}` });
  const readable = await decoded(body, headers["content-encoding"]);
  if (!readable) return passing("encoding");
  const named = session === undefined ? headers : { ...headers, "x-windrow-session": session };
  const request = attempted(() => api.read({ method, path, headers: named, body: readable }));
  if (!request || !planning.lines) return passing("unread");
  const { lines } = planning;
  const tenant = planning.tenantOf(headers, path);
  const sending = await within(() => lines.send(request, tenant), leave, planning.mostWaitMs);
  if (!sending) return passing("error");
  const isChanged = sending.body !== readable;
  return { body: isChanged ? sending.body : body, isChanged, note: sending.note, read: { request, sending } };
}

/** A promise's value; undefined where it rejects, or comes too late, which `onLate` is then told of. */
export async function within<T>(
  begin: () => Promise<T>,
  onLate: (value: T) => void = () => undefined,
  most = mostWaitMs,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      isLate = true;
      resolve(undefined);
    }, most);
  });
  const given = Promise.resolve()
    .then(begin)
    .then((value) => {
      if (isLate) onLate(value);
      return value;
    })
    .catch(() => undefined);
  try {
    return await Promise.race([given, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Tells lines that came too late that nothing was sent by them. */
function leave(sending: Sending): void {
  const waited = { firstByteMs: mostWaitMs, totalMs: mostWaitMs };
  void sending.keep({ status: 0, answer: { isComplete: false }, isAborted: true, ...waited }).catch(() => undefined);
}

/** The value of a call; undefined where it throws. */
function attempted<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
