/**
 * The viewer's answers over a stored session, by its number of messages: its head and its first rows, its calls, its
 * epochs, and the window of one call, for calls in a row and for calls at random. Each is measured in a process of its
 * own, which opens the store and nothing else.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../src/access/open.ts";
import type { NewMessage } from "../src/message/message.ts";
import { SessionManager } from "../src/index.ts";
import type { Session } from "../src/index.ts";
import { storedSource } from "../src/viewer/stored-source.ts";
import { goalRow, median } from "./bench.ts";
import type { BenchReport, BenchRow } from "./bench.ts";
import { answerAs, inProcess, loadNote, memoryNow } from "./kit.ts";

const self = fileURLToPath(import.meta.url);

/** Messages, characters of a result, and of how many answers one has a call: to make a session takes longest. */
const sizes = [
  { messages: 1_000, characters: 8_000, every: 1 },
  { messages: 10_000, characters: 8_000, every: 1 },
  { messages: 100_000, characters: 800, every: 10 },
] as const;

/** Windows that are asked for one after the other, and at random. */
const asked = 60;

interface Measured {
  readonly calls: number;
  readonly epochs: number;
  /** Milliseconds of each first answer. */
  readonly head: number;
  readonly outline: number;
  readonly rows: number;
  readonly epochRows: number;
  readonly last: number;
  /** Milliseconds of a window, the median and the slowest. */
  readonly inARow: readonly [number, number];
  readonly back: readonly [number, number];
  readonly atRandom: readonly [number, number];
  readonly verified: number;
  /** Of the process, in MB: before anything is read, at the end, and then the heap in use. */
  readonly bare: number;
  readonly memory: number;
  readonly heap: number;
}

/** A row a store and size; the goals are those of the viewer. */
export async function benchViewer(): Promise<BenchReport> {
  const rows: BenchRow[] = [];
  for (const { messages, characters, every } of sizes) {
    const measured = await measuredOf(messages, characters, every);
    rows.push({ messages, ...rowOf(measured) }, ...goals(messages, measured));
  }
  return { name: "viewer", rows, note: `Milliseconds in the server's process. ${loadNote()}` };
}

/** Fills a store; a power cut may take what it holds, so that filling it takes no day. */
async function measuredOf(messages: number, characters: number, every: number): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), "windrow-bench-"));
  try {
    const store = await openStore(folder, { durability: "group" });
    const manager = await SessionManager.open({ store, budget: 128_000 });
    const session = await manager.create();
    await fill(session, messages, characters, every);
    await manager.close();
    return inProcess<Measured>(self, folder, session.id);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function rowOf(measured: Measured): BenchRow {
  return {
    "calls": measured.calls,
    "epochs": measured.epochs,
    "head ms": measured.head,
    "first rows ms": measured.outline,
    "calls ms": measured.rows,
    "epochs ms": measured.epochRows,
    "last row ms": measured.last,
    "in a row ms": measured.inARow.join(" / "),
    "back ms": measured.back.join(" / "),
    "at random ms": measured.atRandom.join(" / "),
    "verified of all": measured.verified,
    "bare MB": measured.bare,
    "memory MB": measured.memory,
    "heap MB": measured.heap,
  };
}

function goals(messages: number, { head, outline, inARow, memory, bare }: Measured): readonly BenchRow[] {
  if (messages < 10_000) return [];
  const first = messages > 10_000 ? 2_000 : 1_000;
  return [
    goalRow(`${messages}: head and first rows, ms`, head + outline, { atMost: first }),
    goalRow(`${messages}: window of the next call, median ms`, inARow[0], { atMost: 100 }),
    goalRow(`${messages}: memory beside the bare process, MB`, memory - bare, { atMost: 150 }),
  ];
}

/** Fills a session as a live agent would. */
export async function fill(session: Session, messages: number, characters: number, every: number): Promise<void> {
  let batch: NewMessage[] = [];
  for (let at = 0; at < messages; at++) {
    const message = messageAt(at, characters);
    if (message.role === "assistant" && at % every === every - 1) {
      await session.append(batch);
      batch = [];
      const { tokens } = await session.compose({ system: "You mend code.", tools: [{ name: "read" }] });
      await session.endStep({ usage: { input: tokens, output: 20 }, model: "claude-sonnet-4-5" });
    }
    batch.push(message);
  }
  await session.append(batch);
}

function messageAt(at: number, characters: number): NewMessage {
  const callId = `c${at}`;
  const turn = at % 21;
  if (turn === 0)
    return { role: "user", parts: [{ type: "text", text: `Look at item ${at}, and mend module ${at % 97}.` }] };
  const args = { path: `src/m${(at - (at % 2)) % 977}/f.ts` };
  if (turn % 2 === 1) {
    const said = { type: "text", text: `I look at item ${at}.` } as const;
    return { role: "assistant", parts: [said, { type: "tool-call", callId, name: "read", args }] };
  }
  const line = (number: number): string =>
    `export const value${at}_${number} = parse("module ${number * 7 + at}", ${number});`;
  const lines: string[] = [];
  for (let length = 0, number = 0; length < characters; number++) {
    const next = line(number);
    length += next.length + 1;
    lines.push(next);
  }
  return {
    role: "tool",
    parts: [{ type: "tool-result", callId: `c${at - 1}`, name: "read", content: lines.join("\n") }],
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return Math.round(10 * (performance.now() - begun)) / 10;
}

await answerAs(self, async (url = "", id = ""): Promise<Measured> => {
  const store = await openStore(url);
  const source = storedSource(store, {});
  const bare = memoryNow();
  const head = await timed(() => source.session(id));
  const outline = await timed(() => source.outline(id, 1, 200));
  const { messages, calls, epochs } = await source.session(id);
  const last = await timed(() => source.outline(id, messages - 100, messages));
  const rows = await timed(() => source.calls(id, 1, 5_000));
  let verified = 0;
  const windows = async (numbers: readonly number[]): Promise<readonly [number, number]> => {
    const times: number[] = [];
    for (const number of numbers) {
      times.push(
        await timed(async () => {
          const window = await source.window(id, number);
          verified += window.verified.isVerified ? 1 : 0;
        }),
      );
    }
    return [median(times), Math.max(...times)];
  };
  const middle = Math.floor(calls / 2);
  const steps = Array.from({ length: asked }, (_, index) => middle + index);
  const inARow = await windows(steps);
  const back = await windows(steps.toReversed());
  const atRandom = await windows(steps.map((_, index) => 1 + ((index * 7_919) % calls)));
  const epochRows = await timed(() => source.epochs(id));
  const share = Math.round((1_000 * verified) / (3 * asked)) / 1_000;
  const memory = memoryNow();
  globalThis.gc?.();
  const heap = Math.round(process.memoryUsage().heapUsed / 1e6);
  await store.close();
  return {
    calls,
    epochs,
    head,
    outline,
    rows,
    epochRows,
    last,
    inARow,
    back,
    atRandom,
    verified: share,
    bare,
    memory,
    heap,
  };
});
