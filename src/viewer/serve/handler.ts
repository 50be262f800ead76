/** The viewer as a handler of the fetch standard: the page, and the questions that it asks, behind a token. */
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { ErrorCode } from "../../errors.ts";
import { isBearer } from "../../http/bearer.ts";
import { checkGiven, kinds } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import type { ViewerBlob, ViewerSource } from "../viewer.ts";
import { followStream } from "./follow.ts";
import { isPagePath, pageFiles, readPage } from "./pages.ts";
import { answerTo } from "./routes.ts";

/** The settings of a handler. */
export interface ViewerHandlerOptions {
  /** Answers the questions; `storedSource` makes one of a store. */
  readonly source: ViewerSource;
  /** The token that every question must carry as `Authorization: Bearer …`; at least 16 characters. */
  readonly token: string;
  /** The path that the handler is mounted at, such as `/viewer`. Default: the root. */
  readonly base?: string;
  /** The folder of index.html, viewer.js and viewer.css. Default: the package's own. */
  readonly pages?: string;
  /** Called with each error that is no fault of a request. */
  readonly onError?: (error: Error) => void;
}

/** The fewest characters of a token. */
const leastToken = 16;

const optionKinds = {
  source: kinds.object,
  token: kinds.text,
  base: {
    is: "a path such as /viewer",
    fits: (value) => typeof value === "string" && /^(?:\/[\w.~-]+)*\/?$/.test(value),
  },
  pages: kinds.text,
  onError: kinds.action,
} as const satisfies Record<keyof ViewerHandlerOptions, Kind>;

/** The headers of every answer: nothing is kept, guessed, framed, or loaded from elsewhere. */
export const securityHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: blob:; " +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** The types that an image is served as; any other is a file to save. */
const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"];

const statusOfCode: Readonly<Partial<Record<ErrorCode, number>>> = {
  "bad-option": 400,
  "budget-too-small": 400,
  "over-budget": 400,
  "session-id-invalid": 400,
  "unknown-profile": 400,
  "unknown-strategy": 400,
  "not-allowed": 403,
  "not-found": 404,
  "session-not-found": 404,
};

/**
 * Makes a handler. The page's own files need no token, as they hold nothing of a session; every question does. Only GET
 * and HEAD are answered, and no answer may be read by a page of another origin.
 *
 * @throws WindrowError `bad-option` for a wrong option
 */
export function viewerHandler(options: ViewerHandlerOptions): (request: Request) => Promise<Response> {
  checkGiven("viewerHandler", options, optionKinds);
  const { token, onError } = options;
  if (token === undefined) throw new WindrowError("bad-option", "viewerHandler needs a token; newToken makes one.");
  // A token is never quoted: whoever reads the error could use what stands there.
  if (token.length < leastToken) {
    const message = `viewerHandler: \`token\` is a text of at least ${leastToken} characters, not of ${token.length}.`;
    throw new WindrowError("bad-option", message, { option: "token" });
  }
  const base = `${(options.base ?? "").replace(/\/$/, "")}/`;
  return async (request) => {
    const isHead = request.method === "HEAD";
    if (!isHead && request.method !== "GET") {
      return plain(405, "Only GET and HEAD here.", { allow: "GET, HEAD" });
    }
    try {
      const answer = await respond(request, options, base);
      if (!isHead) return answer;
      await answer.body?.cancel();
      return new Response(null, { status: answer.status, headers: answer.headers });
    } catch (error) {
      return failure(error, onError);
    }
  };
}

async function respond(request: Request, options: ViewerHandlerOptions, base: string): Promise<Response> {
  const url = new URL(request.url);
  if (url.pathname === base.slice(0, -1)) return plain(308, "The page is one step below.", { location: base });
  if (!url.pathname.startsWith(base)) return plain(404, "Nothing is here.");
  const path = url.pathname.slice(base.length);
  if (isPagePath(path)) {
    const headers = { ...securityHeaders, "content-type": pageFiles[path].type };
    return new Response(await readPage(path, options.pages), { headers });
  }
  if (!path.startsWith("api/")) return plain(404, "Nothing is here.");
  if (!isBearer(request.headers.get("authorization"), options.token)) {
    const message = "Open the link that `windrow serve` printed: it carries the token of this server.";
    return json({ error: { code: "not-allowed", message } }, 401, { "www-authenticate": "Bearer" });
  }
  const { source, onError } = options;
  const answer = await answerTo(source, new URL(`http://host/${path}${url.search}`));
  if (answer === undefined) return json({ error: { code: "not-found", message: "No question has this path." } }, 404);
  if (answer.is === "value") return json(answer.value);
  if (answer.is === "blob") return blobResponse(answer.blob);
  // A stream begins with 200: a session that is not there is told before it does.
  await source.session(answer.id);
  if (request.method === "HEAD") return new Response(null, { headers: streamHeaders });
  const stream = followStream(source, answer.id, request.signal, (error) => JSON.stringify(told(error, onError).body));
  return new Response(stream, { headers: streamHeaders });
}

const streamHeaders = { ...securityHeaders, "content-type": "text/event-stream; charset=utf-8" } as const;

function blobResponse({ mediaType, data }: ViewerBlob): Response {
  const type = imageTypes.find((known) => known === mediaType.toLowerCase()) ?? "application/octet-stream";
  const headers = { ...securityHeaders, "content-type": type, "content-disposition": "attachment" };
  return new Response(data, { headers });
}

function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  const type = { "content-type": "application/json; charset=utf-8" };
  return new Response(JSON.stringify(value), { status, headers: { ...securityHeaders, ...type, ...headers } });
}

function plain(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  const type = { "content-type": "text/plain; charset=utf-8" };
  return new Response(`${message}\n`, { status, headers: { ...securityHeaders, ...type, ...headers } });
}

function failure(error: unknown, onError: ViewerHandlerOptions["onError"]): Response {
  const { status, body } = told(error, onError);
  return json(body, status);
}

/** An error as the page is told; of an unforeseen one only that it was. */
function told(error: unknown, onError: ViewerHandlerOptions["onError"]): { status: number; body: object } {
  const known = isWindrowError(error) ? error : undefined;
  const status = known ? (statusOfCode[known.code] ?? 500) : 500;
  if (status === 500) onError?.(error instanceof Error ? error : new Error(String(error)));
  const message = known?.message ?? "The question could not be answered; the program that serves it says why.";
  return { status, body: { error: { code: known?.code ?? "unforeseen", message } } };
}
