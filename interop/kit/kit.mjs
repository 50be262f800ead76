/**
 * What the suites of all hosts share: a job of tool calls for a scripted model, checks of the windows it was sent, a
 * process that is killed, a store that throws, and the line that `npm run test:interop` makes its table of.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { validateWindow } from "windrow";
import { openStore } from "windrow/store";
import { countTokens } from "windrow";

/** The tools of `work`, in JSON Schema: name, description, parameters. */
export const tools = [
  tool("read_file", "Reads a file of the project.", { path: { type: "string" } }),
  tool("search", "Finds lines that hold a text.", { query: { type: "string" } }),
  tool("run", "Runs a command of the project.", { command: { type: "string" } }),
];

function tool(name, description, properties) {
  return { name, description, parameters: { type: "object", properties, required: Object.keys(properties) } };
}

const rooms = ["orders", "billing", "stock", "mail", "users", "search", "reports"];

/**
 * The calls of a job, in order, each with what the tool answers: some 600 tokens, a failure now and then, files that are
 * read again.
 *
 * @returns `{ id, name, input, output, failed }` for each
 */
export function work(count = 40) {
  return Array.from({ length: count }, (_, index) => {
    const room = rooms[index % rooms.length];
    const kind = tools[index % 3].name;
    const input =
      kind === "read_file"
        ? { path: `src/${room}/${room}-${index % 5}.ts` }
        : kind === "search"
          ? { query: `${room}Total` }
          : { command: `npm test -- ${room}` };
    return { id: `call-${index + 1}`, name: kind, input, output: outputOf(kind, input), failed: index % 9 === 8 };
  });
}

/** What a tool of `work` answers: the same text for the same input. */
export function outputOf(name, input) {
  const subject = Object.values(input)[0];
  const seed = [...`${name}${subject}`].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9973, 7);
  return Array.from({ length: 40 }, (_, line) => {
    const number = (seed * (line + 3)) % 9973;
    if (name === "search")
      return `src/${rooms[number % 7]}/part-${number}.ts:${line + 1}: const ${subject}${number} = 1;`;
    if (name === "run") return `${number % 11 === 0 ? "FAIL" : "ok"} ${line + 1} case ${number} of ${subject}`;
    return `${line + 1}: export const value${number} = compute(${number}, "${subject}");`;
  }).join("\n");
}

/**
 * Fails unless every window is valid for the profile, within the budget, and a continuation of the one before it
 * wherever both are of one epoch.
 *
 * @param windows - the messages of each window as Windrow's own, system and all that counts in it included
 * @param options.epochs - the epoch of each window; without, growth is not looked at
 */
export function checkWindows(windows, { profile, budget, epochs, beside = 0 }) {
  windows.forEach((messages, index) => {
    assert.deepEqual(validateWindow(messages, profile), [], `window ${index}`);
    const tokens = messages.reduce((sum, message) => sum + countTokens([message]), beside);
    assert(tokens <= budget, `window ${index}: ${tokens} tokens of ${budget}`);
    const earlier = windows[index - 1];
    if (!earlier || !epochs || epochs[index] !== epochs[index - 1]) return;
    const same = (message) => JSON.stringify({ role: message.role, parts: message.parts });
    assert.deepEqual(messages.slice(0, earlier.length).map(same), earlier.map(same), `window ${index} grew elsewhere`);
  });
}

/**
 * Runs a script that prints `ack …` whenever something was acknowledged, and kills it (SIGKILL) after that many.
 *
 * @returns the lines after `ack `, in order; more than asked for where they came before the kill did
 */
export async function killed(script, { after, args = [], env = {} }) {
  const halt = new URL("halt.mjs", import.meta.url).href;
  const child = spawn(process.execPath, ["--import", halt, script, ...args], {
    env: { ...process.env, WINDROW_KILLED_AFTER: String(after), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  const acknowledged = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("ack ")) continue;
    acknowledged.push(line.slice(4));
    if (acknowledged.length === after) child.kill("SIGKILL");
  }
  const { code, signal } = await ended;
  assert.equal(
    signal,
    "SIGKILL",
    `the process ended by itself, with ${code}, after ${acknowledged.length} of ${after}`,
  );
  return acknowledged;
}

/** A store in memory whose appends fail after that many, from the first on that brings a message. */
export async function throwingStore(left = 12) {
  const real = await openStore("ram:");
  let throwing = false;
  return new Proxy(real, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name === "append")
        return (lock, records) => {
          left--;
          throwing ||= left < 0 && records.some(({ kind }) => kind === "message");
          return throwing ? Promise.reject(new Error("EIO")) : value.call(target, lock, records);
        };
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/**
 * Prints what fired, as a row of the table of `npm run test:interop`.
 *
 * @param row.host - such as "AI SDK"
 * @param row.version - the version of the host's package
 * @param row.fired - how often each hook was called, such as `{ prepareStep: 41 }`
 * @param row.calls - model calls of the run
 * @param row.epochs - epochs that the run opened
 */
export function fired(row) {
  console.log(`::interop ${JSON.stringify({ node: process.versions.node, ...row })}`);
}
