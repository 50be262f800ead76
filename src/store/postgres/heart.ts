/** The heartbeat of a process: one row for all sessions that it writes, by the server's clock. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../shared/clock.ts";
import { heartbeatMs } from "../shared/holder.ts";
import type { Database } from "./database.ts";

/** Says that this process lives. */
export class Heart {
  /** Its row. */
  readonly id = randomUUID();
  readonly #database: Database;
  readonly #clock: Clock;
  #stop: (() => void) | undefined;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Beats now, and from now on. */
  async beat(): Promise<void> {
    if (this.#stop) return;
    await this.#send();
    // A beat that is missed is made up for by the next; who is silent for long is passed over, and fenced.
    this.#stop ??= this.#clock.every(heartbeatMs, () => void this.#send().catch(() => undefined));
  }

  /** Beats no more, and takes its row away. */
  async stop(): Promise<void> {
    if (!this.#stop) return;
    this.#stop();
    const { asker, schema } = this.#database;
    await asker.ask(`DELETE FROM ${schema}.worker WHERE id = $1`, [this.id]).catch(() => undefined);
  }

  async #send(): Promise<void> {
    const { asker, schema, now } = this.#database;
    const sql =
      `INSERT INTO ${schema}.worker (id, beat) VALUES ($1, coalesce($2::timestamptz, now())) ` +
      "ON CONFLICT (id) DO UPDATE SET beat = excluded.beat";
    await asker.ask(sql, [this.id, now()]);
  }
}
