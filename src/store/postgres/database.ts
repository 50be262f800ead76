/** A store's database: how it is asked, where its tables are, and by whose clock it goes. */
import type { Asker } from "./client.ts";

/** The database of a store. */
export interface Database {
  readonly asker: Asker;
  /** The schema's name as an identifier of SQL. */
  readonly schema: string;
  /** The server and its database in messages, without user and password. */
  readonly location: string;
  /** The condition of a statement that the tables have the version this code works with. */
  readonly atVersion: string;
  /** The time as a value of a statement: that of the store's clock; null for the server's. */
  readonly now: () => string | null;
}
