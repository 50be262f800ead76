/** The gateway's own pages: health, metrics, and the viewer where one is mounted. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { isBearer } from "../../http/bearer.ts";
import { answerWith } from "../../http/fetch.ts";
import { packageVersion } from "../../version.ts";
import { valuesOf } from "./headers.ts";

/** A handler of the fetch standard, with a guard of its own. */
export type PageHandler = (request: Request) => Promise<Response>;

/** The parts that the pages show. */
export interface OwnPages {
  readonly metrics: () => string;
  /** Answers everything below `/-/ui`. */
  readonly ui?: PageHandler;
  /** The gateway's token; absent where none is needed. */
  readonly token?: string;
}

/** The headers of the gateway's own texts. */
export const ownHeaders = {
  "content-type": "text/plain; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-windrow": "own",
} as const;

/**
 * Answers one of the gateway's pages.
 *
 * @param hasToken - whether the request brought the gateway's token where clients put it
 * @returns the status
 */
export async function answerOwn(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  hasToken: boolean,
  { metrics, ui, token }: OwnPages,
): Promise<number> {
  const { pathname } = new URL(`http://host${path}`);
  const say = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): number => {
    response.writeHead(status, { ...ownHeaders, ...headers, ...(!request.complete && { connection: "close" }) });
    response.end(request.method === "HEAD" ? undefined : text);
    return status;
  };
  if (/^\/-\/ui(?:\/|$)/.test(pathname) && ui) {
    request.resume();
    await answerWith(ui, { request, response, url: new URL(`http://host${path}`), body: Buffer.alloc(0) });
    return response.statusCode;
  }
  if (request.method !== "GET" && request.method !== "HEAD")
    return say(405, "Only GET and HEAD here.\n", { allow: "GET, HEAD" });
  if (pathname === "/" || pathname === "/-/health") return say(200, `windrow gateway ${packageVersion()}\n`);
  if (pathname !== "/-/metrics") return say(404, "Nothing is here.\n");
  const isAllowed =
    token === undefined || hasToken || isBearer(valuesOf(request.rawHeaders, "authorization")[0], token);
  if (!isAllowed) return say(401, "The gateway's token is needed.\n", { "www-authenticate": "Bearer" });
  return say(200, metrics(), { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
}
