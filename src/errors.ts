/**
 * Every code a {@link WindrowError} can carry, with what it means. The table is closed: docs/errors.md lists the same
 * codes, and a test compares the two.
 */
export const errorCodes = {
  "aborted": "The caller's AbortSignal fired; nothing was written.",
  "adapter-failed": "An adapter could not journal or compose; the host went on with its own messages.",
  "archive-conflict": "An object of the archive does not hold what was written.",
  "bad-message": "A message has a shape that cannot be stored or sent.",
  "bad-option": "An option, flag or argument is unknown or has the wrong type or range.",
  "budget-too-small": "Blocks that are never dropped (system, tools) are alone larger than the budget.",
  "call-in-doubt": "A tool call was started and no result was recorded; it is never re-run by itself.",
  "closed": "The session, store or manager was closed before the call.",
  "fenced": "Another process took over the session's lock; this one writes nothing more.",
  "format-newer": "The session was written by a newer version of Windrow and opens read-only.",
  "input-not-found": "A file or folder named on the command line does not exist.",
  "input-too-large": "A file holds more bytes or lines, unpacked, than the limits of its reading allow.",
  "input-unreadable": "A file exists but could not be read as text or gzip.",
  "not-a-transcript": "A file was read, but no known transcript format recognises it.",
  "masked-value": "A tool's arguments hold the placeholder of a masked secret where its value should stand.",
  "model-failed": "A model or embedder could not answer: refused, out of reach, too slow, or not readable.",
  "not-allowed": "The principal may not do this: it concerns another user, another tenant, or every session.",
  "not-durable": "The operating system refused to write or sync; the records were not acknowledged.",
  "not-found": "There is no message, stub or record under that id.",
  "over-budget": "The blocks a window must hold do not fit the budget together.",
  "package-missing": "A package that the user brings is not installed.",
  "read-only": "The session was opened for reading, or is finished, and cannot be written.",
  "session-archived": "The session's records lie in an archive, and the store was opened without it.",
  "session-busy": "Another process holds the session's lock, or its erasure has not ended.",
  "session-exists": "A session with this id exists already and is never overwritten.",
  "session-id-invalid": "A session id must be a UUID; paths and other names are refused.",
  "session-not-found": "No session with this id is in the store.",
  "store-corrupt":
    "A file that the store cannot do without (metadata.json, a database) is unreadable, or records that were kept are gone.",
  "store-foreign": "The file belongs to another program; Windrow does not touch it.",
  "store-unavailable": "The store's folder or server cannot be reached or written.",
  "unknown-counter": "No token counter has this name.",
  "unknown-model": "The model is not in the table; describe it with contextWindow and maxOutput.",
  "unknown-profile": "No provider profile has this name.",
  "unknown-store": "No store handles this URL scheme.",
  "unknown-strategy": "No strategy or preset has this name.",
} as const;

/** One of the closed set of error codes in {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

const marker = Symbol.for("windrow.error");

/**
 * The one error class of Windrow. `message` says what happened and what to do; `code` is for programs; `data` holds the
 * values the message speaks of (sizes in tokens or bytes, ids, the nearest right name).
 */
export class WindrowError extends Error {
  readonly code: ErrorCode;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, data: Readonly<Record<string, unknown>> = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = "WindrowError";
    this.code = code;
    this.data = data;
    Object.defineProperty(this, marker, { value: true });
  }
}

/**
 * Whether a value is a {@link WindrowError}, also when it comes from a second copy of the package in the same tree.
 *
 * @param code - when given, the error must carry this code too
 */
export function isWindrowError(value: unknown, code?: ErrorCode): value is WindrowError {
  return (
    value instanceof Error &&
    marker in value &&
    (code === undefined || (value as unknown as WindrowError).code === code)
  );
}
