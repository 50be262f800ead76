/**
 * Records that an adapter keeps in a session's log about its host: what of the log is still the host's own history. No
 * window is made of them.
 */
import { WindrowError } from "../errors.ts";
import type { JsonObject } from "../message/message.ts";
import type { EditRecord, NewRecord } from "../message/record.ts";
import type { Scope, Store } from "../store/store.ts";

/** The records of one type, in one session. */
export interface HostRecords {
  /** @throws WindrowError `not-durable`, `fenced`, `store-unavailable` */
  append(type: string, data: JsonObject): Promise<void>;
  /** Oldest first. */
  read(type: string): AsyncIterable<EditRecord>;
}

interface Writing {
  readonly id: string;
  readonly store: Store;
  readonly scope: Scope;
  readonly timestamp: () => string;
  readonly write: (records: readonly NewRecord[]) => Promise<unknown>;
}

const open = new WeakMap<object, HostRecords>();

/**
 * Lets adapters keep records of their own in a session; `hostRecords` finds them again.
 *
 * @internal
 */
export function keepHostRecords(session: object, { id, store, scope, timestamp, write }: Writing): void {
  open.set(session, {
    async append(type, data) {
      await write([{ kind: "edit", type, data, timestamp: timestamp() }]);
    },
    async *read(type) {
      for await (const record of store.read(scope, id, { kind: "edit" })) if (record.type === type) yield record;
    },
  });
}

/**
 * The records of a session.
 *
 * @throws WindrowError `bad-option` for what no SessionManager opened
 */
export function hostRecords(session: object): HostRecords {
  const records = open.get(session);
  if (records) return records;
  throw new WindrowError("bad-option", "This is no session that a SessionManager opened.");
}
