/** Seed 002's context manager in a loop of one's own, offline: a plugin.json chooses the strategy. */
import { openContextManager, type ChatMessage } from "windrow/openstarry";

const plugin = {
  id: "my-complex-agent",
  contextStrategy: {
    type: "plugin",
    pluginId: "std-summarization-strategy",
    config: { compressionModel: "gemini-1.5-flash", threshold: 20 },
  },
};
const { context, session, manager } = await openContextManager(plugin, {
  store: process.argv[2] ?? "./contexts",
  budget: 8_000,
  compaction: "blocking",
  // A real program makes the model that the plugin names; this one answers by itself.
  modelFor: (name) => async () => ({
    text: `${name} says: journeys to Kyoto were asked for.`,
    usage: {},
    finish: "stop",
  }),
});

const tools = [{ name: "book", description: "Books a seat.", parameters: { type: "object", properties: {} } }];
const history: ChatMessage[] = [];
for (let turn = 1; turn <= 40; turn++) {
  history.push({ role: "user", content: `Question ${turn}: which train goes to Kyoto on day ${turn}?` });
  const payload = await context.composePayload(
    "You book journeys.",
    history,
    tools,
    `Trains on day ${turn}: 9:00, 11:30.`,
  );
  if (turn % 10 === 0) console.log(`turn ${turn}: ${payload.messages.length} messages, ${payload.tokens} tokens`);
  history.push({ role: "assistant", content: `Day ${turn}: the one at nine. ${"It has seats. ".repeat(30)}` });
  await context.onTurnComplete(history);
}
console.log(`${session.stats().messages} messages in the log, ${session.stats().epoch} epochs`);
await manager.close();
