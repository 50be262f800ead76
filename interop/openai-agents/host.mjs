/**
 * The OpenAI Agents SDK with a scripted model: `work` of the kit as its tools, every fifth call together with the
 * next.
 */
import { Agent, MemorySession, Runner, setTracingDisabled, tool, Usage } from "@openai/agents-core";
import { ScriptedModel, assistantMessage, functionCall, modelResponse } from "@openai/agents-core/testing";
import { outputOf, tools, work } from "../kit/kit.mjs";

setTracingDisabled(true);
export { MemorySession, Runner, assistantMessage, functionCall, modelResponse };

export const instructions = "You look after a shop's code.";
export const question = "Where do the totals come from?";

/** The tools of the kit as the SDK's; a failing call answers with what failed. */
export function hostTools(options = {}) {
  const failing = new Set(work().flatMap(({ name, input, failed }) => (failed ? [key(name, input)] : [])));
  return tools.map(({ name, description, parameters }) =>
    tool({
      name,
      description,
      parameters: { ...parameters, additionalProperties: false },
      strict: false,
      execute: async (input) => {
        await options.before?.(name, input);
        if (failing.has(key(name, input))) throw new Error(outputOf(name, input));
        return outputOf(name, input);
      },
      errorFunction: (_context, error) => `Failed: ${error.message}`,
    }),
  );
}

const key = (name, input) => `${name} ${JSON.stringify(input)}`;

/** What the model answers: reasoning now and then, the calls of `work`, and at the end a text. */
export function answers(count = 40, from = 0) {
  const calls = work(count);
  const steps = [];
  for (let index = from; index < calls.length; index++) {
    const at = index;
    if (index % 5 === 0 && index + 1 < calls.length) index++;
    const reasoning = {
      type: "reasoning",
      id: `rs_${at}`,
      content: [{ type: "input_text", text: `Step ${at}: looking further.` }],
      providerData: { encrypted_content: `sealed-${at}` },
    };
    const made = calls
      .slice(at, index + 1)
      .map(({ id, name, input }) => ({ ...functionCall(name, input, { callId: id }), id: `fc_${id}` }));
    steps.push([...(at % 3 === 0 ? [reasoning] : []), ...made]);
  }
  return [...steps, [assistantMessage("Done.")]];
}

/** An agent on a scripted model. */
export function scripted(script, { tools: given = hostTools(), usage = { inputTokens: 100, outputTokens: 10 } } = {}) {
  const model = new ScriptedModel(script.map((output) => modelResponse(withUsage(output, usage))));
  const agent = new Agent({ name: "shop", instructions, model, tools: given });
  return { agent, model };
}

function withUsage(output, usage) {
  return { output, responseId: "resp", usage: new Usage({ ...usage, inputTokensDetails: { cached_tokens: 60 } }) };
}

/** The history and the answer of the same run without Windrow. */
export async function unmanaged(count = 40, prompts = [question]) {
  const session = new MemorySession();
  const { agent, model } = scripted([...answers(count), ...prompts.slice(1).map(() => [assistantMessage("Again.")])]);
  const runner = new Runner();
  let result;
  for (const prompt of prompts) result = await runner.run(agent, prompt, { session, maxTurns: 100 });
  return { items: await session.getItems(), output: result.finalOutput, model };
}

/** Items as JSON says them: without fields that are undefined. */
export const plain = (items) => JSON.parse(JSON.stringify(items));
