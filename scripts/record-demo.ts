/**
 * Records fixtures/demo-session.jsonl: a session of an agent whose model is a script (scripts/demo/job.ts) and whose tools
 * are real, on a copy of this repository's files in a temporary folder. The same files give the same recording: times and
 * ids come from counters.
 *
 *     npm run demo:record
 */
import { cp, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Message, NewMessage } from "../src/message/message.ts";
import { checkMessage } from "../src/message/schema.ts";
import { countMessage } from "../src/tokens/counter.ts";
import { estimate } from "../src/tokens/estimate.ts";
import { job, systemPrompt } from "./demo/job.ts";
import type { Move } from "./demo/moves.ts";
import { Tools } from "./demo/tools.ts";
import type { Answer } from "./demo/tools.ts";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const target = join(repository, "fixtures/demo-session.jsonl");
const copied = ["src", "docs", "test", "package.json", "CHANGELOG.md"];
const start = Date.UTC(2026, 0, 5, 9);
const model = "scripted";

/** Seconds that pass before a message, by who writes it. */
const pace = { system: 0, user: 40, assistant: 7, tool: 1 } as const;

class Recorder {
  readonly messages: Message[] = [];
  readonly #tools: Tools;
  #seconds = 0;
  #calls = 0;

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  add(message: Omit<NewMessage, "id" | "timestamp">): void {
    this.#seconds += pace[message.role];
    const timestamp = new Date(start + 1_000 * this.#seconds).toISOString();
    const { role, parts, ...rest } = message;
    this.messages.push({ id: `demo-${this.messages.length + 1}`, role, parts, timestamp, ...rest });
    checkMessage(this.messages.at(-1));
  }

  /** Plays one move and gives what the tools answered. */
  async play(move: Move): Promise<readonly Answer[]> {
    if ("user" in move) {
      this.add({ role: "user", parts: [{ type: "text", text: move.user }] });
      return [];
    }
    const calls = (move.calls ?? []).map((planned) => ({ ...planned, callId: `call-${++this.#calls}` }));
    this.add({
      role: "assistant",
      model,
      parts: [
        ...(move.say === undefined ? [] : [{ type: "text" as const, text: move.say }]),
        ...calls.map(({ callId, name, args }) => ({ type: "tool-call" as const, callId, name, args })),
      ],
    });
    const abort = new AbortController();
    const running = calls.map(({ name, args }) => this.#tools.run(name, args, abort.signal));
    if (move.aborted) {
      abort.abort();
      await Promise.allSettled(running);
      return [];
    }
    const answers = await Promise.all(running);
    for (const [index, answer] of answers.entries()) {
      const { callId, name } = calls[index]!;
      const part = { type: "tool-result" as const, callId, name, content: answer.text };
      this.add({ role: "tool", parts: [answer.isError ? { ...part, isError: true } : part] });
    }
    return answers;
  }
}

const folder = await realpath(await mkdtemp(join(tmpdir(), "windrow-demo-")));
try {
  for (const name of copied) await cp(join(repository, name), join(folder, name), { recursive: true });
  const recorder = new Recorder(new Tools(folder));
  recorder.add({ role: "system", parts: [{ type: "text", text: systemPrompt }] });
  const script = job();
  for (let move = script.next(); move.done !== true;) move = script.next(await recorder.play(move.value));

  const { messages } = recorder;
  const text = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
  if (text.includes(folder)) throw new Error("The recording holds the path of the temporary folder.");
  await writeFile(target, text);

  const count = (role: Message["role"]): number => messages.filter((message) => message.role === role).length;
  const tokens = messages.reduce((sum, message) => sum + countMessage(estimate, message), 0);
  console.log(
    `${target}: ${messages.length} messages, ${count("user")} of the user, ${count("assistant")} model calls, ` +
      `about ${tokens} tokens, ${Buffer.byteLength(text)} bytes`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
