/**
 * The first window of a session that a process resumes, whose log has no epoch yet: time, CPU, the longest hold of the
 * event loop and memory, by its number of messages. Each is measured in a process of its own.
 */
import { fileURLToPath } from "node:url";
import { SessionManager } from "../src/index.ts";
import type { Session } from "../src/index.ts";
import type { NewMessage } from "../src/message/message.ts";
import { goalRow, median } from "./bench.ts";
import type { BenchReport, BenchRow } from "./bench.ts";
import { answerAs, budget, inProcess, loadNote, memoryNow, taken, withStored } from "./kit.ts";
import type { Taken } from "./kit.ts";

const self = fileURLToPath(import.meta.url);
const sizes = [10_000, 50_000, 200_000];

interface Measured {
  readonly resume: Taken;
  readonly compose: Taken;
  /** Of the process, in MB: with the library loaded and nothing read; when it was resumed; at the end. */
  readonly bare: number;
  readonly resumed: number;
  readonly memory: number;
}

/** A row a store and size; the goals are those of 200,000 messages, and of 100,000 with epochs. */
export async function benchResume(): Promise<BenchReport> {
  const rows: BenchRow[] = [];
  for (const store of ["file", "sqlite"]) rows.push(...(await withEpochs(store)));
  for (const store of ["file", "sqlite"]) {
    for (const messages of sizes) {
      const { resume, compose, bare, resumed, memory } = await measured(store, messages);
      rows.push({
        store,
        messages,
        "resume s": resume.seconds,
        "its CPU s": resume.cpuSeconds,
        "its hold ms": resume.hold,
        "compose s": compose.seconds,
        "CPU s": compose.cpuSeconds,
        "hold ms": compose.hold,
        "bare process MB": bare,
        "resumed MB": resumed,
        "composed MB": memory,
      });
      if (messages < 200_000) continue;
      rows.push(goalRow(`${store}: first compose, s`, compose.seconds, { atMost: 3 }));
      rows.push(goalRow(`${store}: longest hold in it, ms`, compose.hold, { atMost: 250 }));
      rows.push(goalRow(`${store}: memory of the process, MB`, memory, { atMost: 300 }));
    }
  }
  const note = `Linear: five times the messages, about five times the seconds. ${loadNote()}`;
  return { name: "resume", rows, note };
}

/** Messages of the session with epochs, and how many come between two windows. */
const [grown, between] = [100_000, 200];

/** A session that composed all along: its resume reads what its newest epoch shows. */
async function withEpochs(kind: string): Promise<readonly BenchRow[]> {
  const fill = async (session: Session): Promise<void> => {
    for (let at = 0; at < grown; at += between) {
      await session.append(batchOf(at, between));
      await session.compose();
    }
  };
  const rounds = await withStored(kind, fill, (store, id) =>
    Array.from({ length: 5 }, () => inProcess<Measured>(self, store, id)),
  );
  const middle = (figure: (one: Measured) => number): number => median(rounds.map(figure));
  const milliseconds = 1_000 * middle(({ resume }) => resume.seconds);
  return [
    {
      "store": `${kind}, with epochs`,
      "messages": grown,
      "resume s": middle(({ resume }) => resume.seconds),
      "its CPU s": middle(({ resume }) => resume.cpuSeconds),
      "its hold ms": middle(({ resume }) => resume.hold),
      "compose s": middle(({ compose }) => compose.seconds),
      "CPU s": middle(({ compose }) => compose.cpuSeconds),
      "hold ms": middle(({ compose }) => compose.hold),
      "bare process MB": middle(({ bare }) => bare),
      "resumed MB": middle(({ resumed }) => resumed),
      "composed MB": middle(({ memory }) => memory),
    },
    goalRow(`${kind}: resume of ${grown} messages with epochs, ms`, milliseconds, { atMost: 100 }),
  ];
}

function measured(kind: string, messages: number): Promise<Measured> {
  const fill = async (session: Session): Promise<void> => {
    for (let at = 0; at < messages; at += 1_000) await session.append(batchOf(at, Math.min(1_000, messages - at)));
  };
  return withStored(kind, fill, (store, id) => inProcess<Measured>(self, store, id));
}

function batchOf(from: number, count: number): readonly NewMessage[] {
  const line = "the step ended with warnings in two modules of the service";
  return Array.from({ length: count }, (_, index): NewMessage => {
    const at = from + index;
    const callId = `c${at - (at % 3)}`;
    if (at % 3 === 0) return { role: "user", parts: [{ type: "text", text: `Look at item ${at}: ${line}` }] };
    const args = { path: `src/m${at % 977}/f.ts` };
    if (at % 3 === 1) return { role: "assistant", parts: [{ type: "tool-call", callId, name: "read", args }] };
    const content = `${at} ${line}\n${line} ${at * 7}\nend`;
    return { role: "tool", parts: [{ type: "tool-result", callId, name: "read", content }] };
  });
}

await answerAs(self, async (store = "", id = ""): Promise<Measured> => {
  const bare = memoryNow();
  const manager = await SessionManager.open({ store, budget });
  let session: Session | undefined;
  const resume = await taken(async () => (session = await manager.resume(id)));
  const resumed = memoryNow();
  const compose = await taken(async () => session?.compose());
  await manager.close();
  return { resume, compose, bare, resumed, memory: memoryNow() };
});
