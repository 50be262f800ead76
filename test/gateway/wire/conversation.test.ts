/** Whole conversations of a scripted agent with a scripted provider, as the wire reads them on their way through a gateway. */
import { describe, expect, it, onTestFinished } from "vitest";
import { wireApis } from "windrow/gateway";
import type { Lines, SentAnswer, WireRequest } from "windrow/gateway";
import { runAgent } from "../fake/agent.ts";
import { startFake } from "../fake/fake.ts";
import type { Api } from "../fake/reading.ts";
import { staged } from "../proxy/stage.ts";

interface Exchanged {
  readonly request: WireRequest;
  answer?: SentAnswer;
}

async function exchangesOf(
  api: Api,
  scenario: string,
  options: { readonly isStream?: boolean; readonly retries?: number } = {},
): Promise<readonly Exchanged[]> {
  const exchanges: Exchanged[] = [];
  const lines: Lines = {
    send: async (request) => {
      const exchanged: Exchanged = { request };
      exchanges.push(exchanged);
      return {
        body: request.api.write(request, request.messages),
        note: "observed",
        again: async () => undefined,
        keep: async (answer) => void (exchanged.answer = answer),
      };
    },
    close: async () => undefined,
  };
  const fake = await startFake({ scenario });
  onTestFinished(() => fake.close());
  const { gateway } = await staged(fake.url, { apis: wireApis, lines });
  await runAgent("Read the files.", { url: gateway.url, api, session: "s1", ...options });
  expect(fake.faults).toEqual([]);
  return exchanges;
}

describe.each(["anthropic", "chat", "responses", "gemini", "ollama"] as const)("a conversation of %s", (api) => {
  it.each([true, false])("is read as an agent holds it, streamed: %s", async (isStream) => {
    const exchanges = await exchangesOf(api, 'loop:8:read:{"path":"a{k} é"}', { isStream });
    expect(exchanges).toHaveLength(9);
    // Clients of these two name no session.
    const claims = api === "gemini" || api === "ollama" ? {} : { session: "s1" };
    for (const [index, { request, answer }] of exchanges.entries()) {
      expect(request).toMatchObject({ kind: "turn", claims });
      expect(answer?.answer).toMatchObject({ isComplete: true, stop: expect.any(String) });
      expect(answer?.answer.id === undefined).toBe(api === "ollama");
      expect(answer?.answer.usage?.output).toBeGreaterThan(0);
      const next = exchanges[index + 1]?.request.messages.map(({ hash }) => hash) ?? [];
      const now = request.messages.map(({ hash }) => hash);
      const shared = Math.min(now.length, next.length);
      expect(next.slice(0, shared)).toEqual(now.slice(0, shared));
    }
  });

  it("has every answer sent back as it was read", async () => {
    const exchanges = await exchangesOf(api, 'mixed:read:{"path":"ä"}');
    const [first, second] = exchanges;
    const { message, others = [] } = first?.answer?.answer ?? {};
    if (!first || !second || !message) throw new Error("there was no answer, or it was not sent back");
    const answers = [message, ...others];
    const sent = first.request.messages.length;
    const echoes = second.request.messages.slice(sent, sent + answers.length).map(({ value }) => value);
    expect(echoes).toEqual(answers);
    for (const [index, echo] of echoes.entries()) {
      expect(first.request.api.isEcho(echo, answers[index] ?? {})).toBe(true);
    }
  });

  it("tells an error in the middle, and the same request again", async () => {
    const exchanges = await exchangesOf(api, "sse-error:1", { retries: 2 });
    expect(exchanges.map(({ answer }) => answer?.answer.isComplete)).toEqual([false, true]);
    expect(exchanges[0]?.answer?.answer.error?.message).toBe("Overloaded");
    const [broken, again] = exchanges.map(({ request }) => request.messages.map(({ hash }) => hash));
    expect(again).toEqual(broken);
  });
});
