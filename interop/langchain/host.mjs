/** LangChain's agent on its own fake model: a job of tool calls, and the windows that the model was given. */
import { AIMessage, createAgent, fakeModel, tool } from "langchain";
import { fromLangChain } from "windrow/langchain";
import { countTools, estimate } from "windrow/testing";
import { recallDeclaration, toolDefinition } from "windrow/adapter";
import { outputOf, tools as jobTools } from "../kit/kit.mjs";

export const systemPrompt = "You keep a project's build green.";

/** The tools of a job: they answer what the kit says, and throw where a call is to fail. */
export function toolsFor(calls) {
  const failing = new Set(calls.filter(({ failed }) => failed).map(({ id }) => id));
  return jobTools.map(({ name, description, parameters }) =>
    tool(
      async (input, { toolCall }) => {
        if (failing.has(toolCall.id)) throw new Error(outputOf(name, input).slice(0, 400));
        return outputOf(name, input);
      },
      { name, description, schema: parameters },
    ),
  );
}

let answered = 0;

/** One answer of the model, with an id of its own, as a provider would give it. */
export function aiMessage(fields) {
  return new AIMessage({ id: `answer-${++answered}-${process.pid}`, ...fields });
}

/**
 * An agent on a fake model that makes these calls, every fifth together with the next one, and then answers.
 *
 * @returns the agent, and the messages of each window that the model was given
 */
export function scripted(calls, { answers = script(calls), tools = toolsFor(calls), ...options } = {}) {
  const windows = [];
  let model = fakeModel();
  for (const answer of answers) {
    model = model.respond((messages) => {
      windows.push([...messages]);
      return typeof answer === "function" ? answer(messages) : aiMessage(answer);
    });
  }
  const agent = createAgent({ model, tools, systemPrompt, ...options });
  return { agent, windows };
}

/** What the model says of a job, answer by answer. */
export function script(calls, from = 0) {
  const answers = [];
  for (let index = from; index < calls.length; index++) {
    const together = index % 5 === 0 && index + 1 < calls.length ? [calls[index], calls[++index]] : [calls[index]];
    const called = together.map(({ id, name, input }) => ({ id, name, args: input, type: "tool_call" }));
    answers.push({ content: index % 4 === 0 ? `Looking at ${called[0].name}.` : "", tool_calls: called });
  }
  return [...answers, { content: "The build is green." }];
}

/** A window as Windrow's messages. */
export function inWindrow(messages) {
  return fromLangChain(messages);
}

/** Tokens of the tools' definitions, Windrow's own among them. */
export function toolTokens() {
  const own = {
    name: recallDeclaration.name,
    description: recallDeclaration.description,
    parameters: recallDeclaration.inputSchema,
  };
  return countTools(
    estimate,
    [...jobTools, own].map(({ name, description, parameters }) => toolDefinition(name, description, parameters)),
  );
}

/** Messages as JSON, without the ids that LangChain makes up anew in every run. */
export function kept(messages) {
  return messages.map((message) => {
    const { id: _id, ...fields } = message.toDict().data;
    return JSON.parse(JSON.stringify({ type: message.type, ...fields }));
  });
}
