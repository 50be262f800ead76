/** pi as it was asked for: 0.73.1, or with WINDROW_PI=next 0.87.1. What differs between the two stands here. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { outputOf, tools as kitTools } from "../kit/kit.mjs";

export const next = process.env["WINDROW_PI"] === "next";
export const version = next ? "0.87.1" : "0.73.1";

const scope = next ? "@earendil-works" : "@mariozechner";
/** Where the asked-for version is installed. */
export const folder = new URL(next ? "./next/" : "./", import.meta.url);

/** A package of pi, from where the asked-for version is installed. */
export async function load(name) {
  const modules = new URL(`node_modules/${scope}/${name}/`, folder);
  const { main } = createRequire(import.meta.url)(new URL("package.json", modules).pathname);
  return import(pathToFileURL(new URL(main, modules).pathname).href);
}

const { Agent } = await load("pi-agent-core");
const ai = await load("pi-ai");
export const { fauxAssistantMessage, fauxThinking, fauxToolCall } = ai;

/**
 * An agent on a faux provider, and the contexts its model was given.
 *
 * @param script - answers, in order: messages, or functions that give one
 */
export function scripted(script, { systemPrompt = "You read files.", tools = [], ...options } = {}) {
  const faux = next ? ai.createFauxCore({}) : ai.registerFauxProvider();
  const contexts = [];
  faux.setResponses(
    script.map((answer) => async (context) => {
      contexts.push(structuredClone({ messages: context.messages, systemPrompt: context.systemPrompt ?? "" }));
      return typeof answer === "function" ? await answer() : answer;
    }),
  );
  const agent = new Agent({
    initialState: { systemPrompt, tools, model: faux.getModel() },
    sessionId: "interop",
    ...(next && { streamFn: faux.streamSimple }),
    ...options,
  });
  return { agent, contexts };
}

/** The model's answers that ask for these calls of the kit, one a step. */
export function asking(calls) {
  return calls.map(({ id, name, input }) =>
    fauxAssistantMessage([fauxToolCall(name, input, { id })], { stopReason: "toolUse" }),
  );
}

/** The kit's tools as pi takes them. */
export function workTools(execute = answer) {
  return kitTools.map((tool) => ({ ...tool, label: tool.name, execute: (_id, args) => execute(tool.name, args) }));
}

async function answer(name, args) {
  return { content: [{ type: "text", text: outputOf(name, args) }], details: undefined };
}
