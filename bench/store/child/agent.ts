/** An agent of so many model calls, each with a tool result of 85 KB: in memory, or in a session. */
import type { NewMessage } from "../../../src/message/message.ts";
import { SessionManager } from "../../../src/session/manager/manager.ts";

const given = JSON.parse(process.argv[2] ?? "{}") as {
  readonly folder: string;
  readonly calls: number;
  readonly strategy: string;
};
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

async function inMemory(): Promise<object> {
  const before = collected();
  const messages: NewMessage[] = [];
  for (let call = 0; call < given.calls; call += 1) messages.push(...step(call));
  return { heapBytes: collected() - before, messages: messages.length, millisecondsPerCall: 0 };
}

async function inSession(): Promise<object> {
  const manager = await SessionManager.open({ store: given.folder, strategy: given.strategy, budget: 16_000 });
  const warm = await manager.create();
  await warm.append({ role: "user", parts: [{ type: "text", text: "warm up" }] });
  await warm.compose({});
  await warm.finish("completed");
  const before = collected();
  const session = await manager.create();
  await session.append({ role: "user", parts: [{ type: "text", text: "fix the bug" }] });
  let spent = 0;
  for (let call = 0; call < given.calls; call += 1) {
    const messages = step(call);
    const started = performance.now();
    await session.append(messages);
    await session.compose({});
    spent += performance.now() - started;
  }
  const heapBytes = collected() - before;
  const { messages } = session.stats();
  await manager.close();
  return { heapBytes, messages, millisecondsPerCall: spent / given.calls };
}

console.log(JSON.stringify(await (given.strategy === "in memory" ? inMemory() : inSession())));
