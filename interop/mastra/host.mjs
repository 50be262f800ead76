/** Mastra's agent on a scripted model: a job of tool calls, and the prompts that the model was given. */
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { mastraAdapter } from "windrow/mastra";
import { recallDeclaration, toolDefinition } from "windrow/adapter";
import { countTools, estimate } from "windrow/testing";
import { outputOf, tools as jobTools } from "../kit/kit.mjs";

const instructions = "You keep a project's build green.";

/** A language model (V2) that gives these answers, each `{ text, calls, reasoning }` or a function that makes one. */
export function scriptedModel(answers) {
  const prompts = [];
  const script = [...answers];
  const doStream = async ({ prompt }) => {
    prompts.push(structuredClone(prompt));
    const next = script.shift();
    if (!next) throw new Error("The script is at its end.");
    const { text = "", calls = [], reasoning } = typeof next === "function" ? await next(prompt) : next;
    const parts = [{ type: "stream-start", warnings: [] }];
    const say = (type, id, delta, more = {}) =>
      parts.push(
        { type: `${type}-start`, id },
        { type: `${type}-delta`, id, delta },
        { type: `${type}-end`, id, ...more },
      );
    if (reasoning)
      say("reasoning", "r", reasoning, { providerMetadata: { anthropic: { signature: `sig-${reasoning}` } } });
    if (text) say("text", "t", text);
    for (const { id, name, input } of calls)
      parts.push({ type: "tool-call", toolCallId: id, toolName: name, input: JSON.stringify(input) });
    const usage = { inputTokens: 100, outputTokens: 20, totalTokens: 120 };
    parts.push({ type: "finish", finishReason: calls.length > 0 ? "tool-calls" : "stop", usage });
    return {
      stream: new ReadableStream({
        start(stream) {
          for (const part of parts) stream.enqueue(part);
          stream.close();
        },
      }),
    };
  };
  const doGenerate = () => Promise.reject(new Error("The scripted model streams."));
  const about = { specificationVersion: "v2", provider: "scripted", modelId: "scripted", supportedUrls: {} };
  return { model: { ...about, doStream, doGenerate }, prompts };
}

/** What the model says of a job, answer by answer: every fifth call together with the next one. */
export function script(calls) {
  const answers = [];
  for (let index = 0; index < calls.length; index++) {
    const at = index;
    const together = index % 5 === 0 && index + 1 < calls.length ? [calls[index], calls[++index]] : [calls[index]];
    answers.push({
      text: at % 4 === 0 ? `Looking at ${together[0].name}.` : "",
      calls: together,
      ...(at % 3 === 0 && { reasoning: `Step ${at}` }),
    });
  }
  return [...answers, { text: "The build is green." }];
}

const schemas = {
  read_file: z.object({ path: z.string() }),
  search: z.object({ query: z.string() }),
  run: z.object({ command: z.string() }),
};

/** The tools of a job: they answer what the kit says, and throw where a call is to fail. */
export function toolsFor(calls) {
  const failing = new Set(calls.filter(({ failed }) => failed).map(({ id }) => id));
  return Object.fromEntries(
    jobTools.map(({ name, description }) => [
      name,
      createTool({
        id: name,
        description,
        inputSchema: schemas[name],
        execute: async (input, context) => {
          if (failing.has(context?.agent?.toolCallId)) throw new Error(outputOf(name, input).slice(0, 400));
          return outputOf(name, input);
        },
      }),
    ]),
  );
}

/** An agent on a scripted model, and the prompts that the model was given. */
export function scripted(calls, { answers = script(calls), tools = toolsFor(calls), processor, ...options } = {}) {
  const { model, prompts } = scriptedModel(answers);
  const processors = processor ? { inputProcessors: [processor], outputProcessors: [processor] } : {};
  const agent = new Agent({ id: "job", name: "job", instructions, model, tools, ...processors, ...options });
  const run = async (messages, more = {}) => {
    const output = await agent.stream(messages, { maxSteps: 500, ...more });
    await output.text;
    return output;
  };
  return { agent, prompts, run };
}

/** A prompt as Windrow's messages, as its log has them: one for each result, without what only Mastra reads. */
export function inWindow(prompt) {
  const each = (message) =>
    message.role === "tool" ? message.content.map((part) => ({ ...message, content: [part] })) : [message];
  return mastraAdapter.decode(prompt.flatMap(each).map(withoutOwn));
}

function withoutOwn({ providerOptions, input, ...rest }) {
  const { mastra: _own, ...others } = providerOptions ?? {};
  const content = Array.isArray(rest.content) ? { content: rest.content.map(withoutOwn) } : {};
  const options = Object.keys(others).length > 0 ? { providerOptions: others } : {};
  const isResult = rest.type === "tool-result";
  return { ...rest, ...(input !== undefined && !isResult && { input }), ...options, ...content };
}

/** Tokens of the tools' definitions, Windrow's own among them. */
export function toolTokens() {
  const job = jobTools.map(({ name, description }) => toolDefinition(name, description, schemas[name]));
  const own = toolDefinition(recallDeclaration.name, recallDeclaration.description, recallDeclaration.inputSchema);
  return countTools(estimate, [...job, own]);
}
