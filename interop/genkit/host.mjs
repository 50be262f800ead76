/** Genkit on a scripted model: a job of tool calls, and the messages that the model was given. */
import { genkit } from "genkit/beta";
import { fromGenkit } from "windrow/genkit";
import { recallDeclaration, toolDefinition } from "windrow/adapter";
import { countTools, estimate } from "windrow/testing";
import { outputOf, tools as jobTools } from "../kit/kit.mjs";

export const system = "You keep a project's build green.";

/** What the model says of a job, answer by answer: every fifth call together with the next one. */
export function script(calls) {
  const answers = [];
  for (let index = 0; index < calls.length; index++) {
    const at = index;
    const together = index % 5 === 0 && index + 1 < calls.length ? [calls[index], calls[++index]] : [calls[index]];
    answers.push([
      ...(at % 3 === 0 ? [{ reasoning: `Step ${at}`, metadata: { thoughtSignature: `sig-${at}` } }] : []),
      ...(at % 4 === 0 ? [{ text: `Looking at ${together[0].name}.` }] : []),
      ...together.map(({ id: ref, name, input }) => ({ toolRequest: { ref, name, input } })),
    ]);
  }
  return [...answers, [{ text: "The build is green." }]];
}

/** The definitions of a job's tools: they answer what the kit says, and tell failures as objects. */
function defineTools(ai, calls) {
  const failing = new Set(calls.filter(({ failed }) => failed).map(({ input }) => JSON.stringify(input)));
  return jobTools.map(({ name, description, parameters }) =>
    ai.defineTool({ name, description, inputJsonSchema: parameters }, async (input) => {
      const output = outputOf(name, input);
      return failing.has(JSON.stringify(input)) ? { error: output.slice(0, 400) } : output;
    }),
  );
}

/** Genkit on a scripted model, the messages of each of the model's requests, and a run. */
export function scripted(calls, { answers = script(calls), use = [], supports = {} } = {}) {
  const ai = genkit({});
  const requests = [];
  const left = [...answers];
  const model = ai.defineModel(
    { name: "scripted", supports: { multiturn: true, tools: true, systemRole: true, ...supports } },
    async ({ messages }) => {
      requests.push(structuredClone(messages));
      const next = left.shift();
      if (!next) throw new Error("The script is at its end.");
      const content = typeof next === "function" ? await next(messages) : next;
      const message = { role: "model", content };
      return { message, finishReason: "stop", usage: { inputTokens: 100, outputTokens: 20 } };
    },
  );
  const tools = defineTools(ai, calls);
  const run = (prompt, more = {}) => {
    const first = more.messages ? {} : { system };
    return ai.generate({ model, tools, prompt, use, maxTurns: 500, ...first, ...more });
  };
  return { ai, requests, run };
}

/** A request's messages as Windrow's. */
export const inWindow = (messages) => fromGenkit(messages);

/** Tokens of the tools' definitions, Windrow's own among them. */
export function toolTokens() {
  const job = jobTools.map(({ name, description, parameters }) => toolDefinition(name, description, parameters));
  const { name, description, inputSchema } = recallDeclaration;
  return countTools(estimate, [...job, toolDefinition(name, description, inputSchema)]);
}
