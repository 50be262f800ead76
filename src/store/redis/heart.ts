/** The heartbeat of a process: one key for all sessions that it writes, by the server's clock. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../shared/clock.ts";
import { heartbeatMs } from "../shared/holder.ts";
import type { RedisPlace } from "./database.ts";

/** How long a heartbeat is kept, in milliseconds; long after it says anything. */
const keptMs = 86_400_000;

/** Says that this process lives. */
export class Heart {
  /** The name of its key. */
  readonly id = randomUUID();
  readonly #place: RedisPlace;
  readonly #clock: Clock;
  #stop: (() => void) | undefined;

  constructor(place: RedisPlace, clock: Clock) {
    this.#place = place;
    this.#clock = clock;
  }

  /** Beats now, and from now on. */
  async beat(): Promise<void> {
    if (this.#stop) return;
    await this.#send();
    // A beat that is missed is made up for by the next; who is silent for long is passed over, and fenced.
    this.#stop ??= this.#clock.every(heartbeatMs, () => void this.#send().catch(() => undefined));
  }

  /** Beats no more, and takes its key away. */
  async stop(): Promise<void> {
    if (!this.#stop) return;
    this.#stop();
    await this.#place.sender.send("DEL", this.#place.keys.worker(this.id)).catch(() => undefined);
  }

  async #send(): Promise<void> {
    const { sender, keys, now } = this.#place;
    await sender.send("SET", keys.worker(this.id), await now(), "PX", keptMs);
  }
}
