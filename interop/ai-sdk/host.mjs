/** The AI SDK in the major that AI_SDK names (5, 6 or 7), and what differs between the three. */
import { readFileSync } from "node:fs";
import { aiSdkAdapter } from "windrow/ai-sdk";
import { countTools, estimate } from "windrow/testing";
import { countTokens } from "windrow";
import { tools as described, work } from "../kit/kit.mjs";

export const major = process.env["AI_SDK"] ?? "5";
/** Where that major is installed. */
export const folder = new URL(major === "5" ? "./" : `./v${major}/`, import.meta.url);

const packed = new URL("node_modules/ai/", folder);
const manifest = JSON.parse(readFileSync(new URL("package.json", packed), "utf8"));
export const version = manifest.version;
const load = (name) => {
  const entry = manifest.exports[name];
  return import(new URL(entry.import ?? entry.default, packed).href);
};
export const ai = await load(".");
const mocks = await load("./test");

const Model = mocks[{ 5: "MockLanguageModelV2", 6: "MockLanguageModelV3", 7: "MockLanguageModelV4" }[major]];

/** The system prompt, under the name that the agent class of this major gives it. */
export const system = "You look after a shop's code and answer questions about it.";
export const agentSystem = major === "5" ? { system } : { instructions: system };
export const Agent = major === "5" ? ai.Experimental_Agent : ai.ToolLoopAgent;
export const stopWhen = ai.stepCountIs(80);

function finish(reason) {
  return major === "5" ? reason : { unified: reason, raw: reason };
}

function usage(input, output) {
  if (major === "5") return { inputTokens: input, outputTokens: output, totalTokens: input + output };
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

function streamed(content, reason) {
  const parts = [{ type: "stream-start", warnings: [] }];
  content.forEach((part, index) => {
    const id = String(index);
    if (part.type === "tool-call") return parts.push(part);
    const { providerMetadata } = part;
    const beside = providerMetadata ? { providerMetadata } : {};
    parts.push({ type: `${part.type}-start`, id, ...beside });
    parts.push({ type: `${part.type}-delta`, id, delta: part.text });
    return parts.push({ type: `${part.type}-end`, id, ...beside });
  });
  return ai.simulateReadableStream({
    chunks: [...parts, { type: "finish", finishReason: reason, usage: usage(10, 5) }],
  });
}

/**
 * A model that answers in order, and the requests it was sent.
 *
 * @param answers - content of each answer, or a function that gives it from the request (or throws)
 */
export function scripted(answers, { provider = "anthropic.messages" } = {}) {
  const requests = [];
  const next = (request) => {
    requests.push({ prompt: structuredClone(request.prompt), tools: request.tools ?? [] });
    const answer = answers[requests.length - 1];
    const content = typeof answer === "function" ? answer(request) : answer;
    if (content === undefined) throw new Error(`The script ends after ${answers.length} answers.`);
    const called = content.some(({ type }) => type === "tool-call");
    return { content, finishReason: finish(called ? "tool-calls" : "stop") };
  };
  const model = new Model({
    provider,
    modelId: "scripted",
    doGenerate: async (request) => ({ ...next(request), usage: usage(10, 5), warnings: [] }),
    doStream: async (request) => {
      const { content, finishReason } = next(request);
      return {
        stream:
          content[0]?.type === "error"
            ? ai.simulateReadableStream({ chunks: content })
            : streamed(content, finishReason),
      };
    },
  });
  return { model, requests };
}

export const text = (words) => ({ type: "text", text: words });
export const thinking = (words, signature) => ({
  type: "reasoning",
  text: words,
  providerMetadata: { anthropic: { signature } },
});
export const call = ({ id, name, input }) => ({
  type: "tool-call",
  toolCallId: id,
  toolName: name,
  input: JSON.stringify(input),
});

/** The kit's job as answers: signed reasoning now and then, every fifth call together with the next; then `Done.` */
export function answers(count = 40) {
  const calls = work(count);
  const script = [];
  for (let index = 0; index < calls.length; index++) {
    const content = index % 3 === 0 ? [thinking(`Step ${index}: on.`, `signature-${index}`)] : [];
    content.push(call(calls[index]));
    if (index % 5 === 0 && index + 1 < calls.length) content.push(call(calls[++index]));
    script.push(content);
  }
  return [...script, [text("Done.")]];
}

/** The kit's tools as the SDK takes them; `before` is awaited with each call's id. */
export function workingTools(before = async () => {}) {
  const results = new Map(work(40).map((one) => [one.id, one]));
  return Object.fromEntries(
    described.map(({ name, description, parameters }) => [
      name,
      ai.tool({
        description,
        inputSchema: ai.jsonSchema(parameters),
        execute: async (_input, { toolCallId }) => {
          await before(toolCallId);
          const { output, failed } = results.get(toolCallId);
          if (failed) throw new Error(`exit 1\n${output}`);
          return output;
        },
      }),
    ]),
  );
}

/** A request as Windrow's messages, and the tokens of what was sent beside them. */
export function windowsOf(requests) {
  return requests.map(({ prompt }) => aiSdkAdapter.decode(prompt));
}

export function toolTokens([{ tools }]) {
  const sent = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return countTools(estimate, sent);
}

export function tokensOf(messages) {
  return messages.reduce((sum, message) => sum + countTokens([message]), 0);
}

/** What a run added to the conversation, whichever way this major tells it. */
export function added(steps) {
  const messages = major === "7" ? steps.flatMap(({ response }) => response.messages) : steps.at(-1).response.messages;
  return JSON.parse(JSON.stringify(messages));
}

/** The four ways to run a loop; each gives the run's steps. */
export const ways = {
  "generateText": async ({ hooks, ...settings }) =>
    (await ai.generateText({ ...settings, system, stopWhen, ...hooks })).steps,
  "streamText": async ({ hooks, ...settings }) => {
    const result = ai.streamText({ ...settings, system, stopWhen, ...hooks });
    await result.consumeStream();
    return result.steps;
  },
  "agent.generate": async ({ hooks, model, tools, messages }) =>
    (await new Agent({ model, tools, ...agentSystem, stopWhen, ...hooks }).generate({ messages })).steps,
  "agent.stream": async ({ hooks, model, tools, messages }) => {
    const result = await new Agent({ model, tools, ...agentSystem, stopWhen, ...hooks }).stream({ messages });
    await result.consumeStream();
    return result.steps;
  },
};
