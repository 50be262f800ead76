/** ADK with a scripted model and the tools of the kit's job; what the model was sent is kept. */
import { BaseLlm, FunctionTool, LlmAgent, LogLevel, Runner, setLogLevel } from "@google/adk";
import { fromContents } from "windrow/gemini";
import { outputOf, tools, work } from "../kit/kit.mjs";

setLogLevel(LogLevel.ERROR);

export const key = { appName: "shop", userId: "maya", sessionId: "orders of today" };
export const goal = "Find out why the totals of the orders are wrong.";
export const system = "You mend the shop. Say what you found.";

/** A model that plays responses in order: contents, or functions of the request that give one. */
export class ScriptedLlm extends BaseLlm {
  requests = [];

  constructor(script, model = "gemini-3-pro") {
    super({ model });
    this.script = [...script];
  }

  async *generateContentAsync(request) {
    this.requests.push(structuredClone({ contents: request.contents, system: request.config?.systemInstruction }));
    const next = this.script.shift();
    if (!next) throw new Error("The script has ended.");
    const content = typeof next === "function" ? next(request) : next;
    yield { content, usageMetadata: { promptTokenCount: 900, candidatesTokenCount: 30, cachedContentTokenCount: 500 } };
  }

  async connect() {
    throw new Error("There is no live connection.");
  }
}

export const text = (said) => ({ role: "model", parts: [{ text: said }] });

/** A model's calls as Gemini 3 makes them: the first one signed. */
export function calling(...calls) {
  const parts = calls.map(({ id, name, input }, index) => ({
    functionCall: { ...(id !== undefined && { id }), name, args: input },
    ...(index === 0 && { thoughtSignature: Buffer.from(`signed ${name}`).toString("base64") }),
  }));
  return { role: "model", parts };
}

/** The kit's job from the given call on: two calls at once now and then, thoughts now and then, every second with an id. */
export function jobScript(from = 0, count = 40) {
  const calls = work(count)
    .slice(from)
    .map((call, index) => (index % 2 === 0 ? call : { ...call, id: undefined }));
  const steps = [];
  while (calls.length > 0) {
    const step = calling(...calls.splice(0, steps.length % 10 === 9 ? 2 : 1));
    if (steps.length % 2 === 0) step.parts.unshift({ text: "I look closer.", thought: true });
    steps.push(step);
  }
  return [...steps, text("The totals are rounded twice.")];
}

/** The tools of the kit's job; every ninth run fails. */
export function jobTools({ ran = () => {} } = {}) {
  let runs = 0;
  return tools.map(
    ({ name, description, parameters }) =>
      new FunctionTool({
        name,
        description,
        parameters: {
          type: "OBJECT",
          properties: Object.fromEntries(
            Object.keys(parameters.properties).map((field) => [field, { type: "STRING" }]),
          ),
        },
        execute: async (input) => {
          ran(name);
          if (++runs % 9 === 0) throw new Error(`${outputOf(name, input)}\n${name} failed.`);
          return outputOf(name, input);
        },
      }),
  );
}

/** A Runner for one agent with the job's tools. */
export function runnerOf({ model, tools: given = jobTools(), agent = {}, ...options }) {
  const rootAgent = new LlmAgent({ name: "mender", model, instruction: system, tools: given, ...agent });
  return new Runner({ appName: key.appName, agent: rootAgent, ...options });
}

/** Runs one turn to its end; gives its events. */
export async function turn(runner, said = goal, on = () => {}) {
  const events = [];
  const { userId, sessionId } = key;
  for await (const event of runner.runAsync({
    userId,
    sessionId,
    newMessage: { role: "user", parts: [{ text: said }] },
    runConfig: { maxLlmCalls: 0 },
  })) {
    events.push(event);
    on(event);
  }
  return events;
}

/** The windows a model was sent, as Windrow's messages. */
export function windowsOf(model) {
  return model.requests.map(({ contents, system: instruction }) => [
    { id: "system", role: "system", parts: [{ type: "text", text: String(instruction) }] },
    ...fromContents(contents),
  ]);
}

/** A history without what is another in every run: the ids that ADK makes. */
export function comparable(events) {
  return events.map(({ author, content }) => ({
    author,
    content: JSON.parse(JSON.stringify(content ?? null), (name, value) =>
      name === "id" && typeof value === "string" && value.startsWith("adk-") ? undefined : value,
    ),
  }));
}
