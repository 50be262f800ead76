/** Warnings of the process, for faults that nothing else would show to a person. */

const given = new Set<string>();
const about = new WeakSet<object>();
const mostGiven = 10_000;

/** Emits a warning with a code, once for each key: a text, or the object that the warning is about. */
export function warnOnce(key: string | object, code: string, message: string): void {
  if (typeof key === "string") {
    if (given.has(key)) return;
    if (given.size >= mostGiven) given.clear();
    given.add(key);
  } else {
    if (about.has(key)) return;
    about.add(key);
  }
  process.emitWarning(message, { type: "WindrowWarning", code });
}
