/** Agents whose sessions are on a server, under faults of that server and of the network. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Lock, Store } from "windrow";
import { openStore } from "windrow/store";
import type { StoredRecord } from "windrow/store";
import { everybody, messageRecord, newSession, readAll } from "./inside/store.ts";

/** Rounds of each fault. */
export const faultRounds = Number(process.env["WINDROW_FAULT_ROUNDS"] ?? 3);
const sessions = 4;

/** Agents that append one message after the other, until they are told to stop. */
class Agents {
  readonly acknowledged = new Map<string, StoredRecord[]>();
  readonly #store: Store;
  readonly #locks: Lock[] = [];
  #stopped = false;
  #work: Promise<void>[] = [];
  #newest = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  async start(): Promise<void> {
    for (let index = 0; index < sessions; index++) {
      const lock = await this.#store.create(everybody, newSession());
      this.#locks.push(lock);
      this.acknowledged.set(lock.id, []);
    }
    this.#work = this.#locks.map((lock) => this.#append(lock));
  }

  async #append(lock: Lock): Promise<void> {
    for (let number = 1; !this.#stopped; number++) {
      const stored = await this.#store.append(lock, [
        messageRecord(`${lock.id} ${number}`),
        messageRecord(`${number} b`),
      ]);
      this.acknowledged.get(lock.id)?.push(...stored);
      this.#newest++;
    }
  }

  /** Waits until some more appends were acknowledged. */
  async more(count: number): Promise<void> {
    const from = this.#newest;
    while (this.#newest < from + count) await sleep(5);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#work);
  }

  /** The messages of all sessions as they were acknowledged, and as they are there. */
  async outcome(): Promise<{ readonly acknowledged: readonly string[]; readonly there: readonly string[] }> {
    const there: string[] = [];
    for (const id of this.acknowledged.keys())
      there.push(...(await readAll(this.#store, id, { kind: "message" })).map(told));
    return { acknowledged: [...this.acknowledged.values()].flat().map(told), there };
  }
}

/** A record with its numbers. */
function told(record: StoredRecord): string {
  return `${record.seq} ${record.pos} ${record.kind === "message" ? record.message.id : record.kind}`;
}

/** Lets agents work under a fault, round after round; their messages as they were acknowledged, and as they are there. */
export async function under(address: string, fault: () => Promise<void>): ReturnType<Agents["outcome"]> {
  const store = await openStore(address);
  try {
    const agents = new Agents(store);
    await agents.start();
    for (let round = 0; round < faultRounds; round++) {
      await agents.more(1 + Math.floor(Math.random() * 20));
      await sleep(Math.random() * 8);
      await fault();
    }
    await agents.more(sessions);
    await agents.stop();
    return await agents.outcome();
  } finally {
    await store.close();
  }
}
