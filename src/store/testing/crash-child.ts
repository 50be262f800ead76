/** The process that a crash case kills. It does what the case asks for, and says what was acknowledged. */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { MessageRecord, NewRecord, StoredRecord } from "../../message/record.ts";
import { everybody, messageRecord, newSession, stateOf } from "./kit.ts";
import type { Lock, Store } from "../store.ts";

const [modulePath = "", where = "", task = "", id = "", prefix = "", size = "100"] = process.argv.slice(2);

let count = 0;

/** Says a word about a session. */
function tell(word: string, session: string, ...more: readonly (string | number)[]): void {
  writeSync(1, `${[word, session, ...more].join(" ")}\n`);
}

function message(name = "m"): MessageRecord {
  count += 1;
  return messageRecord("x".repeat(Number(size)), { id: `${prefix}-${name}-${count}` });
}

/** Three messages of one call, with a call and a tool run: all of a kind are there together or not at all. */
function several(): readonly NewRecord[] {
  const call = { callId: `${prefix}-${count}`, toolName: "run", arguments: {}, timestamp: "2024-01-15T10:30:01.123Z" };
  const tool = { kind: "tool", ...call, status: "success", result: "", durationMs: 1 } as const;
  return [message("several"), message("several"), message("several"), { kind: "call", ...call }, tool];
}

const tasks: Readonly<Record<string, (store: Store) => Promise<void>>> = {
  /** Goes on with a session, and then with new ones, each from its making to its end. */
  async live(store) {
    for (let given = id; ; given = "") {
      const lock = given === "" ? await made(store) : await store.lock(everybody, given);
      let calls = (await store.info(everybody, lock.id)).state.llmCallCount;
      tell("taken", lock.id, calls);
      const keep = async (records: readonly NewRecord[]): Promise<void> => {
        for (const one of await store.append(lock, records))
          tell("kept", lock.id, one.kind, one.seq, one.pos, nameOf(one));
      };
      const singly = async (): Promise<void> => {
        for (let turn = 0; turn < 4; turn += 1) await keep([message()]);
      };
      await Promise.all([singly(), singly(), singly()]);
      for (let turn = 0; turn < 3; turn += 1) {
        await keep(several());
        calls += 1;
        // Every status differs from the one before, and so every one has to be durable.
        await store.setState(lock, stateOf(calls % 2 === 0 ? "processing" : "compressing", calls));
        tell("state", lock.id, calls);
      }
      await store.finish(lock, stateOf("completed", calls + 1));
      tell("finished", lock.id, calls + 1);
    }
  },
  /** Appends a message for each line that it is given. */
  async obey(store) {
    const lock = await store.lock(everybody, id);
    tell("taken", id, 0);
    for await (const _line of createInterface({ input: process.stdin })) {
      await store.append(lock, [message()]).then(
        () => tell("kept", id),
        (error: { readonly code?: string }) => tell(`refused ${error.code}`, id),
      );
    }
  },
};

async function made(store: Store): Promise<Lock> {
  const session = newSession();
  tell("creating", session.uuid);
  return store.create(everybody, session);
}

function nameOf(record: StoredRecord): string {
  if (record.kind === "message") return record.message.id;
  return record.kind === "call" || record.kind === "tool" ? record.callId : "";
}

const { open } = (await import(modulePath)) as { readonly open: (where: string) => Promise<Store> };
const run = tasks[task];
if (run === undefined) throw new Error(`no task "${task}"`);
await run(await open(where));
