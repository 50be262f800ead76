/** Type-checked, never run: the SDK's own types take what windrow/openai-agents gives, without a cast. */
import { Agent, Runner, tool } from "@openai/agents";
import type {
  AgentInputItem,
  CallModelInputFilter,
  Session,
  SessionHistoryRewriteAwareSession,
  SessionHistoryTransactionAwareSession,
} from "@openai/agents";
import { AgentsSession, agentsMemoryTools, groupItems, openaiAgentsAdapter } from "windrow/openai-agents";
import { SessionManager } from "windrow";

const manager = await SessionManager.open({ profile: "openai-responses", memory: "store" });
const history = new AgentsSession(await manager.create(), { budget: 60_000 });
const session: Session & SessionHistoryTransactionAwareSession & SessionHistoryRewriteAwareSession = history;
const filter: CallModelInputFilter = history.filter;
const runner = new Runner({ callModelInputFilter: history.filter });
const stop: () => void = history.watch(runner);
const memoryTools = agentsMemoryTools(manager.memory!).map((options) => tool(options));
const agent = new Agent({ name: "any", tools: [tool(history.recallTool()), ...memoryTools] });
history.watch(agent);
const items: AgentInputItem[] = await history.getItems();
console.log(openaiAgentsAdapter.decode(groupItems(items)).length, session, filter, stop);
await runner.run(agent, "Hi", { session: history });
