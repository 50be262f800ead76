/* A process that writes a session: so many messages, so many a second. Prints the session's id first, and "done" last. */
const [build, store, count, perSecond] = process.argv.slice(2);
const { SessionManager } = await import(build);
const manager = await SessionManager.open({ store, budget: 100_000, strategy: "none" });
const session = await manager.create();
await session.append({ role: "user", parts: [{ type: "text", text: "message 1" }] });
console.log(session.id);
const started = Date.now();
for (let number = 2; number <= Number(count); number += 1) {
  const late = started + (1_000 * number) / Number(perSecond) - Date.now();
  if (late > 0) await new Promise((resolve) => setTimeout(resolve, late));
  await session.append({
    role: number % 2 === 0 ? "assistant" : "user",
    parts: [{ type: "text", text: `message ${number}` }],
  });
}
console.log("done");
// Stays until it is ended, so that the session is live.
setInterval(() => undefined, 60_000);
