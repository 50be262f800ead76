/** The process that a crash case kills. It does what the case asks for, and prints each acknowledgement. */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { MessageRecord, NewRecord } from "../../message/record.ts";
import { everybody, messageRecord, newSession, stateOf } from "./kit.ts";
import type { Lock, Store } from "../store.ts";

const [modulePath = "", where = "", task = "", id = "", prefix = "", size = "100"] = process.argv.slice(2);

const timestamp = "2024-01-15T10:30:01.123Z";
let count = 0;

function tell(line: string): void {
  writeSync(1, `${line}\n`);
}

function message(): MessageRecord {
  count += 1;
  return messageRecord("x".repeat(Number(size)), { id: `${prefix}-${count}` });
}

/** Three messages of one call, with a call and a tool run: all of a kind are there together or not at all. */
function several(): readonly NewRecord[] {
  const call = { callId: `${prefix}-${count}`, toolName: "run", arguments: {}, timestamp };
  const tool = { kind: "tool", ...call, status: "success", result: "", durationMs: 1 } as const;
  return [message(), message(), message(), { kind: "call", ...call }, tool];
}

const tasks: Readonly<Record<string, (store: Store) => Promise<void>>> = {
  async append(store) {
    const lock = await taken(store);
    const produce = async (): Promise<never> => {
      for (;;) {
        const stored = await store.append(lock, [message()]);
        for (const one of stored) tell(`kept ${one.kind} ${one.seq} ${one.pos} ${nameOf(one)}`);
      }
    };
    await Promise.all([produce(), produce(), produce()]);
  },
  async several(store) {
    const lock = await taken(store);
    for (;;) {
      const stored = await store.append(lock, several());
      for (const one of stored) tell(`kept ${one.kind} ${one.seq} ${one.pos} ${nameOf(one)}`);
    }
  },
  async state(store) {
    const lock = await taken(store);
    for (let calls = 1; ; calls += 1) {
      // Every status differs from the one before, and so every one has to be durable.
      const status = calls % 2 === 0 ? "processing" : "compressing";
      await store.setState(lock, stateOf(status, calls));
      tell(`state ${calls}`);
    }
  },
  async finish(store) {
    const lock = await taken(store);
    const [stored] = await store.append(lock, [message()]);
    tell(`kept message ${stored?.seq} ${stored?.pos} ${prefix}-1`);
    await store.finish(lock, stateOf("completed"));
    tell("finished");
  },
  async create(store) {
    for (;;) {
      const session = newSession();
      tell(`creating ${session.uuid}`);
      const lock = await store.create(everybody, session);
      tell(`created ${session.uuid}`);
      await lock.release();
    }
  },
  async obey(store) {
    const lock = await taken(store);
    for await (const _line of createInterface({ input: process.stdin })) {
      const outcome = await store.append(lock, [message()]).then(
        () => "kept",
        (error: { readonly code?: string }) => `refused ${error.code}`,
      );
      tell(outcome);
    }
  },
};

function nameOf(record: NewRecord): string {
  if (record.kind === "message") return record.message.id;
  return record.kind === "call" || record.kind === "tool" ? record.callId : "";
}

async function taken(store: Store): Promise<Lock> {
  const lock = await store.lock(everybody, id);
  tell("ready");
  return lock;
}

const { open } = (await import(modulePath)) as { readonly open: (where: string) => Promise<Store> };
const run = tasks[task];
if (run === undefined) throw new Error(`no task "${task}"`);
await run(await open(where));
// Ends only when it is killed.
setInterval(() => undefined, 1_000);
