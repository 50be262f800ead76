/** Answers calls of Node's HTTP server with a handler of the fetch standard. */
import { once } from "node:events";
import type { HttpCall } from "./http.ts";

/**
 * Hands a call to a handler and writes its response as it comes. The request's signal fires where the client leaves.
 *
 * @param handle - takes a request and answers it
 */
export async function answerWith(
  handle: (request: Request) => Promise<Response>,
  { request, response, url, body }: HttpCall,
): Promise<void> {
  const left = new AbortController();
  response.once("close", () => left.abort());
  const headers = new Headers();
  for (let place = 0; place + 1 < request.rawHeaders.length; place += 2) {
    headers.append(request.rawHeaders[place] ?? "", request.rawHeaders[place + 1] ?? "");
  }
  const method = request.method ?? "GET";
  const content = method === "GET" || method === "HEAD" ? {} : { body: new Uint8Array(body) };
  const answer = await handle(new Request(url, { method, headers, signal: left.signal, ...content }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  for await (const chunk of answer.body ?? []) {
    if (left.signal.aborted) return;
    if (!response.write(chunk)) await Promise.race([once(response, "drain"), once(response, "close")]);
  }
  response.end();
}
