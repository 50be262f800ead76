/** Waiting between two looks. */
import { setTimeout as sleepFor } from "node:timers/promises";

/** Longest wait of one timer in milliseconds; Node makes a longer one end at once. */
const longestTimer = 2 ** 31 - 1;

/** Waits, however long, and ends early where the signal fires. */
export async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  for (let left = milliseconds; left > 0 && signal?.aborted !== true; left -= longestTimer) {
    try {
      await sleepFor(Math.min(left, longestTimer), undefined, signal ? { signal } : {});
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }
}
