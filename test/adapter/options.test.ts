/** Options of every host: a wrong name or value is refused where it is given, and never at the first call. */
import { expect, it } from "vitest";
import { isWindrowError, SessionManager } from "windrow";
import { ContextManagementPlugin } from "windrow/adk";
import { aiSdk, aiSdkMiddleware } from "windrow/ai-sdk";
import { windowMiddleware as genkitMiddleware } from "windrow/genkit";
import { windowMiddleware as langchainMiddleware } from "windrow/langchain";
import { windowProcessor } from "windrow/mastra";
import { serveMcpHttp } from "windrow/mcp";
import { AgentsSession } from "windrow/openai-agents";
import { ContextManager } from "windrow/openstarry";
import { journal } from "windrow/pi";

const manager = await SessionManager.open({ store: "ram:", budget: 4_000 });
const session = await manager.create();

const hosts: Readonly<Record<string, (options: never) => unknown>> = {
  "aiSdk": aiSdk,
  "aiSdkMiddleware": aiSdkMiddleware,
  "genkit's windowMiddleware": genkitMiddleware,
  "langchain's windowMiddleware": langchainMiddleware,
  "windowProcessor": windowProcessor,
  "AgentsSession": (options) => new AgentsSession(session, options),
  "ContextManagementPlugin": (options) => new ContextManagementPlugin(options),
  "openstarry's ContextManager": (options) => new ContextManager(undefined, options),
  "journal": (options) => journal({} as never, session, options),
  "serveMcpHttp": (options) => serveMcpHttp({} as never, options),
};

async function refusal(make: () => unknown): Promise<string> {
  try {
    await make();
  } catch (error) {
    if (isWindrowError(error, "bad-option") || isWindrowError(error, "unknown-counter")) return error.message;
  }
  return "";
}

const wrong: readonly (readonly [string, object, RegExp])[] = [
  ["aiSdk", { strtegy: "pi" }, /has no option "strtegy".*strategy/],
  ["aiSdk", { besideTokens: -1 }, /`besideTokens` is a number of at least 0, not -1/],
  ["aiSdk", { system: ["You are"] }, /`system` is a text/],
  ["aiSdkMiddleware", { conversaton: {} }, /has no option "conversaton".*conversation/],
  ["aiSdkMiddleware", { session }, /has no option "session"/],
  ["genkit's windowMiddleware", { profil: "gemini" }, /has no option "profil".*profile/],
  ["genkit's windowMiddleware", { on: true }, /`on` is a function, not true/],
  ["langchain's windowMiddleware", { modelBudget: 9 }, /has no option "modelBudget".*budget/],
  ["langchain's windowMiddleware", { manager: {} }, /`manager` is an object with the functions/],
  ["windowProcessor", { sesion: session }, /has no option "sesion".*session/],
  ["windowProcessor", { counter: 7 }, /`counter` is a text or an object with `name`/],
  ["windowProcessor", { counter: "cl100" }, /no token counter "cl100"\. Did you mean "cl100k"/],
  ["ContextManagementPlugin", { counter: "estimat" }, /no token counter "estimat".*estimate/],
  ["openstarry's ContextManager", { budget: 900, counter: "o200" }, /no token counter "o200"\. Did you mean "o200k"/],
  ["AgentsSession", { modell: "gpt-4o" }, /has no option "modell".*model/],
  ["AgentsSession", { tools: [{}] }, /`tools` is a list/],
  ["journal", { once: () => undefined }, /has no option "once"/],
  ["serveMcpHttp", { prt: 1 }, /has no option "prt".*port/],
];

it.each(wrong)("%s refuses %o", async (host, options, said) => {
  expect(await refusal(() => hosts[host]!(options as never))).toMatch(said);
});
