/** The heartbeat of a store: it says that the holders of its sessions live, for all of them at once. */
import type { Engine } from "../engine.ts";
import { timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { heartbeatMs } from "../shared/holder.ts";
import type { Taker } from "../shared/holder.ts";

/** A holder whose heartbeat moves. */
interface Living {
  holder: Taker;
}

/** Beats while there is a holder to beat for. */
export class Beat {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #living = new Map<Living, string>();
  #stop: (() => void) | undefined;

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /**
   * Beats for a holder from now on.
   *
   * @returns ends that
   */
  begin(id: string, living: Living): () => void {
    this.#living.set(living, id);
    // A beat that is missed is made up for by the next; who is silent for long is passed over, and fenced.
    this.#stop ??= this.#clock.every(heartbeatMs, () => void this.#beat().catch(() => undefined));
    return () => {
      this.#living.delete(living);
      if (this.#living.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  }

  async #beat(): Promise<void> {
    const heartbeatAt = timestamp(this.#clock);
    const living = [...this.#living];
    await this.#engine.beat(
      living.map(([{ holder }, id]) => ({ id, taking: holder.taking })),
      heartbeatAt,
    );
    for (const [one] of living) one.holder = { ...one.holder, heartbeatAt };
  }
}
