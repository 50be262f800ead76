/** Errors that the page shows: a code, a message, and whether the request was only overtaken. */

/** An answer that is an error. */
export class SourceFault extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "SourceFault";
    this.code = code;
  }
}

/** Whether an error only says that a later request took the place of an earlier one. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** The words of an error for a reader. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
