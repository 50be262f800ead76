/** The options of a Postgres store, and the check of them. */
import type { Mask } from "../../mask/mask.ts";
import type { Clock } from "../shared/clock.ts";
import { badOption, checkOwnOptions } from "../shared/own-options.ts";
import { isPostgresClient } from "./client.ts";
import type { PostgresClient, PostgresTag } from "./client.ts";

/** How a Postgres store works. */
export interface PostgresStoreOptions {
  /**
   * A `Pool` (or `Client`) of the package `pg`, the function of the package `postgres`, or a `PGlite`. It stays the
   * caller's: closing the store does not end it.
   */
  readonly client: PostgresClient | PostgresTag;
  /** The schema of the tables; made where it is not there. Default `windrow`. */
  readonly schema?: string;
  /** Default: secrets of a known form are masked. */
  readonly mask?: Mask;
  /**
   * An acknowledged append survives what a commit of the server survives, `strict` and `group` alike: the server's
   * `synchronous_commit` says it.
   */
  readonly durability?: "strict" | "group";
  /** Default: the server's clock for who lives, the system's for times of records. */
  readonly clock?: Clock;
  /** Whether tables that are not there are made. Default true. */
  readonly create?: boolean;
}

const optionNames: readonly string[] = ["client", "schema", "mask", "durability", "clock", "create"];

/**
 * Refuses an option that is misspelled or has a wrong value.
 *
 * @throws WindrowError `bad-option`
 */
export function checkPostgresOptions(options: PostgresStoreOptions): void {
  checkOwnOptions("Postgres", options, optionNames);
  const { client, schema } = options;
  const isClient = (typeof client === "object" || typeof client === "function") && client !== null;
  if (!isClient || !isPostgresClient(client)) {
    throw badOption("`client` is a Pool of pg, the function of postgres, or a PGlite.", "client");
  }
  if (schema !== undefined && (typeof schema !== "string" || schema === "" || Buffer.byteLength(schema) > 63)) {
    throw badOption("`schema` is a name of 1 to 63 bytes.", "schema");
  }
}
