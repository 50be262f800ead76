/** What all commands share: where they write, how they report errors, and their exit status. */
import type { ErrorCode } from "../errors.ts";
import { isWindrowError } from "../errors.ts";

/** A stream a command writes to. */
export interface CliStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Where a command reads and writes; `process` is one. */
export interface CliIo {
  readonly stdout: CliStream;
  readonly stderr: CliStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** `done`: it was done; `failed`: the thing asked about failed; `wrongUse`: the command line is wrong. */
export const exitStatus = { done: 0, failed: 1, wrongUse: 2 } as const;

/** One of the values of {@link exitStatus}. */
export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];

const wrongUseCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "bad-option",
  "unknown-counter",
  "unknown-model",
  "unknown-profile",
  "unknown-store",
  "unknown-strategy",
]);

/** The exit status for an error that ended a command. */
export function statusOf(error: unknown): ExitStatus {
  return isWindrowError(error) && wrongUseCodes.has(error.code) ? exitStatus.wrongUse : exitStatus.failed;
}

/**
 * Writes an error for people: its code, what happened and what to do; of an unforeseen one the stack.
 *
 * @param about - what it concerns, where the message does not say so itself
 */
export function reportError(io: CliIo, error: unknown, about = ""): void {
  const prefix = isWindrowError(error) && about !== "" && !error.message.includes(about) ? `${about}: ` : "";
  if (isWindrowError(error)) io.stderr.write(`windrow: ${error.code}: ${prefix}${error.message}\n`);
  else io.stderr.write(`windrow: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
}

/** Whether to colour what goes to a stream (no-color.org; FORCE_COLOR wins over a pipe). */
export function wantsColour(stream: CliStream, env: CliIo["env"]): boolean {
  if (env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "") return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}
