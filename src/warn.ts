/** Warnings of the process, for faults that nothing else would show to a person. */

const given = new WeakMap<object, Set<string>>();

/** Emits a warning with a code, once for each owner and kind. */
export function warnOnce(owner: object, kind: string, code: string, message: string): void {
  const kinds = given.get(owner) ?? new Set();
  if (kinds.has(kind)) return;
  given.set(owner, kinds.add(kind));
  globalThis.process?.emitWarning(message, { type: "WindrowWarning", code });
}
