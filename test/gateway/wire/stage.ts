/** Requests and answers as the five APIs read them. */
import type { IncomingHttpHeaders } from "node:http";
import fc from "fast-check";
import { expect } from "vitest";
import type { Answer, WireApi, WireRequest } from "windrow/gateway";
import { anthropicMessages, chatCompletions, geminiApi, ollamaApi, responsesApi } from "../../kit/inside/gateway.ts";

/** The APIs by names that fit the name of a test. */
export const apis: Readonly<Record<ApiName, WireApi>> = {
  anthropic: anthropicMessages,
  chat: chatCompletions,
  responses: responsesApi,
  gemini: geminiApi,
  ollama: ollamaApi,
};

export type ApiName = "anthropic" | "chat" | "responses" | "gemini" | "ollama";

export const hi = { role: "user", content: "hi" };

/** Reads a request; undefined where it is none. */
export const tried = (
  api: WireApi,
  body: object | string,
  headers: IncomingHttpHeaders = {},
  path = "/",
): WireRequest | undefined => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return api.read({ method: "POST", path, headers, body: Buffer.from(text) });
};

export function read(...given: Parameters<typeof tried>): WireRequest {
  const request = tried(...given);
  if (!request) throw new Error("the request was not read");
  return request;
}

/** The bytes in chunks that end at the given places. */
export function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...new Set(places.map((place) => place % bytes.length)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/** What a reader makes of chunks, and whether the last of them ended it. */
export function answerIn(
  request: WireRequest,
  chunks: readonly (Buffer | string)[],
): Answer & { readonly last: boolean } {
  const reader = request.api.reader(request);
  let last = false;
  for (const chunk of chunks) last = reader.push(Buffer.from(chunk));
  return { ...reader.end(), last };
}

/** Expects an answer of a text, whatever chunks it comes in. */
export function expectIn(request: WireRequest, text: string, answer: object): void {
  const bytes = Buffer.from(text);
  expect(answerIn(request, [bytes])).toEqual(answer);
  expect(answerIn(request, cut(bytes, [...bytes.keys()]))).toEqual(answer);
  const property = fc.property(fc.array(fc.nat(), { maxLength: 12 }), (places) => {
    expect(answerIn(request, cut(bytes, places))).toEqual(answer);
  });
  fc.assert(property, { numRuns: 200 });
}

/** Events that are named by their types. */
export const sse = (list: readonly object[]): string =>
  list.map((data) => `event: ${(data as { type: string }).type}\ndata: ${JSON.stringify(data)}\n\n`).join("");

/** The headers of a request of Codex. */
export const turn = (kind: string, more: object = {}): Record<string, string> => ({
  ...{ "user-agent": "codex_exec/0.169.0 (Debian)", "thread-id": "t1" },
  "x-codex-turn-metadata": JSON.stringify({ request_kind: kind, agent_name: "/root", thread_id: "t1", ...more }),
});
