/**
 * An agent of so many model calls, each with a tool result of 85 KB: in memory, or in a session. The code of Windrow is loaded
 * after the first measurement, so that it can be told from the session.
 */
import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { NewMessage } from "../../../src/message/message.ts";
import type { SessionManager } from "../../../src/session/manager/manager.ts";

const given = JSON.parse(process.argv[2] ?? "{}") as {
  readonly folder: string;
  readonly calls: number;
  readonly strategy: string;
  readonly budget: number;
};
/** Calls of a session before the measured one, so that all code has run and all tables stand. */
const warmCalls = 40;
const resultBytes = 85_000;

function collected(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed + process.memoryUsage().external;
}

/** An assistant's call and its result; the text differs from call to call, and is a string of its own. */
function step(call: number): readonly NewMessage[] {
  const callId = `call-${call}`;
  const lines = Array.from(
    { length: 2_000 },
    (_, line) => `${line}: value_${call}_${(line * 7_919 + call) % 104_729} = `,
  );
  const text = Buffer.from(lines.join("some words of a file\n").slice(0, resultBytes)).toString();
  return [
    { role: "assistant", parts: [{ type: "tool-call", callId, name: "read", args: { path: `src/file-${call}.ts` } }] },
    { role: "tool", parts: [{ type: "tool-result", callId, name: "read", content: text }] },
  ];
}

function inMemory(): object {
  const before = collected();
  const messages: NewMessage[] = [];
  for (let call = 0; call < given.calls; call += 1) messages.push(...step(call));
  return {
    heapBytes: collected() - before,
    codeBytes: 0,
    diskBytes: 0,
    summaries: 0,
    messages: messages.length,
    millisecondsPerCall: 0,
  };
}

/** The calls of one session; the milliseconds that it took of them. */
async function run(session: Awaited<ReturnType<SessionManager["create"]>>, calls: number): Promise<number> {
  await session.append({ role: "user", parts: [{ type: "text", text: "fix the bug" }] });
  let spent = 0;
  for (let call = 0; call < calls; call += 1) {
    const messages = step(call);
    const started = performance.now();
    await session.prepare();
    await session.compose({});
    await session.append(messages);
    await session.endStep({ usage: { input: 1, output: 1 } });
    spent += performance.now() - started;
  }
  return spent;
}

async function bytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const sizes = entries.map((entry) => (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** A session that ends and is forgotten. */
async function warmUp(manager: SessionManager): Promise<void> {
  const session = await manager.create();
  await run(session, warmCalls);
  await session.finish("completed");
}

async function inSession(): Promise<object> {
  const start = collected();
  const { SessionManager } = await import("../../../src/session/manager/manager.ts");
  let summaries = 0;
  const summarizer = async (): Promise<{ text: string; usage: object; finish: "stop" }> => {
    summaries += 1;
    return { text: "The agent read files, one after the other; none of them had the bug.", usage: {}, finish: "stop" };
  };
  const manager = await SessionManager.open({
    store: given.folder,
    strategy: given.strategy,
    budget: given.budget,
    summarizer,
    compaction: "blocking",
  });
  await warmUp(manager);
  const before = collected();
  summaries = 0;
  const session = await manager.create();
  const spent = await run(session, given.calls);
  const heapBytes = collected() - before;
  const { messages } = session.stats();
  await session.close();
  const diskBytes = await bytesOf((await manager.info(session.id)).location);
  await manager.close();
  const millisecondsPerCall = spent / given.calls;
  return { heapBytes, codeBytes: before - start, diskBytes, summaries, messages, millisecondsPerCall };
}

console.log(JSON.stringify(given.strategy === "in memory" ? inMemory() : await inSession()));
