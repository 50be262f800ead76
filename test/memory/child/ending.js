/**
 * Makes sessions, ends them in several ways and hands them to an engine over HTTP, until it is killed.
 * Arguments: the compiled package, the store, the engine's URL, a name for its messages; `full` where the disk may be full.
 * A line a session that was acknowledged: its id and its messages' ids; or `refused` where it could not be kept.
 */
const [dist, store, url, name = "", full] = process.argv.slice(2);
const { SessionManager } = await import(`${dist}/index.js`);

const memory = {
  name: "http",
  async receive(sessionId, messages, signal) {
    const body = JSON.stringify({ sessionId, messages: [...messages].map(({ seq, message }) => [seq, message.id]) });
    const response = await fetch(url, { method: "POST", body, signal });
    if (!response.ok) throw new Error(`the engine answered ${response.status}`);
  },
  query: async () => [],
  close: async () => undefined,
};

const offload = { timeout: 150, retryAfter: 1, lookEvery: 40 };
const manager = await SessionManager.open({ store, budget: 8_000, memory, offload, idleTimeout: 60 });
for (let number = 0; number < 1_000_000; number++) {
  try {
    await work(number);
  } catch (error) {
    if (full === undefined) throw error;
    process.stdout.write(`refused ${error.code}\n`);
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
}

async function work(number) {
  const session = await manager.create();
  const ids = [];
  const count = 1 + (number % 4);
  try {
    for (let at = 0; at < count; at++) {
      const id = [name, number, at].join("-");
      await session.append({ id, role: "user", parts: [{ type: "text", text: id }] });
      ids.push(id);
    }
  } finally {
    if (ids.length > 0) process.stdout.write(`${session.id} ${ids.join(",")}\n`);
  }
  if (number % 3 !== 2) await session.finish(number % 3 === 0 ? "completed" : "failed");
}
