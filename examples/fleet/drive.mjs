/**
 * Drives two servers as many clients would, kills the servers at random, and looks in the end whether every turn that was
 * acknowledged is there once and in order.
 *
 *   STORE=postgres://… node drive.mjs [conversations=200] [turns=100] [kills=100]
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openStore } from "windrow/store";

const [conversations, turns, kills] = [200, 100, 100].map((otherwise, at) => Number(process.argv[2 + at] ?? otherwise));
const store = process.env.STORE;
if (!store) throw new Error("STORE names the database: STORE=postgres://… node drive.mjs");
const program = fileURLToPath(new URL("server.mjs", import.meta.url));

/** A server that is started again when it was killed. */
class Server {
  url = "";
  #child;

  /** One that ends at its start is started again, as where the database is away; but not the first time. */
  async start() {
    while (!(await this.#listens())) {
      if (this.url === "") throw new Error("The server does not start.");
      await sleep(500);
    }
  }

  async #listens() {
    const child = spawn(process.execPath, [program], {
      env: { ...process.env, PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#child = child;
    for await (const chunk of child.stdout) {
      const url = /http:\S+/.exec(String(chunk))?.[0];
      if (url === undefined) continue;
      this.url = url;
      child.stdout.resume();
      return true;
    }
    return false;
  }

  async kill(signal = "SIGKILL") {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
}

const servers = [new Server(), new Server()];
await Promise.all(servers.map((server) => server.start()));
const began = performance.now();
let [acknowledged, retries, killed, open] = [0, 0, 0, conversations];

/** Sends a request to one server after the other, until one of them answers. */
async function post(path, body, first) {
  for (let attempt = 0; ; attempt++) {
    const { url } = servers[(first + attempt) % servers.length];
    try {
      const response = await fetch(url + path, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { connection: "close" },
      });
      const answer = await response.json();
      if (response.ok) return answer;
      if (response.status !== 503)
        throw new Error(`${response.status}: ${JSON.stringify(answer)}`, { cause: "refused" });
    } catch (error) {
      if (error.cause === "refused") throw error;
    }
    retries++;
    await sleep(20 + Math.random() * 80);
  }
}

/** One client: a conversation that hops between the servers with every turn. */
async function converse(number) {
  const { id } = await post("/conversations", {}, number);
  const sent = [];
  for (let turn = 0; turn < turns; turn++) {
    const name = randomUUID();
    await post(
      `/conversations/${id}/turns`,
      { id: name, text: `Question ${turn} of ${number}: ${"word ".repeat(40)}` },
      number + turn,
    );
    sent.push(name);
    acknowledged++;
  }
  open--;
  return { id, sent };
}

async function killNowAndThen() {
  while (killed < kills && open > 0) {
    const share = (killed + Math.random()) / kills;
    while (acknowledged < share * conversations * turns && open > 0) await sleep(10);
    const server = servers[killed % servers.length];
    await server.kill();
    killed++;
    await server.start();
  }
}

const progress = setInterval(
  () => console.error(`${acknowledged} of ${conversations * turns} turns, ${killed} kills`),
  5_000,
);
const [histories] = await Promise.all([
  Promise.all(Array.from({ length: conversations }, (_, number) => converse(number))),
  killNowAndThen(),
]);
clearInterval(progress);
await Promise.all(servers.map((server) => server.kill("SIGTERM")));

let [lost, twice, disordered, unanswered] = [0, 0, 0, 0];
const opened = await openStore(store);
for (const { id, sent } of histories) {
  const found = [];
  const roles = [];
  for await (const { message } of opened.read({}, id, { kind: "message" })) {
    roles.push(message.role);
    if (message.role === "user") found.push(message.id);
  }
  lost += sent.filter((name) => !found.includes(name)).length;
  twice += found.length - new Set(found).size;
  disordered += found.filter((name, at) => name !== sent[at]).length;
  unanswered += roles.filter((role, at) => role === "user" && roles[at + 1] !== "assistant").length;
}
await opened.close();
const seconds = Math.round((performance.now() - began) / 1_000);
console.log(
  `${acknowledged} turns of ${conversations} conversations in ${seconds} s, ${killed} kills, ${retries} requests sent again: ` +
    `${lost} lost, ${twice} twice, ${disordered} out of order, ${unanswered} without an answer`,
);
if (lost + twice + disordered + unanswered > 0) process.exitCode = 1;
