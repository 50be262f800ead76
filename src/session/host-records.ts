/** The contract of an adapter's own records in a session's log: which part of the log is still the host's history. */
import type { JsonObject } from "../message/message.ts";
import type { EditRecord } from "../message/record.ts";

/** Records of types that an adapter names. No window is made of them. */
export interface HostRecords {
  /**
   * Adds a record at the end of the log.
   *
   * @throws WindrowError `closed`, `not-durable`, `fenced`, `store-unavailable`
   */
  append(type: string, data: JsonObject): Promise<void>;
  /** The records of one type, oldest first. */
  read(type: string): AsyncIterable<EditRecord>;
}
