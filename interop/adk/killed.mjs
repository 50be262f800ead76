/** The child that is killed: prints `ack` and the id of every event that ADK's session service has acknowledged. */
import { BaseSessionService } from "@google/adk";
import { ContextManagementPlugin, createSessionService } from "windrow/adk";
import { SessionManager } from "windrow";
import { jobScript, key, runnerOf, ScriptedLlm, turn } from "./host.mjs";

const [store, budget] = process.argv.slice(2);
const manager = await SessionManager.open({ store, profile: "gemini", budget: Number(budget) });
const sessionService = createSessionService(BaseSessionService, manager);
const append = sessionService.appendEvent.bind(sessionService);
sessionService.appendEvent = async (request) => {
  const event = await append(request);
  console.log(`ack ${event.id}`);
  return event;
};
await sessionService.createSession(key);
const plugins = [new ContextManagementPlugin({ manager })];
await turn(runnerOf({ model: new ScriptedLlm(jobScript()), sessionService, plugins }));
