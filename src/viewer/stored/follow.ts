/** Follows a session: told whenever there is more of it, whoever writes it. */
import { isWindrowError } from "../../errors.ts";
import type { Clock } from "../../store/shared/clock.ts";
import type { LiveEvent } from "../viewer.ts";

/** Milliseconds between two looks. */
const lookEvery = 250;

/** How a session is looked at. */
export interface Followed {
  /** How much there is now. */
  readonly counts: () => Promise<LiveEvent>;
  readonly clock: Clock;
}

/**
 * Looks at once and then every 250 milliseconds, until the signal fires. The first event tells how much there is.
 *
 * @throws WindrowError what the first look throws; later ones that fail are tried again
 */
export async function followSession(
  { counts, clock }: Followed,
  onEvent: (event: LiveEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  let told = await counts();
  onEvent(told);
  await new Promise<void>((resolve, reject) => {
    let isLooking = false;
    const look = async (): Promise<void> => {
      if (isLooking || signal.aborted) return;
      isLooking = true;
      try {
        const now = await counts();
        if (signal.aborted || isSame(told, now)) return;
        told = now;
        onEvent(now);
      } catch (error) {
        // A session that moves while it is looked at is there at the next look; an erased one is not.
        const isOver = !isWindrowError(error) || error.code === "session-not-found";
        if (isOver) end(error instanceof Error ? error : new Error("The session could not be looked at."));
      } finally {
        isLooking = false;
      }
    };
    const stop = clock.every(lookEvery, () => void look());
    const end = (error?: Error): void => {
      stop();
      signal.removeEventListener("abort", onAbort);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onAbort = (): void => end();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) end();
  });
}

function isSame(one: LiveEvent, other: LiveEvent): boolean {
  return (
    one.messages === other.messages &&
    one.calls === other.calls &&
    one.epochs === other.epochs &&
    one.requests === other.requests &&
    one.status === other.status &&
    one.standing === other.standing
  );
}
