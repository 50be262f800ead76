/** The kit of all commands: open stores, reports, errors and exit statuses. */
import type { Command } from "commander";
import { withoutSecrets } from "../address.ts";
import type { ErrorCode } from "../errors.ts";
import { isWindrowError } from "../errors.ts";
import type { OpenStoreOptions } from "../access/options.ts";
import type { Scope, Store } from "../store/store.ts";
import type { LoggedEvent } from "../ops/logs/logs.ts";
import type { UnreadableSession } from "../ops/look/unreadable.ts";
import { knownSecrets, textMask } from "../mask/text.ts";
import { Progress } from "./text/progress.ts";
import type { CliStream, CliIo } from "./io.ts";

/** `done`: it was done; `failed`: the thing asked about failed; `wrongUse`: the command line is wrong. */
export const exitStatus = { done: 0, failed: 1, wrongUse: 2 } as const;

/** One of the values of {@link exitStatus}. */
export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];

/** The streams of a command, and the function by which it opens stores. */
export interface CommandIo extends CliIo {
  /** How the configuration and the command line have stores opened: on whose behalf, with which mask. */
  readonly storeOptions: OpenStoreOptions;
  /** Opens a store so. Commands open their stores here alone, so that none shows the sessions of somebody else. */
  openStore(target: string, options?: Pick<OpenStoreOptions, "create">): Promise<Store>;
  /** Logs an event on stderr, where `--debug` asks for it. */
  readonly log: (event: LoggedEvent) => void;
}

/** The context of a command's action. */
export interface CommandContext {
  readonly io: CommandIo;
  /** Takes the exit status that the action ended with. */
  readonly finish: (status: ExitStatus) => void;
  /** Ends the command early. */
  readonly signal: AbortSignal | undefined;
}

/** Gives a command, which has its name and its summary, its options and its action. */
export type AddCommand = (command: Command, context: CommandContext) => void;

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
 * Writes an error for people: its code, what happened and what to do; of an unforeseen one the stack. With `--debug` the
 * stack of each, and of what caused it.
 *
 * @param about - what it concerns, where the message does not say so itself
 */
export function reportError(io: CliIo, error: unknown, about = ""): void {
  const prefix = isWindrowError(error) && about !== "" && !error.message.includes(about) ? `${about}: ` : "";
  const known = isWindrowError(error) ? `${error.code}: ${prefix}${error.message}` : stackOf(error);
  const said = io.debug === true ? maskedText([known, ...framesOf(error), ...causesOf(error)].join("\n")) : known;
  io.stderr.write(`windrow: ${indented(withoutSecrets(said))}\n`);
}

const maskedText = textMask(knownSecrets);
/** Most causes of one error that are told; an error may be its own cause. */
const mostCauses = 8;

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The places of a foreseen error's stack; an unforeseen error is told with them already. */
function framesOf(error: unknown): readonly string[] {
  return isWindrowError(error)
    ? stackOf(error)
        .split("\n")
        .filter((line) => /^ +at /.test(line))
    : [];
}

function causesOf(error: unknown): readonly string[] {
  const causes: string[] = [];
  let { cause } = error instanceof Error ? error : { cause: undefined };
  while (cause !== undefined && causes.length < mostCauses) {
    causes.push(`caused by ${stackOf(cause)}`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return causes;
}

/** A message whose further lines stand in, so that none reads as one of the program's own. */
export function indented(message: string): string {
  return message.replaceAll(/\n(?! {2})/g, "\n  ");
}

/** Whether to colour what goes to a stream (no-color.org; FORCE_COLOR wins over a pipe). */
export function wantsColour(stream: CliStream, env: CliIo["env"]): boolean {
  if (env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "") return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

/** Most sessions that are named because they lie in an archive that was not named: there may be thousands. */
const mostArchived = 3;

/**
 * Tells of sessions that could not be read, one line each.
 *
 * @returns the exit status: failed where there is any
 */
export function reportUnreadable(io: CliIo, sessions: readonly UnreadableSession[]): ExitStatus {
  const archived = sessions.filter(({ code }) => code === "session-archived");
  const more = new Set(archived.slice(mostArchived));
  for (const session of sessions) {
    if (more.has(session)) continue;
    const { sessionId, code, message } = session;
    io.stderr.write(`windrow: ${code}: session ${sessionId}: ${message}\n`);
  }
  if (more.size > 0) {
    io.stderr.write(`windrow: session-archived: ${more.size} more sessions lie in an archive; --json names them.\n`);
  }
  return sessions.length === 0 ? exitStatus.done : exitStatus.failed;
}

/** Tells on stderr of places in a session's log that cannot be read, where it has such places. */
export async function noteDamage(io: CliIo, store: Store, scope: Scope, sessionId: string): Promise<void> {
  const { Unreadable } = await import("../ops/look/unreadable.ts");
  const unreadable = new Unreadable();
  await unreadable.damage(store, scope, sessionId);
  reportUnreadable(io, unreadable.sessions());
}

/** A store as a command line names it. */
export interface NamedStore {
  /** Folder or URL. */
  readonly store: string;
  readonly tenant?: string;
  /** Makes a store that is not there. Default false: it is refused. */
  readonly create?: boolean;
}

/** A piece of work on an open store. `progress` shows how far it came, and is taken off the screen at its end. */
export type StoreWork<T> = (store: Store, scope: Scope, progress: Progress) => Promise<T>;

/** Opens a store, does the work and closes the store, whatever happens. */
export async function onStore<T>(
  io: CommandIo,
  { store: target, tenant, create = false }: NamedStore,
  work: StoreWork<T>,
): Promise<T> {
  const store = await io.openStore(target, { create });
  const progress = new Progress(io);
  try {
    return await work(store, tenant === undefined ? {} : { tenant }, progress);
  } finally {
    progress.end();
    await store.close();
  }
}

/** As {@link onStore}, for work whose failure concerns a place: the error is reported with it, and decides the status. */
export async function onStoreAbout(
  io: CommandIo,
  named: NamedStore,
  about: string,
  work: StoreWork<ExitStatus>,
): Promise<ExitStatus> {
  try {
    return await onStore(io, named, work);
  } catch (error) {
    reportError(io, error, about);
    return statusOf(error);
  }
}

/** Writes what a command found: one JSON document, or its text for people, which ends with a line break. */
export function writeReport(
  io: CliIo,
  { json }: { readonly json?: boolean },
  report: unknown,
  text: () => string,
): void {
  io.stdout.write(json === true ? `${JSON.stringify(report, null, 2)}\n` : text());
}
