/** The client of a Postgres server, which the user brings: a pool of `pg`, `postgres`, or PGlite. */
import { createHash } from "node:crypto";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { Farewell } from "../shared/farewell.ts";
import { serverErrors } from "../shared/remote.ts";

/** A row of an answer. */
export type PostgresRow = Readonly<Record<string, unknown>>;

/**
 * A client that takes a text and its values, as `Pool` and `Client` of `pg` and `PGlite` do. One that has `connect`, as those
 * of `pg`, also takes an object with `name`, `text` and `values`, and prepares that statement under its name.
 */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly object[] }>;
  /** Ends it. A `Pool` and a `Client` of `pg` have it. */
  end?(): Promise<unknown>;
}

/** A client of the package `postgres`: a function with `unsafe`. */
export interface PostgresTag {
  unsafe(text: string, values?: never[], options?: { readonly prepare: boolean }): PromiseLike<readonly object[]>;
  end(): Promise<unknown>;
}

/** Asks a server; one statement a call, so that any pool and any pooler will do. */
export interface Asker {
  /**
   * @throws WindrowError `store-unavailable` where the server cannot be reached, or ended the connection: what it did with
   *   the statement is not known; `not-durable` where it refused to write
   */
  ask(text: string, values?: readonly unknown[]): Promise<readonly PostgresRow[]>;
  /**
   * As `ask`, for a statement that is sent again and again: the server parses it once a connection, where client and pooler
   * can do that.
   *
   * @throws WindrowError as `ask`
   */
  askOften(text: string, values: readonly unknown[]): Promise<readonly PostgresRow[]>;
  /** The patience with a server that is silent while its store is closed. */
  readonly farewell: Farewell;
  /** Ends the client where it is the store's own; one whose server is silent is not waited for. */
  end(): Promise<void>;
}

/** Whether something is a client of a Postgres server. */
export function isPostgresClient(target: object): target is PostgresClient | PostgresTag {
  return ("query" in target && typeof target.query === "function") || isTag(target);
}

function isTag(target: object): target is PostgresTag {
  return "unsafe" in target && typeof target.unsafe === "function";
}

/** How a client is used. */
export interface AskerOptions {
  /** The server in messages, without user and password. */
  readonly location: string;
  /** Whether `end` ends the client. */
  readonly owned: boolean;
  /** Cuts the connections of a client that is owned, where a silent server was given up. */
  readonly cut?: () => void;
}

type Send = (text: string, values: readonly unknown[]) => PromiseLike<readonly object[]>;

/** Asks through a client. */
export function askerOf(client: PostgresClient | PostgresTag, { location, owned, cut }: AskerOptions): Asker {
  const { send, sendPrepared } = isTag(client) ? sendersOfTag(client) : sendersOf(client);
  const farewell = new Farewell(isAnswer, (error) => failureOf(error, location));
  let prepares = sendPrepared !== undefined;
  const ask = async (by: Send, text: string, values: readonly unknown[]): Promise<readonly PostgresRow[]> =>
    (await farewell.heard(() => by(text, values))) as readonly PostgresRow[];
  return {
    ask: async (text, values = []) => ask(send, text, values),
    async askOften(text, values) {
      if (!sendPrepared || !prepares) return ask(send, text, values);
      try {
        return await ask(sendPrepared, text, values);
      } catch (error) {
        if (!isWindrowError(error) || !lostNames.has(String(error.data["sqlState"]))) throw error;
        prepares = false;
        return ask(send, text, values);
      }
    },
    farewell,
    async end() {
      try {
        if (owned) await farewell.heard(async () => client.end?.());
      } catch (error) {
        if (!farewell.givenUp.aborted) throw error;
        cut?.();
      } finally {
        farewell.end();
      }
    },
  };
}

/** A name that a connection does not know, or knows already: a pooler gave the statement to another one. Nothing was done. */
const lostNames: ReadonlySet<string> = new Set(["26000", "42P05"]);

interface Senders {
  readonly send: Send;
  /** Undefined for a client that prepares nothing. */
  readonly sendPrepared: Send | undefined;
}

function sendersOfTag(client: PostgresTag): Senders {
  return {
    send: (text, values) => client.unsafe(text, [...values] as never[]),
    sendPrepared: (text, values) => client.unsafe(text, [...values] as never[], { prepare: true }),
  };
}

/** The way in which clients of `pg` take a statement with a name. */
interface NamingClient {
  query(statement: { readonly name: string; readonly text: string; readonly values: unknown[] }): Promise<{
    readonly rows: readonly object[];
  }>;
}

function sendersOf(client: PostgresClient): Senders {
  const naming = "connect" in client ? (client as unknown as NamingClient) : undefined;
  const names = new Map<string, string>();
  const nameOf = (text: string): string => {
    const name = names.get(text) ?? `windrow_${createHash("sha1").update(text).digest("hex").slice(0, 16)}`;
    names.set(text, name);
    return name;
  };
  return {
    send: async (text, values) => (await client.query(text, [...values])).rows,
    sendPrepared:
      naming && (async (text, values) => (await naming.query({ name: nameOf(text), text, values: [...values] })).rows),
  };
}

/** Classes of SQLSTATE that say the server refused a statement for want of room or because it may not write now. */
const refusals = /^(?:53|25006|57014)/;

/** Statements that stood in each other's way; each can be sent again. */
const conflicts: ReadonlySet<string> = new Set(["40001", "40P01"]);

/** Classes that say the connection, the server or the pool is gone; poolers say so with 58, too. */
const goneClasses = /^(?:08|57P|58)/;

/** An SQLSTATE of Postgres has a digit; errors of the system, as EPIPE and EBUSY, may have five letters. */
const sqlState = /^(?=.*\d)[0-9A-Z]{5}$/;

/** An error inside the server says where in its source it came up; a pooler that lost its server says the same code without. */
function isOfPooler(error: unknown, code: string): boolean {
  return code === "XX000" && !(error instanceof Error && "routine" in error && typeof error.routine === "string");
}

/** Whether an error is what the server says, and not that it is gone. */
function isAnswer(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && sqlState.test(code) && !goneClasses.test(code) && !isOfPooler(error, code);
}

function failureOf(error: unknown, location: string): WindrowError {
  const code = codeOf(error);
  const reason = error instanceof Error && error.message !== "" ? error.message : (code ?? String(error));
  const about = { location, reason, ...(code !== undefined && { sqlState: code }) };
  const { away, full, refused } = serverErrors("Postgres", about, error);
  // A client that cannot log in says so in words of its own.
  if ((code === undefined && reason.startsWith("SASL")) || (code !== undefined && /^(?:28|3D)/.test(code))) {
    return refused(`refused the connection: ${reason}. Check user, password and database.`, { connection: true });
  }
  if (code === undefined || !isAnswer(error) || conflicts.has(code))
    return away(isUnsent(error) ? { unsent: true } : {});
  if (refusals.test(code)) return full();
  if (code === "22021") {
    const message = `Postgres keeps no NUL character in a name: ${reason}. Take it out of the user or tenant.`;
    return new WindrowError("bad-option", message, about, { cause: error });
  }
  if (code === "42501") {
    const advice =
      "Grant the role its rights on the schema; under row-level security a role reaches its own tenant alone.";
    return refused(`refused: ${reason}. ${advice}`);
  }
  return refused(`answered with an error: ${reason}.`);
}

/** Whether there was no connection that a statement could go out on. */
function isUnsent(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isUnsent);
  return (
    error instanceof Error && "syscall" in error && (error.syscall === "connect" || error.syscall === "getaddrinfo")
  );
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
