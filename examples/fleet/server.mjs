/**
 * A stateless chat server: every request opens its conversation, adds to it, asks the model, and closes it. Any number of
 * them stand behind a balancer, before one database.
 *
 *   STORE=postgres://… PORT=8001 node server.mjs
 *
 * WINDROW_ARCHIVE names the archive, where there is one: a conversation that lies there is brought back by its next turn.
 *
 *   POST /conversations             → 201 { "id" }
 *   POST /conversations/ID/turns    { "id": "a name of the turn", "text" } → 200 { "answer", "messages" }
 *
 * A turn that is sent again, because nobody knows what became of it, is not added twice.
 */
import { createServer } from "node:http";
import { SessionManager, isWindrowError } from "windrow";

const archive = process.env.WINDROW_ARCHIVE;
const manager = await SessionManager.open({
  store: process.env.STORE ?? "postgres://localhost:5432/postgres",
  ...(archive && { archive }),
  model: process.env.MODEL ?? "gpt-4o",
  budget: Number(process.env.BUDGET ?? 4_000),
}).catch(stop);
const system = "You answer in one sentence.";

/** The model. It stands here for the SDK of a provider: it reads the window, and answers. */
async function ask(messages) {
  const newest = messages.findLast(({ role }) => role === "user");
  const text = newest?.parts.find(({ type }) => type === "text")?.text ?? "";
  return `An answer to: ${text.slice(0, 80)}`;
}

/** Adds a turn and its answer, each once. */
async function answer(conversation, { id, text }) {
  const session = await manager.resume(conversation);
  try {
    const newest = [];
    for await (const message of session.messages({ last: 4 })) newest.push(message);
    const asked = newest.findIndex((message) => message.id === id);
    const done = asked >= 0 && newest.slice(asked + 1).find(({ role }) => role === "assistant");
    if (done) return textOf(done);
    if (asked < 0) await session.append({ id, role: "user", parts: [{ type: "text", text }] });
    const window = await session.compose({ system });
    if (window.report.faults.length > 0)
      throw new Error(`The window has faults: ${JSON.stringify(window.report.faults)}`);
    const said = await ask(window.messages);
    await session.append({ role: "assistant", parts: [{ type: "text", text: said }] });
    await session.endStep({ usage: { input: window.tokens, output: Math.ceil(said.length / 4) } });
    return said;
  } finally {
    // The next turn may come to another server.
    await session.close();
  }
}

function textOf(message) {
  return message.parts.find(({ type }) => type === "text")?.text ?? "";
}

/** A conversation that another server is just writing, or a database that is away: try again. */
const later = new Set(["session-busy", "fenced", "store-unavailable", "not-durable"]);

async function handle(request, response) {
  const reply = (status, body) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  try {
    const [, kind, conversation, turns] = (request.url ?? "").split("/");
    if (request.method !== "POST" || kind !== "conversations") return reply(404, { error: "not-found" });
    if (conversation === undefined) {
      const session = await manager.create({ taskKey: { task: "chat" } });
      await session.close();
      return reply(201, { id: session.id });
    }
    if (turns !== "turns") return reply(404, { error: "not-found" });
    let body = "";
    for await (const chunk of request) body += chunk;
    const turn = JSON.parse(body);
    if (typeof turn.id !== "string" || typeof turn.text !== "string")
      return reply(400, { error: "id and text are texts" });
    reply(200, { answer: await answer(conversation, turn) });
  } catch (error) {
    const code = isWindrowError(error) ? error.code : "failed";
    reply(later.has(code) ? 503 : code === "session-not-found" ? 404 : 500, { error: code, message: error.message });
  }
}

/** Says why the server cannot go on, and ends it. */
function stop(error) {
  console.error(`${isWindrowError(error) ? error.code : "failed"}: ${error.message}`);
  process.exit(1);
}

/** A store that cannot be used is told here, once, and not to every client. */
async function look() {
  for await (const _ of manager.list({ limit: 1 })) return;
}

await look().catch(stop);

const server = createServer((request, response) => void handle(request, response));

server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  const { port } = server.address();
  console.log(`listening on http://127.0.0.1:${port}`);
});

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    server.close();
    server.closeAllConnections();
    void manager.close().then(() => process.exit(0), stop);
  });
}
