/** Warnings of the process, for faults that nothing else would show to a person. */

const given = new Set<string>();
const mostGiven = 10_000;

/** Emits a warning with a code, once for each key. */
export function warnOnce(key: string, code: string, message: string): void {
  if (given.has(key)) return;
  if (given.size >= mostGiven) given.clear();
  given.add(key);
  process.emitWarning(message, { type: "WindrowWarning", code });
}
