/** Refusals: the gateway's own answers in the place of an upstream's. */
import { STATUS_CODES } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { hasBody } from "./body.ts";
import type { Course } from "./events.ts";

/** An answer in an upstream's place. */
export interface Refusal {
  readonly response: ServerResponse;
  readonly course: Course;
  readonly status: number;
  /** The value of `x-windrow`. */
  readonly note: "failed" | "refused";
  /** The error in the shape of the client's API. */
  readonly fault: { readonly contentType: string; readonly body: string };
}

/** Statuses of requests that HTTP allows. */
const proper: ReadonlySet<number> = new Set([401, 404, 503, 508]);

/** Sends a refusal, and notes it. */
export function sendRefusal({ response, course, status, note, fault }: Refusal): void {
  course.outcome = note;
  course.status = status;
  course.note = note;
  if (response.destroyed) return;
  const { contentType, body } = fault;
  const headers = {
    "content-type": contentType,
    "content-length": Buffer.byteLength(body),
    "x-windrow": note,
    ...(!stays(response.req, status) && { connection: "close" }),
    ...(status === 426 && { upgrade: "HTTP/1.1" }),
    ...(status === 503 && { "retry-after": "1" }),
  };
  // A reason is always given: an upstream's, with which writing failed, would stand in its place.
  response.writeHead(status, STATUS_CODES[status] ?? "", headers);
  response.end(response.req.method === "HEAD" ? undefined : body);
}

/**
 * Whether a connection stays open behind a refusal. One that ended would be reset under a client that writes its whole body
 * first, which then never reads the refusal.
 */
function stays(request: IncomingMessage, status: number): boolean {
  // A client that waits to be asked for its body may send it or not, so what comes next is not known.
  if (request.headers.expect !== undefined) return false;
  return status === 502 || (proper.has(status) && hasBody(request));
}
