/** Genkit's messages in and out, and its middleware. */
import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import type { AdapterEvent } from "windrow/adapter";
import { fromGenkit, genkitMessages, toGenkit, windowMiddleware } from "windrow/genkit";
import type { GenkitMessage, WindowMiddleware } from "windrow/genkit";
import { transcriptOf } from "./transcripts.ts";
import { openSession } from "../kit/sessions.ts";

const request = (name: string, input: unknown, ref?: string): object => ({
  toolRequest: { name, ...(ref !== undefined && { ref }), ...(input !== undefined && { input }) },
});
const response = (name: string, output: unknown, ref?: string): object => ({
  toolResponse: { name, ...(ref !== undefined && { ref }), ...(output !== undefined && { output }) },
});

const withoutRefs = transcriptOf<GenkitMessage>("genkit", "without refs");

describe("fromGenkit and toGenkit", () => {
  it("pair requests and responses without refs by their order", () => {
    const ids = fromGenkit(withoutRefs).flatMap(({ parts }) =>
      parts.flatMap((part) => ("callId" in part ? [part.callId] : [])),
    );
    expect(ids).toEqual(["call-1", "call-2", "call-3", "call-1", "call-2", "call-3"]);
  });

  it("pair a response without a ref with the newest answer's request, not with one that a crash left open", () => {
    const [broken, again] = [1, 2].map((at): GenkitMessage => ({ role: "model", content: [request("roll", { at })] }));
    const history = [broken, { role: "user", content: [{ text: "Go on." }] }, again, ...withoutRefs.slice(2, 3)];
    const ids = fromGenkit(history as GenkitMessage[]).map(
      ({ parts: [part] }) => part && "callId" in part && part.callId,
    );
    expect(ids).toEqual(["call-1", false, "call-2", "call-2"]);
  });

  it("write another host's results as a tool message of their own", () => {
    const foreign: Message = {
      id: "m1",
      role: "user",
      parts: [
        { type: "tool-result", callId: "c1", name: "run", content: "ok" },
        { type: "text", text: "Go on." },
        { type: "reasoning", text: "another model's" },
      ],
    };
    expect(toGenkit([foreign])).toEqual([
      { role: "tool", content: [response("run", "ok", "c1")] },
      { role: "user", content: [{ text: "Go on." }] },
    ]);
  });
});

/** Genkit's loop, as far as its middleware sees it. */
async function generate(
  { model, tool }: ReturnType<WindowMiddleware["instantiate"]>,
  messages: readonly GenkitMessage[],
  answers: readonly GenkitMessage[],
): Promise<GenkitMessage[]> {
  const all = [...messages];
  for (const message of answers) {
    const answer = await model({ messages: all }, {}, () => Promise.resolve({ message }));
    all.push(answer.message);
    const requests = message.content.filter((part) => "toolRequest" in part) as { toolRequest: { name: string } }[];
    const results: object[] = [];
    for (const one of requests) {
      results.push(await tool(one, {}, () => Promise.resolve(response(one.toolRequest.name, "done"))));
    }
    if (results.length > 0) all.push({ role: "tool", content: results });
  }
  return all;
}

describe("windowMiddleware", () => {
  const asked: GenkitMessage = { role: "user", content: [{ text: "Roll." }] };

  it("records starts and results of requests without refs, and continues from what the log gives back", async () => {
    const session = await openSession({ budget: 8_000 });
    const events: AdapterEvent[] = [];
    const hooks = windowMiddleware({ session, on: (event) => events.push(event) }).instantiate();
    const rolls: GenkitMessage = { role: "model", content: [request("roll", {}), request("roll", { sides: 6 })] };
    const done: GenkitMessage = { role: "model", content: [{ text: "Done." }] };
    const all = await generate(hooks, [asked], [rolls, done]);
    expect(await session.inDoubt()).toEqual([]);
    expect(session.stats().state.toolCallCount).toBe(2);

    const later = windowMiddleware({ session }).instantiate();
    const logged = await genkitMessages(session);
    expect(logged).toEqual([...all.slice(0, -1), done]);
    await generate(later, [...logged, asked], [done]);
    expect(session.stats().messages).toBe(6);
    expect(events.filter(({ type }) => type !== "window-sent")).toEqual([]);
  });

  it("takes an answer for the same when Genkit marks it later", async () => {
    const session = await openSession({ budget: 8_000 });
    const events: AdapterEvent[] = [];
    const hooks = windowMiddleware({ session, on: (event) => events.push(event) }).instantiate();
    const roll: GenkitMessage = { role: "model", content: [request("roll", {}, "c1")] };
    await generate(hooks, [asked], [roll]);
    const marked: GenkitMessage = {
      role: "model",
      content: [{ ...request("roll", {}, "c1"), metadata: { resolvedInterrupt: true } }],
      metadata: { generate: { output: { format: "json" } } },
    };
    const results: GenkitMessage = { role: "tool", content: [response("roll", 4, "c1")] };
    await generate(hooks, [asked, marked, results], [{ role: "model", content: [{ text: "Four." }] }]);
    expect(events.map(({ type }) => type)).toEqual(["window-sent", "window-sent"]);
    expect(session.stats().messages).toBe(4);
  });
});
