/** The wait of commands that serve: they go on until they are told to end. */

/**
 * Resolves when a command is to end: its signal, or what else is listened for.
 *
 * @param listen - is handed the function that ends the wait
 */
export function untilEnded(signal: AbortSignal | undefined, listen?: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    signal?.addEventListener("abort", () => resolve(), { once: true });
    listen?.(resolve);
  });
}
